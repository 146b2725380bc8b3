package config

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/caarlos0/env/v11"
)

// Inputs are the action's inputs as the runner passes them: INPUT_ and the name in capitals. An empty input is one that was not given.
// Names, descriptions and defaults are in InputTable.
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
	Issue      int    `env:"INPUT_ISSUE"` // 0: none given
	Plan       string `env:"INPUT_PLAN"`  // path of a plan from the top of the repository

	Agent                string   `env:"INPUT_AGENT"`
	AgentArgs            []string // split as a shell does
	Model                string   `env:"INPUT_MODEL"`
	ReviewerAgent        string   `env:"INPUT_REVIEWER_AGENT"`
	ReviewerModel        string   `env:"INPUT_REVIEWER_MODEL"`
	AnthropicAPIKey      string   `env:"INPUT_ANTHROPIC_API_KEY"`
	ClaudeCodeOAuthToken string   `env:"INPUT_CLAUDE_CODE_OAUTH_TOKEN"`
	OpenAIAPIKey         string   `env:"INPUT_OPENAI_API_KEY"`
	GeminiAPIKey         string   `env:"INPUT_GEMINI_API_KEY"`

	Checks         []string // one command each
	Setup          string   `env:"INPUT_SETUP"`
	MaxIterations  int      `env:"INPUT_MAX_ITERATIONS"`  // 0: not given
	TimeoutMinutes int      `env:"INPUT_TIMEOUT_MINUTES"` // 0: not given
	MaxCostUSD     float64  `env:"INPUT_MAX_COST_USD"`    // of a run; 0: not given
	MaxIssueCost   float64  `env:"INPUT_MAX_COST_USD_PER_ISSUE"`
	MaxTokens      int64    `env:"INPUT_MAX_TOKENS"` // of a run; 0: not given
	CIGate         string   `env:"INPUT_CI_GATE"`
	CITimeout      int      `env:"INPUT_CI_TIMEOUT_MINUTES"` // 0: not given
	Review         *bool    `env:"INPUT_REVIEW"`             // nil: not given
	ReviewCap      int      `env:"INPUT_REVIEW_CAP"`         // of a story; 0: not given
	AtReviewCap    string   `env:"INPUT_AT_REVIEW_CAP"`
	Sandbox        string   `env:"INPUT_SANDBOX"`

	BaseBranch         string   `env:"INPUT_BASE_BRANCH"` // empty: the default branch
	BranchPrefix       string   `env:"INPUT_BRANCH_PREFIX"`
	BranchNameTemplate string   `env:"INPUT_BRANCH_NAME_TEMPLATE"`
	WorkingDirectory   string   `env:"INPUT_WORKING_DIRECTORY"` // empty: the top of the repository
	SigningKey         string   `env:"INPUT_SIGNING_KEY"`       // an SSH private key; empty: commits are not signed
	Comments           string   `env:"INPUT_COMMENTS"`
	NotifyOn           []string // outcomes, or "nobody"; nil: not given

	DryRun   bool   `env:"INPUT_DRY_RUN"`
	MaxTasks int    `env:"INPUT_MAX_TASKS"` // a sweep's
	List     bool   `env:"INPUT_LIST"`      // a sweep only says what it would take up
	Settings string `env:"INPUT_SETTINGS"`  // a JSON object, a layer of its own
}

// ReadInputs reads the inputs from an environment. Its error is an *Error with every problem; no secret is quoted in it.
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
	in.NotifyOn = fields(given["INPUT_NOTIFY_ON"])
	in.Checks = commands(given["INPUT_CHECKS"])
	in.AgentArgs, err = words(given["INPUT_AGENT_ARGS"])
	if err != nil {
		problems = append(problems, fmt.Sprintf("input agent_args: %v; allowed are arguments as a shell reads them.", err))
	}
	return in, asError(append(problems, in.contradictions()...))
}

