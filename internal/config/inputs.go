package config

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/caarlos0/env/v11"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Inputs are the action's inputs as the runner passes them: INPUT_ and the name in capitals. An empty input is one that
// was not given. The tags are rows of InputTable; inputs that mirror a setting have no field of their own.
type Inputs struct {
	Access
	Triggers
	Asked

	// Set is what the inputs that mirror settings say, in the form of a settings file. What was not given is not in it. In
	// InputTable, they come at this place.
	Set map[string]any

	ModelKeys
	Branches
	InstallSandbox bool   `input:"install_sandbox" default:"true" says:"Install bubblewrap on the runner, by apt-get and sysctl, where the sandbox needs it and it does not work."`
	DryRun         bool   `input:"dry_run" default:"false" says:"Do everything but write to GitHub; reports go to the job summary."`
	MaxTasks       int    `input:"max_tasks" max:"100" default:"1" says:"How many tasks one scheduled sweep works on."`             // a sweep's
	List           bool   `input:"list" default:"false" says:"On a schedule, only list the work of a sweep, as the output matrix."` // a sweep only lists its work
	Settings       string `input:"settings" says:"Settings as JSON, which override .ralph/settings.json of the base commit."`       // a JSON object, a layer of its own
}

// Access is what ralph reads and writes GitHub with.
type Access struct {
	GitHubToken   string `input:"github_token" secret:"true" default:"${{ github.token }}" says:"Token ralph reads and writes GitHub with. The agent and the checks never see it."`
	AppID         int64  `input:"app_id" max:"9007199254740992" says:"Id of a GitHub App to act as instead of github_token; needs app_private_key."`
	AppPrivateKey string `input:"app_private_key" secret:"true" says:"Private key of the GitHub App, as PEM."`
}

// Triggers are what starts a run, and by whom.
type Triggers struct {
	TriggerLabel  string   `input:"trigger_label" default:"ralph" says:"Label on an issue that starts a run."`
	TriggerPhrase string   `input:"trigger_phrase" default:"/ralph" says:"First word of a comment that is a command."`
	AllowedBots   []string `input:"allowed_bots" says:"Exact logins of bots that can start a run, separated by commas or whitespace."`
	CommentsBy    []string `input:"include_comments_by" default:"writers" says:"Whose comments the agent reads: writers (people with write access), logins next to or instead of it, or none; separated by commas or whitespace."`
}

// Asked is the request of a dispatched workflow.
type Asked struct {
	Prompt     string `input:"prompt" says:"What to do, for workflow_dispatch. Not together with prompt_file or issue."`
	PromptFile string `input:"prompt_file" says:"File in the repository that says what to do. Not together with prompt or issue."`
	Issue      int    `input:"issue" max:"2147483647" says:"Number of the issue to work on, for workflow_dispatch; on a schedule, only this one."`                                              // 0: none given
	Plan       string `input:"plan" says:"Plan in the repository to run, such as ralph/tasks.json, for workflow_dispatch; on a schedule, only this one."`                                       // path of a plan from the top of the repository
	Request    string `input:"request" says:"Comment, review or label that ralph serve dispatches the workflow for, such as comment:123. It is read from GitHub and authorized again."`         // see event.ParseOrigin
	Server     string `input:"server" says:"URL of the ralph serve that this job works for, in the workflow of its runner repository. Needs request, which the server passes to the workflow."` // the server of the job that Request names; empty: no server
}

// ModelKeys are the credentials of agents.
type ModelKeys struct {
	AnthropicAPIKey      string `input:"anthropic_api_key" secret:"true" says:"API key for claude."`
	ClaudeCodeOAuthToken string `input:"claude_code_oauth_token" secret:"true" says:"Subscription token for claude, instead of an API key."`
	OpenAIAPIKey         string `input:"openai_api_key" secret:"true" says:"API key for codex."`
	GeminiAPIKey         string `input:"gemini_api_key" secret:"true" says:"API key for gemini."`
}

