package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/stream"
	disk "github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// codex is OpenAI's Codex: `codex exec` with the prompt on standard input, events as JSON lines. It tells no cost.
//
// It works in its own sandbox, which Options.Flags may choose or switch off, but not for a reviewer. A command that the
// sandbox refuses leaves no trace in its events, and where no sandbox can be made (a container that forbids it) it
// refuses all. Of a home in the temporary directory it warns on standard error; some versions refuse all there too. The
// repository's .codex directory is kept out, and with it AGENTS.md, which the prompt names; its skills (.codex/skills,
// .agents/skills) are not. Hooks are arguments, in the place of those that its user has for the same event.
var codex = dialect{
	name: "codex",
	keys: []string{"CODEX_API_KEY", "OPENAI_API_KEY"},
	pass: []string{"CODEX_HOME", "CODEX_CA_CERTIFICATE", "OPENAI_BASE_URL", "OPENAI_ORGANIZATION",
		"OPENAI_PROJECT"},
	arguments:      codexArguments,
	environment:    codexEnvironment,
	gateway:        &gatewayConfig{codexCarry, codexReach, nil},
	prepare:        codexFiles,
	maxPromptBytes: 1 << 20, // characters; it refuses more
	login:          codexAccount,
	needs: sandboxNeeds{
		hosts: []string{"api.openai.com", "auth.openai.com", "chatgpt.com"},
		files: slices.Concat(shared(".codex/auth.json"),
			shown(".codex/config.toml", ".codex/AGENTS.md", ".codex/prompts", ".codex/rules", ".codex/skills")),
		moves: true,
	},
	output: output{
		decode:    stream.NewCodex,
		counts:    true,
		ends:      true,
		readRetry: codexHears,
		phrases: []phrase{
			{loop.MaxTurns, lazy(`reason: max_output_tokens`)},
			{loop.Declined, lazy(`reason: content_filter`)},
			{loop.Auth, lazy(`Missing environment variable`)},
			{loop.OutOfOrder, lazy(`high demand, which may cause temporary errors`)}, // which is how it words a status 500
			{loop.Rejected, lazy(`(?i)^[^:]* stop=: model: \S+$|not inside a trusted directory|error loading config|` +
				`required mcp servers failed|failed to read model instructions|no rollout found|invalid_json_schema`)},
		},
	},
}

var codexAccount = login{install: "npm install -g @openai/codex", how: "set OPENAI_API_KEY, or run: codex login",
	file: "auth.json", dir: ".codex", dirFrom: "CODEX_HOME"}

const codexSchema = "schema.json"

// codexFiles: it takes a schema as a file, and leaves its last words in one.
func codexFiles(t *turnInput) error {
	if t.Schema == "" {
		return nil
	}
	return t.file(codexSchema, t.Schema)
}

func codexArguments(t *turnInput) []string {
	args := slices.Concat([]string{"exec"}, codexFlags(t),
		[]string{"--skip-git-repo-check", "-c", "analytics.enabled=false", "-c", codexTrust(t.Options)})
	args = append(args, codexHooks(t.Options)...)
	args = append(args, codexProvider(t)...)
	if t.Text {
		args = append(args, "--color", "never", "-o", t.path(answerFile))
	} else {
		args = append(args, "--json")
	}
	switch {
	case t.Box != nil: // one sandbox in another often cannot be made, and then it refuses every command
		args = append(args, "--dangerously-bypass-approvals-and-sandbox")
	case t.reads(): // it has no way to be without its shell
		args = append(args, "--sandbox", "read-only")
	case !slices.ContainsFunc(t.Flags, func(flag string) bool { return codexSandbox(flag) != 0 }):
		args = append(args, "--sandbox", "workspace-write")
	}
	if t.Model != "" {
		args = append(args, "-m", t.Model)
	}
	if t.Schema != "" {
		args = append(args, "--output-schema", t.path(codexSchema))
	}
	return append(args, "-")
}

