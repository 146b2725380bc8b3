package agent

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	disk "github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// claude is Claude Code: the prompt on standard input, events as JSON lines. Hooks are an argument, so that nothing
// that it runs can rewrite them.
var claude = dialect{
	name:  "claude",
	cheap: "haiku",
	keys:  anthropic.keys,
	pass: []string{"ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "ANTHROPIC_SMALL_FAST_MODEL", "ANTHROPIC_DEFAULT_OPUS_MODEL",
		"ANTHROPIC_DEFAULT_SONNET_MODEL", "ANTHROPIC_DEFAULT_HAIKU_MODEL", "ANTHROPIC_CUSTOM_HEADERS", "API_TIMEOUT_MS",
		"CLAUDE_CODE_MAX_RETRIES", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "MAX_THINKING_TOKENS", "CLAUDE_CONFIG_DIR",
		"BASH_DEFAULT_TIMEOUT_MS",
		"BASH_MAX_TIMEOUT_MS"},
	arguments:      claudeArguments,
	environment:    claudeEnvironment,
	prepare:        claudeFiles,
	gateway:        &gatewayConfig{claudeCarry, claudeReach, []string{"auth", "status"}},
	maxPromptBytes: 10_000_000, // it refuses more
	interrupts:     true,
	holds:          claudeHolds,
	login:          claudeAccount,
	needs: sandboxNeeds{
		hosts: []string{"*.anthropic.com", "claude.ai", "platform.claude.com"},
		files: slices.Concat(shared(".claude/.credentials.json"),
			shown(".claude/settings.json", ".claude/CLAUDE.md", ".claude/agents", ".claude/commands",
				".claude/skills", ".claude/plugins", ".claude/hooks", ".claude/rules", ".claude/output-styles"),
			copied(claudeState)),
		moves: true,
	},
	output: output{
		decode: stream.NewClaude,
		ends:   true,
		prices: true,
		counts: true,
		phrases: []phrase{
			{loop.Declined, lazy(`^[^:]* stop=refusal:`)},
			{loop.TooLong, lazy(`^[^:]* why=(prompt_too_long|blocking_limit) `)},
			{loop.MaxTurns, lazy(`(?i)^[^:]* subtype=error_max_turns |exceeded the \d* ?output token maximum`)},
			{loop.Spent, lazy(`^[^:]* subtype=error_max_budget_usd `)},
			{loop.Killed, lazy(`^[^:]* why=aborted`)},
			{loop.Rejected, lazy(`No conversation found`)},
		},
		refusal: lazy(`(?i)^(error: |--\S+ cannot be used)`),
	},
}

var claudeAccount = login{install: "npm install -g @anthropic-ai/claude-code",
	how:  "set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN, or log in by running: claude",
	file: ".credentials.json", dir: ".claude", dirFrom: "CLAUDE_CONFIG_DIR",
	lax: runtime.GOOS == "darwin"} // which has a keychain

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
	return slices.Concat([]string{"-p"}, claudeFlags(t), args)
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

func claudeCarry(o Options) ([]Route, string) {
	for _, e := range elsewhere {
		if e.agent == "claude" && proc.Value(proc.Environment(o.Parent, o.Allow), e.chosen) != "" {
			return nil, e.chosen + " leads claude to another provider"
		}
	}
	name, key := anthropic.key(o)
	r, why := anthropic.only(o, name, key, "")
	if key == "" {
		r = claudeLogin(o, r)
	}
	switch {
	case why != "":
		return nil, why
	case r.Value == "" && runtime.GOOS == "darwin":
		return nil, "a login of claude's is in the keychain, which ralph does not open: run claude setup-token, and set " +
			"CLAUDE_CODE_OAUTH_TOKEN to what it says"
	case r.Value == "":
		return nil, ""
	}
	return []Route{r}, ""
}

// claudeLogin adds the token of a subscription, as the CLI has saved it, to a route.
func claudeLogin(o Options, r Route) Route {
	saved, where := claudeAccount.saved(o)
	login := saved.Get("claudeAiOauth")
	token := login.Get("accessToken").Str
	if token == "" {
		return r
	}
	r.Header, r.Value, r.Login = "authorization", "Bearer "+token, where
	if ends := login.Get("expiresAt"); ends.Type == gjson.Number && ends.Num > 0 {
		r.Ends = time.UnixMilli(ends.Int())
	}
	return r
}

