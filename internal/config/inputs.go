package config

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"

	"github.com/caarlos0/env/v11"
)

// Inputs are the action's inputs as the runner passes them: INPUT_ and the name in capitals. An empty input is one that
// was not given. Names, descriptions and defaults are in InputTable; inputs that mirror a setting have no field of
// their own.
type Inputs struct {
	GitHubToken   string `env:"INPUT_GITHUB_TOKEN"`
	AppID         int64  `env:"INPUT_APP_ID"`
	AppPrivateKey string `env:"INPUT_APP_PRIVATE_KEY"`

	TriggerLabel  string   `env:"INPUT_TRIGGER_LABEL"`
	TriggerPhrase string   `env:"INPUT_TRIGGER_PHRASE"`
	AllowedBots   []string // exact logins
	CommentsBy    []string // whose comments the agent reads: logins, "writers", "nobody"

	Prompt     string `env:"INPUT_PROMPT"`
	PromptFile string `env:"INPUT_PROMPT_FILE"`
	Issue      int    `env:"INPUT_ISSUE"`   // 0: none given
	Plan       string `env:"INPUT_PLAN"`    // path of a plan from the top of the repository
	Request    string `env:"INPUT_REQUEST"` // what somebody asked with, as a server names it; see event.ParseOrigin
	Server     string `env:"INPUT_SERVER"`  // a server whose job is to be done, which Request names then; empty: none

	AnthropicAPIKey      string `env:"INPUT_ANTHROPIC_API_KEY"`
	ClaudeCodeOAuthToken string `env:"INPUT_CLAUDE_CODE_OAUTH_TOKEN"`
	OpenAIAPIKey         string `env:"INPUT_OPENAI_API_KEY"`
	GeminiAPIKey         string `env:"INPUT_GEMINI_API_KEY"`

	BaseBranch         string `env:"INPUT_BASE_BRANCH"` // empty: the default branch
	BranchPrefix       string `env:"INPUT_BRANCH_PREFIX"`
	BranchNameTemplate string `env:"INPUT_BRANCH_NAME_TEMPLATE"`
	SigningKey         string `env:"INPUT_SIGNING_KEY"` // an SSH private key; empty: commits are not signed

	// InstallSandbox lets what the sandbox needs be installed on the runner.
	InstallSandbox bool `env:"INPUT_INSTALL_SANDBOX"`

	DryRun   bool   `env:"INPUT_DRY_RUN"`
	MaxTasks int    `env:"INPUT_MAX_TASKS"` // a sweep's
	List     bool   `env:"INPUT_LIST"`      // a sweep only says what it would take up
	Settings string `env:"INPUT_SETTINGS"`  // a JSON object, a layer of its own

	// Set is what the inputs that mirror settings say, in the form of a settings file. What was not given is not in it.
	Set map[string]any
}

// ReadInputs reads the inputs from an environment. Its error is an *Error with every problem; no secret is quoted in
// it.
func ReadInputs(environ map[string]string) (Inputs, error) {
	given, problems := inputValues(environ)
	if err := asError(problems); err != nil {
		return Inputs{}, err
	}
	in, err := env.ParseAsWithOptions[Inputs](env.Options{Environment: given})
	if err != nil {
		return Inputs{}, fmt.Errorf("reading inputs: %w", err)
	}
	in.AllowedBots = fields(given["INPUT_ALLOWED_BOTS"])
	in.CommentsBy = fields(given["INPUT_INCLUDE_COMMENTS_BY"])
	in.Set = map[string]any{}
	for _, row := range InputTable() {
		text, ok := given[row.Env()]
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
		values[row.Env()] = value
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
	if slices.Contains(in.CommentsBy, "nobody") && len(in.CommentsBy) > 1 {
		problems = append(problems, "input include_comments_by names nobody and others; allowed are nobody alone, or "+
			"writers and logins.")
	}
	for _, bot := range in.AllowedBots {
		if bot == "*" {
			problems = append(problems, "input allowed_bots is \"*\"; allowed are exact logins, such as \"renovate[bot]\".")
		}
	}
	return problems
}

// isPrivateKey reports whether a text has the form of one. What is in it, git's door finds out.
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
func (in Inputs) Secrets() []string {
	var secrets []string
	for _, secret := range []string{in.GitHubToken, in.AppPrivateKey, in.AnthropicAPIKey, in.ClaudeCodeOAuthToken,
		in.OpenAIAPIKey, in.GeminiAPIKey, in.SigningKey} {
		if secret != "" {
			secrets = append(secrets, secret)
		}
	}
	return secrets
}