// Branches are where a run starts and what its commits are made on.
type Branches struct {
	BaseBranch         string `input:"base_branch" says:"Branch to start from and to open the pull request against. Default: the default branch."` // empty: the default branch
	BranchPrefix       string `input:"branch_prefix" default:"ralph/" says:"Prefix of the name of a run's branch."`
	BranchNameTemplate string `input:"branch_name_template" says:"Name of a run's branch after the prefix, with {{.Task}}, {{.Issue}} and {{.Slug}}. Default: the task, such as issue-42."`
	SigningKey         string `input:"signing_key" secret:"true" says:"SSH private key, without a passphrase, that signs the commits."` // an SSH private key; empty: commits are not signed
}

// ReadInputs reads the inputs from an environment. Its error is an *Error with every problem; no secret is quoted in
// it.
func ReadInputs(environ map[string]string) (Inputs, error) {
	given, problems := inputValues(environ)
	if err := asError(problems); err != nil {
		return Inputs{}, err
	}
	in, err := env.ParseAsWithOptions[Inputs](env.Options{Environment: given, TagName: "input"})
	if err != nil {
		return Inputs{}, fmt.Errorf("reading inputs: %w", err)
	}
	in.AllowedBots = fields(given["allowed_bots"])
	in.CommentsBy = fields(given["include_comments_by"])
	in.Set = map[string]any{}
	for _, row := range InputTable() {
		text, ok := given[row.Name]
		if !ok || row.keys == nil {
			continue
		}
		value, problem := row.value(text)
		if problem != "" {
			problems = append(problems, problem)
		} else if value != nil {
			put(in.Set, row.keys, value)
		}
	}
	return in, asError(append(problems, in.contradictions()...))
}

// inputValues trims what was given, puts defaults in for what was not, and holds each value against its row of the
// table.
func inputValues(environ map[string]string) (map[string]string, []string) {
	values := map[string]string{}
	var problems []string
	for _, row := range InputTable() {
		value := strings.TrimSpace(environ[row.Env()])
		if value == "" && !strings.Contains(row.Default, "${{") { // an expression is for the runner
			value = row.Default
		}
		if value == "" {
			continue
		}
		value, problem := row.check(value)
		if problem != "" {
			problems = append(problems, problem)
		}
		values[row.Name] = value
	}
	return values, problems
}

// contradictions are inputs that are right each on its own but not together.
func (in Inputs) contradictions() (problems []string) {
	prompt := in.Prompt != "" || in.PromptFile != ""
	for _, rule := range []struct {
		broken bool
		says   string
	}{
		{in.Prompt != "" && in.PromptFile != "", "inputs prompt and prompt_file are both given; only one of them is allowed."},
		{in.Issue != 0 && prompt, "inputs issue and prompt (or prompt_file) are both given; only one of them is allowed."},
		{in.Plan != "" && (in.Issue != 0 || prompt), "inputs plan and issue, prompt or prompt_file are both given; only one of them is allowed."},
		{in.Request != "" && (in.Issue != 0 || prompt || in.Plan != ""),
			"inputs request and issue, plan, prompt or prompt_file are both given; only one of them is allowed."},
		{in.Server != "" && in.Request == "", "input server needs the input request; pass it as ${{ inputs.request }}."},
		{in.Plan != "" && !isInside(in.Plan), fmt.Sprintf("input plan is %s; must be the path of a file in the repository, such "+
			"as \"ralph/tasks.json\".", show(in.Plan))},
		{(in.AppID != 0) != (in.AppPrivateKey != ""),
			"inputs app_id and app_private_key belong together, but only one of them is given; give both or neither."},
		{in.SigningKey != "" && !isPrivateKey(in.SigningKey), "input signing_key is no private key; must be a whole file as " +
			"ssh-keygen -t ed25519 -N '' makes it, with its lines as they are."},
		{strings.ContainsAny(in.TriggerPhrase, " \t\n"),
			fmt.Sprintf("input trigger_phrase is %s; must be one word, such as \"/ralph\".", show(in.TriggerPhrase))},
		{slices.Contains(in.CommentsBy, "none") && len(in.CommentsBy) > 1,
			"input include_comments_by names none and others; must be only none, or writers and logins."},
		{slices.Contains(in.AllowedBots, "*"), "input allowed_bots is \"*\"; must be exact logins, such as \"renovate[bot]\"."},
	} {
		if rule.broken {
			problems = append(problems, rule.says)
		}
	}
	return problems
}

