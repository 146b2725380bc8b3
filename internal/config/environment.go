package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/caarlos0/env/v11"
)

// Environment is what the runner and the operator say outside of inputs. It is read once, in app.
type Environment struct {
	EventName       string `env:"GITHUB_EVENT_NAME"`
	EventPath       string `env:"GITHUB_EVENT_PATH"`
	Repository      string `env:"GITHUB_REPOSITORY"` // "owner/name"
	RepositoryOwner string `env:"GITHUB_REPOSITORY_OWNER"`
	ServerURL       string `env:"GITHUB_SERVER_URL" envDefault:"https://github.com"`
	APIURL          string `env:"GITHUB_API_URL" envDefault:"https://api.github.com"`
	GraphQLURL      string `env:"GITHUB_GRAPHQL_URL" envDefault:"https://api.github.com/graphql"`
	RunID           int64  `env:"GITHUB_RUN_ID"`      // 0 outside a workflow
	RunAttempt      int    `env:"GITHUB_RUN_ATTEMPT"` // 1-based; 0 outside a workflow
	Workspace       string `env:"GITHUB_WORKSPACE"`
	Actor           string `env:"GITHUB_ACTOR"`
	TriggeringActor string `env:"GITHUB_TRIGGERING_ACTOR"` // the actor of a re-run
	Output          string `env:"GITHUB_OUTPUT"`           // a file
	StepSummary     string `env:"GITHUB_STEP_SUMMARY"`     // a file
	Token           string `env:"GITHUB_TOKEN"`
	RefName         string `env:"GITHUB_REF_NAME"`
	SHA             string `env:"GITHUB_SHA"`
	Job             string `env:"GITHUB_JOB"`
	Workflow        string `env:"GITHUB_WORKFLOW"`
	WorkflowRef     string `env:"GITHUB_WORKFLOW_REF"` // "owner/name/.github/workflows/ralph.yml@refs/heads/main": the caller's file
	WorkflowSHA     string `env:"GITHUB_WORKFLOW_SHA"` // the commit that it is of
	Actions         bool   `env:"GITHUB_ACTIONS"`

	RunnerTemp  string `env:"RUNNER_TEMP"`
	RunnerDebug bool   `env:"RUNNER_DEBUG"`

	AgentUser      string `env:"RALPH_AGENT_USER"`    // user the agent and the checks run as; empty: the same
	Sandbox        string `env:"RALPH_SANDBOX"`       // "off" switches the sandbox off
	SandboxImage   string `env:"RALPH_SANDBOX_IMAGE"` // of the sandbox container
	RalphWorkspace string `env:"RALPH_WORKSPACE"`     // where ralph keeps its own checkouts; empty: under the system's directory for temporary files

	AnthropicAPIKey      string `env:"ANTHROPIC_API_KEY"`
	ClaudeCodeOAuthToken string `env:"CLAUDE_CODE_OAUTH_TOKEN"`
	AnthropicBaseURL     string `env:"ANTHROPIC_BASE_URL"`

	Home string `env:"HOME"`
	Path string `env:"PATH"`
	CI   bool   `env:"CI"`
	// Timestamps: lines that no terminal shows begin with the time.
	Timestamps bool `env:"RALPH_TIMESTAMPS" envDefault:"true"`
	NoColor    bool // NO_COLOR is set to anything but nothing: no-color.org
}

// Variables that say something of the sandbox. They are never handed on.
const (
	SandboxSwitch = "RALPH_SANDBOX"
	SandboxImage  = "RALPH_SANDBOX_IMAGE"
)

// numbers and flags of the environment. A flag is true for any value that does not say no: CI is "true" on one host and
// "woodpecker" on another.
var (
	environNumbers = []string{"GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT"}
	environFlags   = []string{"GITHUB_ACTIONS", "RUNNER_DEBUG", "CI", "RALPH_TIMESTAMPS"}
)

// ReadEnvironment reads it from the process's environment as a map. Its error is an *Error.
func ReadEnvironment(environ map[string]string) (Environment, error) {
	given := map[string]string{}
	for name, value := range environ {
		if value != "" {
			given[name] = value
		}
	}
	var problems []string
	for _, name := range environNumbers {
		if value, ok := given[name]; ok {
			if _, err := strconv.ParseUint(value, 10, 31+32); err != nil {
				problems = append(problems, fmt.Sprintf("environment variable %s is %s; must be a whole number.", name,
					show(value)))
			}
		}
	}
	for _, name := range environFlags {
		if value, ok := given[name]; ok {
			given[name] = strconv.FormatBool(isYes(value))
		}
	}
	if value, ok := given["GITHUB_REPOSITORY"]; ok && strings.Count(value, "/") != 1 {
		problems = append(problems, fmt.Sprintf("environment variable GITHUB_REPOSITORY is %s; must be owner/name.",
			show(value)))
	}
	if value, ok := given[SandboxSwitch]; ok && value != "off" {
		problems = append(problems, fmt.Sprintf("environment variable %s is %s; must be off: name another sandbox in "+
			"the setting sandbox.", SandboxSwitch, show(value)))
	}
	if err := asError(problems); err != nil {
		return Environment{}, err
	}
	e, err := env.ParseAsWithOptions[Environment](env.Options{Environment: given})
	if err != nil {
		return Environment{}, fmt.Errorf("reading the environment: %w", err)
	}
	e.NoColor = given["NO_COLOR"] != ""
	return e, nil
}

func isYes(value string) bool {
	switch strings.ToLower(value) {
	case "0", "false", "no", "off":
		return false
	}
	return true
}

// RunURL is the page of the workflow run; empty outside a workflow.
func (e Environment) RunURL() string {
	if e.RunID == 0 || e.Repository == "" {
		return ""
	}
	return fmt.Sprintf("%s/%s/actions/runs/%d", strings.TrimSuffix(e.ServerURL, "/"), e.Repository, e.RunID)
}

// Secrets are the variables that must never be printed.
func (e Environment) Secrets() []string {
	var secrets []string
	for _, secret := range []string{e.Token, e.AnthropicAPIKey, e.ClaudeCodeOAuthToken} {
		if secret != "" {
			secrets = append(secrets, secret)
		}
	}
	return secrets
}