// codexTrust says whether the repository's own settings count: by default not, even when the user has trusted the
// directory before.
func codexTrust(o Options) string {
	level := map[bool]string{true: "trusted", false: "untrusted"}[o.AgentSettings]
	dirs := []string{orHere(o.Dir)}
	if real, err := filepath.EvalSymlinks(dirs[0]); err == nil && real != dirs[0] {
		dirs = append(dirs, real)
	}
	var entries []string
	for _, dir := range dirs {
		quoted, _ := json.Marshal(dir) // which is a string of TOML too
		entries = append(entries, string(quoted)+`={trust_level="`+level+`"}`)
	}
	return "projects={" + strings.Join(entries, ",") + "}"
}

// codexSandbox is how many arguments a flag is that chooses what the agent may write or run: 0 for any other flag, 2
// when a value follows.
func codexSandbox(flag string) int {
	switch flag {
	case "--dangerously-bypass-approvals-and-sandbox", "--yolo", "--approve-for-me", "--full-auto":
		return 1
	case "-s", "--sandbox":
		return 2
	}
	if strings.HasPrefix(flag, "--sandbox=") || strings.HasPrefix(flag, "-s") && !strings.HasPrefix(flag, "--") {
		return 1
	}
	return 0
}

// codexFlags are the user's flags, for a reviewer without those that let it write: given both, codex would obey them
// rather than ours. In our sandbox it has none of its own.
func codexFlags(t *turnInput) []string {
	o := t.Options
	if !o.reads() && o.Box == nil {
		return o.Flags
	}
	var flags []string
	for i := 0; i < len(o.Flags); i++ {
		flag := o.Flags[i]
		switch n := codexSandbox(flag); {
		case n > 0:
			i += n - 1
		case !o.reads():
			flags = append(flags, flag)
		case flag == "--add-dir":
			i++
		case flag == "--dangerously-bypass-hook-trust", flag == "--trust", strings.HasPrefix(flag, "--add-dir="):
		default:
			flags = append(flags, flag)
		}
	}
	return flags
}

// codexEnvironment: `codex exec` reads a key only by its own name, and logs in with none otherwise.
func codexEnvironment(o Options) []string {
	env := []string{"CODEX_NON_INTERACTIVE=1", "RUST_LOG=" + codexLog}
	if o.Keys["CODEX_API_KEY"] == "" && o.Keys["OPENAI_API_KEY"] != "" {
		env = append(env, "CODEX_API_KEY="+o.Keys["OPENAI_API_KEY"])
	}
	return env
}

var (
	// codexElsewhere are settings by which codex asks another provider, as a line of its settings or the value of -c.
	codexElsewhere = lazy(`(?m)^\s*(model_provider|openai_base_url|profile)\s*=`)
	// codexElsewhereFlag are flags by which it does.
	codexElsewhereFlag = lazy(`^(-p|--profile|--profile=.*|-p[^-].*|--oss|--local-provider.*)$|` +
		`^(-c|--config=)?\s*(model_provider|openai_base_url|profile)\s*=`)
)

func codexCarry(o Options) ([]Route, string) {
	for _, flag := range o.Flags {
		if codexElsewhereFlag.MatchString(flag) {
			return nil, "a flag of the agent names another provider"
		}
	}
	dir := proc.Value(o.Parent, "CODEX_HOME")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join((&turnInput{Options: o}).home(), ".codex")
	}
	if text, err := disk.Read(filepath.Join(dir, "config.toml")); err == nil && codexElsewhere.MatchString(string(text)) {
		return nil, "codex's own settings name a provider"
	}
	key, where, why := cmp.Or(o.Keys["CODEX_API_KEY"], o.Keys["OPENAI_API_KEY"]), "", ""
	if key == "" {
		key, where, why = codexLogin(o)
	}
	r, bad := openai.only(o, "", key, where)
	if why = cmp.Or(bad, why); key == "" || why != "" {
		return nil, why
	}
	r.Formats = []string{responsesFormat}
	return []Route{r}, ""
}