// isPrivateKey reports whether a text has the form of one. git's door finds out its content.
func isPrivateKey(text string) bool {
	block, _ := pem.Decode([]byte(text))
	return block != nil && strings.HasSuffix(block.Type, "PRIVATE KEY")
}

// Layer is the part of the inputs that is settings.
func (in Inputs) Layer() Layer {
	text, err := json.Marshal(in.Set)
	if err != nil { // there are only texts, numbers and booleans in it
		panic(err)
	}
	return Layer{Name: "inputs", JSON: text}
}

// Layers are all settings the inputs hold: the input settings, and over it the inputs of their own name.
func (in Inputs) Layers() []Layer {
	if in.Settings == "" {
		return []Layer{in.Layer()}
	}
	return []Layer{{Name: "input settings", JSON: []byte(in.Settings)}, in.Layer()}
}

// Secrets are the inputs that must never be printed.
func (in Inputs) Secrets() (secrets []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Inputs]()) {
		if value := reflect.ValueOf(in).FieldByIndex(f.Index).String(); f.Tag.Get("secret") != "" && value != "" {
			secrets = append(secrets, value)
		}
	}
	return secrets
}

// Input is an input of the action.
type Input struct {
	Name        string
	Default     string
	Description string
	Key         string // of the setting that the input sets: "agent.flags"; empty for one that is no setting

	secret bool
	keys   []string // Key in its parts; nil for an input that is no setting
	row    *Setting // what its value must be
}

// InputTable is every input of the action: its own, and those that the table of settings asks for. Both action files
// are made from it.
var InputTable = sync.OnceValue(func() (inputs []Input) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Inputs]()) {
		name := f.Tag.Get("input")
		if f.Anonymous { // its fields come next
			continue
		}
		if name == "" { // the field of those that mirror settings
			inputs = append(inputs, settingInputs(nil, Table())...)
			continue
		}
		must := &Setting{Min: 1}
		must.shape(f.Type, "", nil)
		must.Max, _ = strconv.ParseFloat(f.Tag.Get("max"), 64)
		inputs = append(inputs, Input{Name: name, Default: f.Tag.Get("default"), Description: f.Tag.Get("says"),
			secret: f.Tag.Get("secret") != "", row: must})
	}
	return inputs
})

// settingInputs are the inputs that mirror settings.
func settingInputs(above []string, rows []Setting) (inputs []Input) {
	for _, row := range rows {
		keys := append(slices.Clone(above), row.Key)
		if row.Input != "" {
			inputs = append(inputs, Input{
				Name: row.Input, Description: row.inputDescription(), Key: strings.Join(keys, "."), keys: keys, row: &row,
			})
		}
		inputs = append(inputs, settingInputs(keys, row.Keys)...)
	}
	return inputs
}

func (s *Setting) inputDescription() string {
	switch {
	case s.InputSays != "":
		return s.InputSays
	case s.Default == nil:
		return plainText(s.Summary)
	}
	return fmt.Sprintf("%s Default: %v.", plainText(s.Summary), s.Default)
}

// Env is the variable the runner passes the input in.
func (i Input) Env() string { return "INPUT_" + strings.ToUpper(i.Name) }

// check returns the value in the form env reads, or what is wrong with it.
func (i Input) check(text string) (checked, problem string) {
	given, value := text, any(text)
	switch i.row.Kind {
	case Integer, Number:
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			value, text = n, string(number(n))
		}
	case Boolean: // as YAML writes them
		if text = strings.ToLower(text); text == "true" || text == "false" {
			value = text == "true"
		}
	default:
		return text, ""
	}
	if !i.row.fits(value) {
		return "", fmt.Sprintf("input %s is %s; must be %s.", i.Name, show(given), i.row.allowed())
	}
	return text, ""
}

