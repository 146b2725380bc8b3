package agent

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// claude is Claude Code: the prompt on standard input, events as JSON lines.
var claude = dialect{
	keys: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"},
	pass: []string{"ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "ANTHROPIC_SMALL_FAST_MODEL", "ANTHROPIC_DEFAULT_OPUS_MODEL",
		"ANTHROPIC_DEFAULT_SONNET_MODEL", "ANTHROPIC_DEFAULT_HAIKU_MODEL", "ANTHROPIC_CUSTOM_HEADERS", "API_TIMEOUT_MS",
		"CLAUDE_CODE_MAX_RETRIES", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "MAX_THINKING_TOKENS", "CLAUDE_CONFIG_DIR", "BASH_DEFAULT_TIMEOUT_MS",
		"BASH_MAX_TIMEOUT_MS"},
	arguments:   claudeArguments,
	environment: claudeEnvironment,
	read: func(t *talk) reader {
		r := &claudeReader{talk: t}
		r.Claude = stream.NewClaude(r.event)
		return r
	},
}

func claudeArguments(o Options) []string {
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

// claudeReader folds events into a turn. It keeps the last message and the claim, not what was said before.
type claudeReader struct {
	*stream.Claude
	talk    *talk
	session string
	message string // id of the message that text is of
	text    string
	claim   loop.Claim
	claimed string // id of the message that claim is of
	seen    loop.Usage
	counted string // id of the last message that seen has
	retry   stream.Attempt
	limit   stream.Window
	result  *stream.Result
	noise   string
	any     bool // it printed anything at all
}

func (r *claudeReader) event(e stream.Event) {
	r.any = true
	if e.Kind != stream.Retry { // C12
		r.talk.pulse.Beat()
	}
	switch e.Kind {
	case stream.Session:
		r.session = e.Session
	case stream.Text, stream.ToolStart:
		r.count(e)
		r.said(e)
	case stream.Retry:
		r.retry = e.Retry
		r.talk.console.line(fmt.Sprintf("the model did not answer (status %d), attempt %d of %d", e.Retry.Status, e.Retry.Number, e.Retry.Most))
	case stream.Limit:
		r.limit = e.Limit
	case stream.Ended:
		result := e.Result
		r.result = &result
		if e.Session != "" {
			r.session = e.Session
		}
	case stream.Noise:
		r.noise = e.Text
		r.talk.console.line(e.Text)
	}
}

// said notes what the agent itself says: its first tag in a message counts, and the last message with one (C2).
func (r *claudeReader) said(e stream.Event) {
	if e.Kind == stream.ToolStart {
		r.talk.console.line("⏺ " + e.Tool.Name + "(" + e.Tool.Input + ")")
		return
	}
	if e.Nested || strings.TrimSpace(e.Text) == "" {
		return
	}
	r.talk.console.text(e.Text)
	if r.text != "" && e.Message != "" && e.Message == r.message {
		r.text = lastBytes(r.text+"\n"+e.Text, 2*loop.TextBytes)
	} else {
		r.text, r.message = e.Text, e.Message
	}
	if claim, ok := loop.ReadClaim(e.Text, r.talk.Completion); ok && (r.claimed == "" || e.Message != r.claimed) {
		r.claim, r.claimed = claim, e.Message
	}
}

// count adds up what the messages had read, which is all there is to say of a turn that was killed before its result.
func (r *claudeReader) count(e stream.Event) {
	if e.Message != r.counted {
		r.counted = e.Message
		r.seen = r.seen.Plus(e.Usage)
	}
}

func (r *claudeReader) settled() bool { return r.result != nil && !r.result.Failed }

func (r *claudeReader) turn(end proc.Result, stderr string) loop.Turn {
	_ = r.Close()
	t := loop.Turn{Class: loop.OK, Text: r.text, Claim: r.claim, Session: r.session, Usage: r.seen}
	if res := r.result; res != nil {
		t.Usage, t.Structured = res.Usage, string(res.Structured)
		if t.Text == "" && !res.Failed { // the formats without messages have only this
			t.Text = res.Text
			t.Claim, _ = loop.ReadClaim(res.Text, r.talk.Completion)
		}
	}
	t.Class, t.Reason = r.class(end, stderr, t)
	return t
}

// refusal is how the CLI begins when its own arguments or configuration are wrong; it prints nothing else then.
var refusal = regexp.MustCompile(`(?i)^(error: |--\S+ cannot be used)`)

func (r *claudeReader) class(end proc.Result, stderr string, t loop.Turn) (loop.Class, string) {
	res := r.result
	said := strings.TrimSpace(stderr)
	switch {
	case res != nil && res.Failed:
		return r.failure(*res)
	case !r.any && end.Exit != 0 && refusal.MatchString(said):
		return loop.Rejected, because("claude refused how it was called: check the agent's flags, model and version", lastLine(said))
	case end.Exit != 0 && !r.ok(end):
		return loop.Broke, because(fmt.Sprintf("claude ended with exit code %d: see its log", end.Exit), lastLine(stderr+"\n"+r.noise))
	case res == nil && r.any:
		return loop.Broke, because("claude ended without saying how: see its log", lastLine(stderr+"\n"+r.noise))
	case strings.TrimSpace(t.Text) == "" && t.Structured == "":
		return loop.Empty, "claude said nothing: nothing to do but ask again"
	}
	return loop.OK, ""
}

// ok reports whether a non-zero exit is ours: we ended a process that had already said its word.
func (r *claudeReader) ok(end proc.Result) bool {
	return r.settled() && (end.Class == proc.TimedOut || end.Class == proc.Idle)
}

// failure explains a result that is an error. A request to the model that failed is told by its HTTP status.
func (r *claudeReader) failure(res stream.Result) (loop.Class, string) {
	said := strings.TrimSpace(res.Text + " " + strings.Join(res.Errors, "; "))
	low := strings.ToLower(said)
	switch {
	case res.Status == 402 || strings.Contains(low, "credit balance"):
		return loop.Billing, because("claude's account has no credit: add some, or give another key", said)
	case res.Status == 0 && (strings.Contains(low, "not logged in") || strings.Contains(low, "/login")):
		return loop.Auth, because("claude has no credential: set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN", said)
	case res.Status == 401 || res.Status == 403:
		return loop.Auth, because(fmt.Sprintf("claude's credential was refused (HTTP %d): check ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN", res.Status), said)
	case res.Status == 404:
		return loop.Rejected, because("claude's model does not exist or may not be used with this credential: check the setting model", said)
	case res.Status == 429:
		return loop.Broke, because(r.wait(), said)
	case res.Why == "prompt_too_long":
		return loop.Broke, because("the prompt is too long for claude's model: shorten the task, or split it", said)
	case res.Subtype == "error_max_turns":
		return loop.Broke, because("claude used up its own limit of turns: raise --max-turns in the agent's flags, or ask for less at once", said)
	case res.Subtype == "error_max_budget_usd":
		return loop.Broke, because("claude used up its own budget: raise --max-budget-usd in the agent's flags, or ask for less at once", said)
	case res.Status >= 500:
		return loop.Broke, because(fmt.Sprintf("claude's model is out of order (HTTP %d): try again later", res.Status), said)
	}
	return loop.Broke, because("claude failed: see its log, and try again", said)
}

func (r *claudeReader) wait() string {
	if r.limit.Rejected && !r.limit.Resets.IsZero() {
		return "claude's usage limit is reached until " + r.limit.Resets.Format(time.RFC3339) + ": try again after that"
	}
	return "claude's rate limit is reached: try again later"
}