// claudeBearer is the file that claude's helper for keys prints, so that nothing that it runs inherits the bearer. The
// token of a subscription needs none: claude does not hand it on.
const claudeBearer = "bearer"

// claudeHelps reports whether claude gets the bearer by the helper.
func claudeHelps(t *turnInput) bool {
	name, _ := anthropic.key(t.Options)
	return t.way != nil && name != "" && name != claudeToken
}

func claudeFiles(t *turnInput) error {
	if !claudeHelps(t) {
		return nil
	}
	return t.file(claudeBearer, t.way.Bearer())
}

// claudeReach: a subscription keeps its variable, because claude asks for other things with it.
func claudeReach(t *turnInput) []string {
	env := []string{anthropic.from + "=" + t.at("")}
	if !claudeHelps(t) {
		env = append(env, claudeToken+"="+t.way.Bearer())
	}
	return env
}

// claudeHelper are the settings that name the helper; nil: claude needs no helper.
func claudeHelper(t *turnInput) map[string]any {
	if !claudeHelps(t) {
		return nil
	}
	return map[string]any{"apiKeyHelper": "cat '" + strings.ReplaceAll(t.path(claudeBearer), "'", `'\''`) + "'"}
}

// claudeFlags are the user's flags with our own settings, if there are any. The CLI reads only the last --settings, so
// if the user has one, ours go into it.
func claudeFlags(t *turnInput) []string {
	helper, hooks := claudeHelper(t), t.hooks()
	if helper == nil && len(hooks) == 0 {
		return t.Flags
	}
	theirs, flags, err := claudeSettings(t.Options)
	if err != nil {
		return t.Flags // which the CLI will complain of
	}
	settings := map[string]any{}
	maps.Copy(settings, theirs)
	maps.Copy(settings, helper)
	addHooks(settings, hooks)
	text, err := json.Marshal(settings)
	if err != nil || len(text) > mostSettings {
		return t.Flags
	}
	return append(flags, "--settings", string(text)) // which count whatever the sources are
}

// claudeSettings are those of the last --settings among the flags, JSON or a file with it, and the other flags. A file
// is not read for an agent that may read less than we: a link could lead anywhere, and what is read becomes its
// argument.
func claudeSettings(o Options) (settings map[string]any, others []string, err error) {
	named := "{}"
	for i := 0; i < len(o.Flags); i++ {
		value, joined := strings.CutPrefix(o.Flags[i], "--settings=")
		switch {
		case joined:
			named = value
		case o.Flags[i] == "--settings" && i+1 < len(o.Flags):
			i++
			named = o.Flags[i]
		default:
			others = append(others, o.Flags[i])
		}
	}
	text := []byte(named)
	if !strings.HasPrefix(strings.TrimSpace(named), "{") {
		if o.As != nil || o.Box != nil {
			return nil, nil, os.ErrPermission
		}
		if !filepath.IsAbs(named) {
			named = filepath.Join(orHere(o.Dir), named)
		}
		if text, err = disk.Read(named); err != nil {
			return nil, nil, err
		}
	}
	return settings, others, json.Unmarshal(text, &settings)
}

const claudeBudgetFlag = "--max-budget-usd"

// claudeHolds is the amount at which the CLI must stop: what is left, or "" if its user has set a lower one. It is
// rounded up, so when the CLI stops, at least what was left has been spent.
func claudeHolds(o Options) string {
	if o.Left.CostUSD <= 0 {
		return ""
	}
	for i, flag := range o.Flags {
		value, joined := strings.CutPrefix(flag, claudeBudgetFlag+"=")
		if flag == claudeBudgetFlag && i+1 < len(o.Flags) {
			value, joined = o.Flags[i+1], true
		}
		if own, err := strconv.ParseFloat(value, 64); joined && err == nil && own <= o.Left.CostUSD {
			return ""
		}
	}
	return strconv.FormatFloat(math.Ceil(o.Left.CostUSD*1e4)/1e4, 'f', -1, 64)
}

// claudeState may have a key in it; what else is in it are the user's servers, which count only with the repository's.
const claudeState = ".claude.json"