// value is what a settings file would say instead of a text that check has passed; nil: nothing.
func (i Input) value(text string) (value any, problem string) {
	switch i.row.Kind {
	case Integer, Number:
		return json.Number(text), ""
	case Boolean:
		return text == "true", ""
	case Path:
		if path.Clean(text) == "." {
			return nil, ""
		}
	case List:
		return i.list(text)
	}
	return text, ""
}

// list splits a text in the syntax of the setting.
func (i Input) list(text string) (value any, problem string) {
	switch i.row.Syntax {
	case byShell:
		args, err := words(text)
		if err != nil {
			return nil, fmt.Sprintf("input %s: %v; must be arguments as in a shell.", i.Name, err)
		}
		return anyOf(args), ""
	case byLines:
		var lines []any
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				lines = append(lines, map[string]any{"command": line})
			}
		}
		if lines == nil {
			return nil, ""
		}
		return lines, ""
	}
	entries := fields(text)
	switch {
	case len(entries) == 0:
		return nil, ""
	case slices.Equal(entries, []string{"none"}):
		return []any{}, ""
	}
	for _, entry := range entries {
		if allowed := i.row.Entry.Choices; allowed != nil && !slices.Contains(allowed, entry) {
			return nil, fmt.Sprintf("input %s names %s; must be %s, separated by commas or whitespace, or only none.",
				i.Name, show(entry), safetext.Listed(allowed))
		}
	}
	return anyOf(entries), ""
}

// put sets a key of an object in an object.
func put(object map[string]any, keys []string, value any) {
	for _, key := range keys[:len(keys)-1] {
		below, ok := object[key].(map[string]any)
		if !ok {
			below = map[string]any{}
			object[key] = below
		}
		object = below
	}
	object[keys[len(keys)-1]] = value
}

// fields splits at commas and white space.
func fields(s string) []string {
	if s == "" {
		return nil
	}
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

// shellPart is a part of a word as a shell has it: escaped, quoted or as it is.
const shellPart = `\\.|'[^']*'|"(?:[^"\\]|\\.)*"|[^\s'"\\]`

var (
	shellParts = lazy(`(?s)` + shellPart)
	shellWords = lazy(`(?s)(?:` + shellPart + `)+`)
	escaped    = lazy(`(?s)\\(.)`)
)

// words splits as a shell does: at white space, but not within quotes or after a backslash. Nothing is expanded.
func words(s string) (found []string, err error) {
	if strings.TrimSpace(shellWords.ReplaceAllString(s, "")) != "" {
		return nil, errors.New("a quote is not closed, or nothing follows the last backslash")
	}
	for _, word := range shellWords.FindAllString(s, -1) {
		found = append(found, shellParts.ReplaceAllStringFunc(word, func(part string) string {
			switch part[0] {
			case '\'':
				return part[1 : len(part)-1]
			case '"':
				part = part[1 : len(part)-1]
			}
			return escaped.ReplaceAllString(part, "$1")
		}))
	}
	return found, nil
}

// Output is a row of OutputTable.
type Output struct {
	Name        string
	Description string
}

// OutputTable is every output of the action. Outputs carry only enums, numbers, names and addresses, never an agent's
// text.
var OutputTable = []Output{
	{"conclusion", "success, failure, neutral or cancelled."},
	{"outcome", "done, capped, stuck, timeout, budget, failed, invalid, waiting, refused, interrupted, or empty when " +
		"the event was not for ralph."},
	{"pr_url", "URL of the pull request."},
	{"pr_number", "Number of the pull request."},
	{"branch_name", "Branch with the work."},
	{"failure_branch", "Branch that keeps the work of a run stopped by a limit."},
	{"iterations", "Number of iterations."},
	{"total_cost_usd", "Cost that the agent reports, in US dollars."},
	{"input_tokens", "Tokens sent to the model, without those of the cache."},
	{"output_tokens", "Tokens the model answered."},
	{"cache_read_tokens", "Tokens read from the model's cache."},
	{"cache_write_tokens", "Tokens written to the model's cache."},
	{"report_file", "File with the report, as a web page."},
	{"matrix", "Work of a sweep, with the input list; in the form that strategy.matrix takes."},
}
