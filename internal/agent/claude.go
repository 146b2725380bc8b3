package agent

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/loop"
)

// claude is Claude Code: the prompt on standard input, events as JSON lines. Hooks are an argument, so that nothing
// that it runs can rewrite them.
var claude = dialect{
	name:  "claude",
	cheap: "haiku",
	keys:  []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"},
	pass: []string{"ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "ANTHROPIC_SMALL_FAST_MODEL", "ANTHROPIC_DEFAULT_OPUS_MODEL",
		"ANTHROPIC_DEFAULT_SONNET_MODEL", "ANTHROPIC_DEFAULT_HAIKU_MODEL", "ANTHROPIC_CUSTOM_HEADERS", "API_TIMEOUT_MS",
		"CLAUDE_CODE_MAX_RETRIES", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "MAX_THINKING_TOKENS", "CLAUDE_CONFIG_DIR",
		"BASH_DEFAULT_TIMEOUT_MS",
		"BASH_MAX_TIMEOUT_MS"},
	first:          []string{"-p"},
	flags:          claudeFlags,
	arguments:      claudeArguments,
	environment:    claudeEnvironment,
	prepare:        claudeFiles,
	gateway:        &gatewayConfig{claudeCarry, claudeReach, []string{"auth", "status"}},
	maxPromptBytes: 10_000_000, // it refuses more
	decode:         stream.NewClaude,
	ends:           true,
	interrupts:     true,
	prices:         true,
	counts:         true,
	holds:          claudeHolds,
	class:          claudeClass,
}

func claudeArguments(t *turnInput) []string {
	o := t.Options
	args := []string{"--output-format", "stream-json", "--verbose"}
	if o.Text {
		args = []string{"--output-format", "text"}
	}
	if !o.AgentSettings {
		// The repository's own settings, hooks and servers are untrusted code. This keeps its CLAUDE.md out too: the prompt
		// names it.
		args = append(args, "--setting-sources", "", "--strict-mcp-config")
	}
	switch {
	case o.NoTools:
		args = append(args, "--permission-mode", "dontAsk", "--tools", "")
	case o.ReadOnly:
		args = append(args, "--permission-mode", "dontAsk", "--tools", "Read,Grep,Glob", "--allowedTools", "Read,Grep,Glob")
	default:
		args = append(args, "--dangerously-skip-permissions")
	}
	if o.Model != "" {
		args = append(args, "--model", o.Model)
	}
	if o.Schema != "" && !o.Text {
		args = append(args, "--json-schema", o.Schema)
	}
	if usd := claudeHolds(o); usd != "" {
		args = append(args, claudeBudgetFlag, usd)
	}
	if isSession(o.Resume) {
		args = append(args, "--resume", o.Resume)
	}
	return args
}

func claudeEnvironment(o Options) []string {
	env := []string{
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_MAX_RETRIES=5", // about 20 s; the CLI's own 10 take three minutes to say that a key is wrong
	}
	if o.asRoot() {
		env = append(env, "IS_SANDBOX=1") // without it, the CLI refuses to skip permissions as root
	}
	return env
}

// claudeClass judges what only claude says.
func claudeClass(f facts) loop.Class {
	if !f.failed() {
		return ""
	}
	res := f.result
	if res == nil {
		said := strings.TrimSpace(f.stderr)
		if !f.any && byWords(said) == "" && claudeRefusal.MatchString(said) {
			return loop.Rejected
		}
		return ""
	}
	switch {
	case res.Stop == "refusal":
		return loop.Declined
	case res.Why == "prompt_too_long", res.Why == "blocking_limit":
		return loop.TooLong
	case res.Subtype == "error_max_turns", outOfWords.MatchString(res.Text):
		return loop.MaxTurns
	case res.Subtype == "error_max_budget_usd":
		return loop.Spent
	case strings.HasPrefix(res.Why, "aborted"):
		return loop.Killed
	case strings.Contains(strings.Join(res.Errors, " "), "No conversation found"):
		return loop.Rejected
	}
	return ""
}

var (
	// claudeRefusal is how the CLI begins when its own arguments or configuration are wrong; it prints nothing else then.
	claudeRefusal = lazy(`(?i)^(error: |--\S+ cannot be used)`)
	outOfWords    = lazy(`(?i)exceeded the \d* ?output token maximum`)
)