// inputValues trims what was given, puts defaults in for what was not, and holds each value against its row of the table.
func inputValues(environ map[string]string) (map[string]string, []string) {
	values := map[string]string{}
	var problems []string
	for _, row := range InputTable {
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
		problems = append(problems, "inputs plan and issue, prompt or prompt_file are both given; only one of them is allowed.")
	}
	if in.Plan != "" && !isInside(in.Plan) {
		problems = append(problems, fmt.Sprintf("input plan is %s; allowed is the path of a file in the repository, such as \"ralph/tasks.json\".", show(in.Plan)))
	}
	if (in.AppID != 0) != (in.AppPrivateKey != "") {
		problems = append(problems, "inputs app_id and app_private_key belong together, but only one of them is given; give both or neither.")
	}
	if in.SigningKey != "" && !isPrivateKey(in.SigningKey) {
		problems = append(problems, "input signing_key is no private key; allowed is a whole file as ssh-keygen -t ed25519 -N '' makes it, with its lines as they are.")
	}
	if strings.ContainsAny(in.TriggerPhrase, " \t\n") {
		problems = append(problems, fmt.Sprintf("input trigger_phrase is %s; allowed is one word, such as \"/ralph\".", show(in.TriggerPhrase)))
	}
	if slices.Contains(in.CommentsBy, "nobody") && len(in.CommentsBy) > 1 {
		problems = append(problems, "input include_comments_by names nobody and others; allowed are nobody alone, or writers and logins.")
	}
	for _, on := range in.NotifyOn {
		if allowed := []string{NotifyDone, NotifyFailed, NotifyWaiting}; !slices.Contains(allowed, on) && (on != "nobody" || len(in.NotifyOn) > 1) {
			problems = append(problems, fmt.Sprintf("input notify_on names %s; allowed are done, failed and waiting, separated by commas or white space, or nobody alone.", show(on)))
		}
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

// Layer is the part of the inputs that is settings, under the keys of a settings file. What was not given is not in it.
func (in Inputs) Layer() Layer {
	object := map[string]any{}
	put := func(key string, value any, given bool) {
		if given {
			object[key] = value
		}
	}
	put("agent", in.command(in.Agent, in.Model, in.AgentArgs), in.Agent+in.Model != "" || len(in.AgentArgs) > 0)
	put("reviewer", in.command(in.ReviewerAgent, in.ReviewerModel, nil), in.ReviewerAgent+in.ReviewerModel != "")
	put("guardrails", guardrails(in.Checks), len(in.Checks) > 0)
	put("setup", in.Setup, in.Setup != "")
	put("maximumIterations", in.MaxIterations, in.MaxIterations > 0)
	put("timeoutMinutes", in.TimeoutMinutes, in.TimeoutMinutes > 0)
	put("review", in.Review, in.Review != nil)
	put("reviewCap", in.ReviewCap, in.ReviewCap > 0)
	put("atReviewCap", in.AtReviewCap, in.AtReviewCap != "")
	put("maxCostUsd", in.MaxCostUSD, in.MaxCostUSD > 0)
	put("maxCostUsdPerIssue", in.MaxIssueCost, in.MaxIssueCost > 0)
	put("maxTokens", in.MaxTokens, in.MaxTokens > 0)
	put("ciGate", in.CIGate, in.CIGate != "")
	put("ciTimeoutMinutes", in.CITimeout, in.CITimeout > 0)
	put("comments", in.Comments, in.Comments != "")
	put("notifyOn", slices.DeleteFunc(append([]string{}, in.NotifyOn...), func(s string) bool { return s == "nobody" }), len(in.NotifyOn) > 0)
	put("workingDirectory", in.WorkingDirectory, path.Clean(in.WorkingDirectory) != ".")
	put("sandbox", in.Sandbox, in.Sandbox != "")
	text, err := json.Marshal(object)
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

func (Inputs) command(name, model string, args []string) map[string]any {
	object := map[string]any{}
	if name != "" {
		object["command"] = name
	}
	if model != "" {
		object["model"] = model
	}
	if len(args) > 0 {
		object["flags"] = args
	}
	return object
}

func guardrails(commands []string) []map[string]any {
	list := make([]map[string]any, len(commands))
	for i, command := range commands {
		list[i] = map[string]any{"command": command}
	}
	return list
}

// Secrets are the inputs that must never be printed.
func (in Inputs) Secrets() []string {
	var secrets []string
	for _, secret := range []string{in.GitHubToken, in.AppPrivateKey, in.AnthropicAPIKey, in.ClaudeCodeOAuthToken, in.OpenAIAPIKey, in.GeminiAPIKey, in.SigningKey} {
		if secret != "" {
			secrets = append(secrets, secret)
		}
	}
	return secrets
}
