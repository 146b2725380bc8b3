package agent

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/loop"
)

// opencode is the opencode CLI: `opencode run` with the prompt on standard input, events as JSON lines, with what each
// step cost by the user's own prices. It tells nothing of a command before it has ended, which looks like silence, and
// of requests that it tries again only in its log.
//
// It knows no hooks but plugins, so Options.Hooks say nothing to it.
//
// The repository's opencode.json, .opencode directory and rules (AGENTS.md, which the prompt names) are kept out.
// Skills that it finds in .claude and .agents directories are not.
var opencode = dialect{
	name: "opencode",
	keys: []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY",
		"OPENROUTER_API_KEY", "OPENCODE_API_KEY"},
	pass: []string{"OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_MODELS_URL", "OPENCODE_MODELS_PATH",
		"OPENCODE_DISABLE_MODELS_FETCH",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS", "OPENCODE_DISABLE_AUTOCOMPACT", "OPENCODE_EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS",
		"OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "OLLAMA_HOST"},
	first:       []string{"run"},
	arguments:   opencodeArguments,
	environment: opencodeEnvironment,
	gateway:     &gatewayConfig{opencodeCarry, opencodeReach, nil},
	prepare:     opencodeFiles,
	decode:      stream.NewOpencode,
	prices:      true,
	counts:      true,
	ends:        true,
	readRetry:   opencodeHears,
	class:       opencodeClass,
}

func opencodeArguments(t *turnInput) []string {
	var args []string
	if !t.Text {
		args = append(args, "--format", "json")
	}
	if !t.reads() {
		args = append(args, "--auto")
	}
	if t.Model != "" {
		args = append(args, "-m", t.Model)
	}
	if isSession(t.Resume) {
		args = append(args, "-s", t.Resume)
	}
	return args
}

// opencodeReading are the permissions of a reviewer: the last rule that matches a tool counts.
const opencodeReading = `{"*":"deny","read":"allow","grep":"allow","glob":"allow","list":"allow"}`

func opencodeEnvironment(o Options) []string {
	env := []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_SHARE=1",
		"OPENCODE_DISABLE_TERMINAL_TITLE=1",
		"OPENCODE_PRINT_LOGS=1", "OPENCODE_LOG_LEVEL=ERROR"}
	if !o.AgentSettings {
		env = append(env, "OPENCODE_DISABLE_PROJECT_CONFIG=1")
	}
	switch {
	case o.NoTools:
		env = append(env, `OPENCODE_PERMISSION={"*":"deny"}`)
	case o.ReadOnly:
		env = append(env, "OPENCODE_PERMISSION="+opencodeReading)
	}
	return env
}

// opencodeRefusal is how it answers flags, models and sessions that it does not know, and settings that it cannot read.
var opencodeRefusal = lazy(
	`(?i)^opencode run \[message|model not found|session not found|config(uration)? (file )?(at|is|invalid)|configinvaliderror|configjsonerror`)

// opencodeClass judges what only opencode says.
func opencodeClass(f facts) loop.Class {
	if !f.failed() {
		return ""
	}
	if f.result == nil {
		if !f.any && opencodeRefusal.MatchString(strings.TrimSpace(f.stderr)) {
			return loop.Rejected
		}
		return ""
	}
	switch {
	case f.result.Subtype == "length", f.result.Why == "MessageOutputLengthError":
		return loop.MaxTurns
	case f.result.Subtype == "content-filter", f.result.Why == "ContentFilterError":
		return loop.Declined
	case f.result.Why == "ProviderAuthError":
		return loop.Auth
	case f.result.Why == "ContextOverflowError":
		return loop.TooLong
	case strings.Contains(f.result.Why, "ModelNotFound"), opencodeRefusal.MatchString(f.words()):
		return loop.Rejected
	}
	return ""
}
