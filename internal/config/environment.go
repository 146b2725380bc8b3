package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/caarlos0/env/v11"
)

// Environment is what the runner and the operator say outside of inputs. It is read once, in app.
type Environment struct {
	EventName       string `env:"GITHUB_EVENT_NAME"`
	EventPath       string `env:"GITHUB_EVENT_PATH"`
	Repository      string `env:"GITHUB_REPOSITORY"` // "owner/name"
	ServerURL       string `env:"GITHUB_SERVER_URL" envDefault:"https://github.com"`
	APIURL          string `env:"GITHUB_API_URL" envDefault:"https://api.github.com"`
	GraphQLURL      string `env:"GITHUB_GRAPHQL_URL" envDefault:"https://api.github.com/graphql"`
	RunID           int64  `env:"GITHUB_RUN_ID"`      // 0 outside a workflow
	RunAttempt      int    `env:"GITHUB_RUN_ATTEMPT"` // 1-based; 0 outside a workflow
	Workspace       string `env:"GITHUB_WORKSPACE"`
	TriggeringActor string `env:"GITHUB_TRIGGERING_ACTOR"` // the actor of a re-run
	Token           string `env:"GITHUB_TOKEN"`
	WorkflowRef     string `env:"GITHUB_WORKFLOW_REF"` // "owner/name/.github/workflows/ralph.yml@refs/heads/main": the caller's file
	WorkflowSHA     string `env:"GITHUB_WORKFLOW_SHA"` // the commit that it is of
	Actions         bool   `env:"GITHUB_ACTIONS"`

	RunnerTemp string `env:"RUNNER_TEMP"`

	AgentUser      string `env:"RALPH_AGENT_USER"` // user the agent and the checks run as; empty: the same
	RalphWorkspace string `env:"RALPH_WORKSPACE"`  // where ralph keeps its own checkouts; empty: under the system's directory for temporary files

	AnthropicAPIKey      string `env:"ANTHROPIC_API_KEY"`
	ClaudeCodeOAuthToken string `env:"CLAUDE_CODE_OAUTH_TOKEN"`

	CI bool `env:"CI"`
	// Timestamps: lines that no terminal shows begin with the time.
	Timestamps bool `env:"RALPH_TIMESTAMPS" envDefault:"true"`
	NoColor    bool // NO_COLOR is set to anything but nothing: no-color.org
}

// Variables that say something of the sandbox. They are never handed on.
const (
	SandboxSwitch = "RALPH_SANDBOX"
	SandboxImage  = "RALPH_SANDBOX_IMAGE"
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
	for _, name := range []string{"GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT"} {
		if value, ok := given[name]; ok {
			if _, err := strconv.ParseUint(value, 10, 31+32); err != nil {
				problems = append(problems, fmt.Sprintf("environment variable %s is %s; must be a whole number.", name,
					show(value)))
			}
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
	e, err := env.ParseAsWithOptions[Environment](env.Options{Environment: given,
		FuncMap: map[reflect.Type]env.ParserFunc{reflect.TypeFor[bool](): isYes}})
	if err != nil {
		return Environment{}, fmt.Errorf("reading the environment: %w", err)
	}
	e.NoColor = given["NO_COLOR"] != ""
	return e, nil
}

// isYes reads a flag: true for any value that does not say no. CI is "true" on one host and "woodpecker" on another.
func isYes(value string) (any, error) {
	return !slices.Contains([]string{"0", "false", "no", "off"}, strings.ToLower(value)), nil
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
	return slices.DeleteFunc([]string{e.Token, e.AnthropicAPIKey, e.ClaudeCodeOAuthToken},
		func(secret string) bool { return secret == "" })
}
