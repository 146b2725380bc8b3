package config

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/caarlos0/env/v11"
)

// Inputs are the action's inputs as the runner passes them: INPUT_ and the name in capitals. An empty input is one that
// was not given. The tags are rows of InputTable; inputs that mirror a setting have no field of their own.
type Inputs struct {
	GitHubToken   string   `input:"github_token" secret:"true" default:"${{ github.token }}" says:"Token ralph reads and writes GitHub with. The agent and the checks never see it."`
	AppID         int64    `input:"app_id" max:"9007199254740992" says:"Id of a GitHub App to act as instead of github_token; needs app_private_key."`
	AppPrivateKey string   `input:"app_private_key" secret:"true" says:"Private key of the GitHub App, as PEM."`
	TriggerLabel  string   `input:"trigger_label" default:"ralph" says:"Label on an issue that starts a run."`
	TriggerPhrase string   `input:"trigger_phrase" default:"/ralph" says:"First word of a comment that is a command."`
	AllowedBots   []string `input:"allowed_bots" says:"Exact logins of bots that can start a run, separated by commas or whitespace."`
	CommentsBy    []string `input:"include_comments_by" default:"writers" says:"Whose comments the agent reads: writers (people with write access), logins next to or instead of it, or none; separated by commas or whitespace."`
	Prompt        string   `input:"prompt" says:"What to do, for workflow_dispatch. Not together with prompt_file or issue."`
	PromptFile    string   `input:"prompt_file" says:"File in the repository that says what to do. Not together with prompt or issue."`
	Issue         int      `input:"issue" max:"2147483647" says:"Number of the issue to work on, for workflow_dispatch; on a schedule, only this one."`                                              // 0: none given
	Plan          string   `input:"plan" says:"Plan in the repository to run, such as ralph/tasks.json, for workflow_dispatch; on a schedule, only this one."`                                       // path of a plan from the top of the repository
	Request       string   `input:"request" says:"Comment, review or label that ralph serve dispatches the workflow for, such as comment:123. It is read from GitHub and authorized again."`         // see event.ParseOrigin
	Server        string   `input:"server" says:"URL of the ralph serve that this job works for, in the workflow of its runner repository. Needs request, which the server passes to the workflow."` // a server whose job is to be done, which Request names then; empty: none

	// Set is what the inputs that mirror settings say, in the form of a settings file. What was not given is not in it. In
	// InputTable, they come at this place.
	Set map[string]any

	AnthropicAPIKey      string `input:"anthropic_api_key" secret:"true" says:"API key for claude."`
	ClaudeCodeOAuthToken string `input:"claude_code_oauth_token" secret:"true" says:"Subscription token for claude, instead of an API key."`
	OpenAIAPIKey         string `input:"openai_api_key" secret:"true" says:"API key for codex."`
	GeminiAPIKey         string `input:"gemini_api_key" secret:"true" says:"API key for gemini."`
	BaseBranch           string `input:"base_branch" says:"Branch to start from and to open the pull request against. Default: the default branch."` // empty: the default branch
	BranchPrefix         string `input:"branch_prefix" default:"ralph/" says:"Prefix of the name of a run's branch."`
	BranchNameTemplate   string `input:"branch_name_template" says:"Name of a run's branch after the prefix, with {{.Task}}, {{.Issue}} and {{.Slug}}. Default: the task, such as issue-42."`
	SigningKey           string `input:"signing_key" secret:"true" says:"SSH private key, without a passphrase, that signs the commits."` // an SSH private key; empty: commits are not signed
	InstallSandbox       bool   `input:"install_sandbox" default:"true" says:"Install bubblewrap on the runner, by apt-get and sysctl, where the sandbox needs it and it does not work."`
	DryRun               bool   `input:"dry_run" default:"false" says:"Do everything but write to GitHub; reports go to the job summary."`
	MaxTasks             int    `input:"max_tasks" max:"100" default:"1" says:"How many tasks one scheduled sweep works on."`             // a sweep's
	List                 bool   `input:"list" default:"false" says:"On a schedule, only list the work of a sweep, as the output matrix."` // a sweep only lists its work
	Settings             string `input:"settings" says:"Settings as JSON, which override .ralph/settings.json of the base commit."`       // a JSON object, a layer of its own
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
		if !ok || row.setting == nil {
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
func (in Inputs) contradictions() []string {
	var problems []string
	if in.Prompt != "" && in.PromptFile != "" {
		problems = append(problems, "inputs prompt and prompt_file are both given; only one of them is allowed.")
	}
	if in.Issue != 0 && (in.Prompt != "" || in.PromptFile != "") {
		problems = append(problems, "inputs issue and prompt (or prompt_file) are both given; only one of them is allowed.")
	}
	if in.Plan != "" && (in.Issue != 0 || in.Prompt != "" || in.PromptFile != "") {
		problems = append(problems, "inputs plan and issue, prompt or prompt_file are both given; only one of them is "+
			"allowed.")
	}
	if in.Request != "" && (in.Issue != 0 || in.Prompt+in.PromptFile+in.Plan != "") {
		problems = append(problems, "inputs request and issue, plan, prompt or prompt_file are both given; only one of "+
			"them is allowed.")
	}
	if in.Server != "" && in.Request == "" {
		problems = append(problems, "input server needs the input request; pass it as ${{ inputs.request }}.")
	}
	if in.Plan != "" && !isInside(in.Plan) {
		problems = append(problems, fmt.Sprintf("input plan is %s; must be the path of a file in the repository, such "+
			"as \"ralph/tasks.json\".", show(in.Plan)))
	}
	if (in.AppID != 0) != (in.AppPrivateKey != "") {
		problems = append(problems, "inputs app_id and app_private_key belong together, but only one of them is given; "+
			"give both or neither.")
	}
	if in.SigningKey != "" && !isPrivateKey(in.SigningKey) {
		problems = append(problems, "input signing_key is no private key; must be a whole file as ssh-keygen -t ed25519 "+
			"-N '' makes it, with its lines as they are.")
	}
	if strings.ContainsAny(in.TriggerPhrase, " \t\n") {
		problems = append(problems, fmt.Sprintf("input trigger_phrase is %s; must be one word, such as \"/ralph\".",
			show(in.TriggerPhrase)))
	}
	if slices.Contains(in.CommentsBy, "none") && len(in.CommentsBy) > 1 {
		problems = append(problems, "input include_comments_by names none and others; must be only none, or "+
			"writers and logins.")
	}
	for _, bot := range in.AllowedBots {
		if bot == "*" {
			problems = append(problems, "input allowed_bots is \"*\"; must be exact logins, such as \"renovate[bot]\".")
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