// codexLogin is the key that codex has saved, and where; or why the login there cannot use the gateway. A file
// without a word on how it logs in goes by its key, if it has one.
func codexLogin(o Options) (key, where, why string) {
	saved, where := codexAccount.saved(o)
	key = saved.Get("OPENAI_API_KEY").Str
	switch mode := saved.Get("auth_mode").Str; {
	case mode == "apikey", mode == "" && key != "":
		return key, where, ""
	case saved.Get("tokens").IsObject() || mode != "":
		return "", "", "the login in " + where + " is one of ChatGPT's, which only codex can use: set OPENAI_API_KEY, or " +
			"log in by running: codex login --with-api-key"
	}
	return "", "", ""
}

// codexBearer is the variable that the provider's settings name. The commands that codex runs do not get it.
const codexBearer = "RALPH_TURN"

func codexReach(t *turnInput) []string { return []string{codexBearer + "=" + t.way.Bearer()} }

// codexProvider makes the gateway codex's provider. Its other ways out ask hosts that have nothing to do with the turn.
func codexProvider(t *turnInput) []string {
	if t.way == nil {
		return nil
	}
	provider := fmt.Sprintf(`model_providers.ralph={name="ralph",base_url="%s/v1",wire_api="responses",env_key="%s"}`,
		strings.TrimRight(t.at(""), "/"), codexBearer)
	return []string{"-c", "model_provider=ralph", "-c", provider,
		"-c", `shell_environment_policy.exclude=["` + codexBearer + `"]`, "-c", "features.plugins=false"}
}

// codexHooks are hooks as arguments. They count without being trusted by hand; those of a repository that is not
// trusted do not.
func codexHooks(o Options) []string {
	hooks := o.hooks()
	if len(hooks) == 0 {
		return nil
	}
	args := []string{"--dangerously-bypass-hook-trust"}
	for _, event := range slices.Sorted(maps.Keys(hooks)) {
		args = append(args, "-c", "hooks."+event+"="+toml(hooks[event]))
	}
	return args
}

// toml is a value of JSON in TOML, on one line. What JSON says in strings, TOML reads alike.
func toml(value any) string {
	var parts []string
	switch v := value.(type) {
	case []any:
		for _, inner := range v {
			parts = append(parts, toml(inner))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if v[name] != nil { // TOML has no null
				parts = append(parts, toml(name)+"="+toml(v[name]))
			}
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	text, _ := json.Marshal(value)
	return string(text)
}

// codexLog is what its log tells at this level: of every request that it tries again, how long it waits before that.
const codexLog = "error,codex_core::responses_retry=warn"

var codexRetry = lazy(
	`codex_core::responses_retry: .*\((\d+)/(\d+) in ([\d.]+)(s|ms|µs|ns)\)\.\.\.(?:.* sampling_error=(.*))?`)

// codexOwn are lines of its log, and what it says on standard error of every run.
var codexOwn = lazy(`codex_core::responses_retry:|^Reading (additional input|prompt) from stdin\.\.\.\s*$`)

// codexHears reads "… codex_core::responses_retry: stream disconnected - retrying sampling request (1/5 in 7199.9s)...
// … sampling_error=…".
func codexHears(line string) (a stream.Attempt, ours bool) {
	m := codexRetry.FindStringSubmatch(line)
	if m == nil {
		return a, codexOwn.MatchString(line)
	}
	a = stream.Attempt{Number: number(m[1]), Most: number(m[2]), Status: stream.StatusIn(m[5]), Text: oneLine(m[5])}
	if m[4] == "s" {
		seconds, _ := strconv.ParseFloat(m[3], 64)
		a.Delay = time.Duration(min(seconds, mostWait.Seconds()) * float64(time.Second))
	}
	return a, true
}
