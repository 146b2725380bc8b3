package agent

import (
	"regexp"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/loop"
)

// claude is Claude Code: the prompt on standard input, events as JSON lines.
var claude = dialect{
	name: "claude",
	keys: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"},
	pass: []string{"ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "ANTHROPIC_SMALL_FAST_MODEL", "ANTHROPIC_DEFAULT_OPUS_MODEL",
		"ANTHROPIC_DEFAULT_SONNET_MODEL", "ANTHROPIC_DEFAULT_HAIKU_MODEL", "ANTHROPIC_CUSTOM_HEADERS", "API_TIMEOUT_MS",
		"CLAUDE_CODE_MAX_RETRIES", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "MAX_THINKING_TOKENS", "CLAUDE_CONFIG_DIR", "BASH_DEFAULT_TIMEOUT_MS",
		"BASH_MAX_TIMEOUT_MS"},
	arguments:   claudeArguments,
	environment: claudeEnvironment,
	decode:      stream.NewClaude,
	ends:        true,
	class:       claudeClass,
}

func claudeArguments(t *talk) []string {
	o := t.Options
	args := []string{
		"-p", "--output-format", "stream-json", "--verbose",
		// The repository's own settings, hooks and servers are untrusted code. This keeps its CLAUDE.md out too: the prompt names it.
		"--setting-sources", "", "--strict-mcp-config",
	}
	if o.ReadOnly {
		args = append(args, "--permission-mode", "dontAsk", "--tools", "Read,Grep,Glob", "--allowedTools", "Read,Grep,Glob")
	} else {
		args = append(args, "--dangerously-skip-permissions")
	}
	if o.Model != "" {
		args = append(args, "--model", o.Model)
	}
	if o.Schema != "" {
		args = append(args, "--json-schema", o.Schema)
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
	res := f.result
	if res == nil {
		if !f.any && f.end.Exit != 0 && refusal.MatchString(strings.TrimSpace(f.stderr)) {
			return loop.Rejected
		}
		return ""
	}
	if !res.Failed {
		return ""
	}
	switch {
	case res.Why == "prompt_too_long":
		return loop.TooLong
	case res.Subtype == "error_max_turns":
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

// refusal is how the CLI begins when its own arguments or configuration are wrong; it prints nothing else then.
var refusal = regexp.MustCompile(`(?i)^(error: |--\S+ cannot be used)`)
