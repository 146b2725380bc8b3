//go:build unix

package agent_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/fake/archive"
	"github.com/ralph-loop/ralph/internal/loop"
)

// call is a way to call an agent.
type call struct {
	agent, name string
	o           agent.Options
	carried     bool              // its gateway is required
	home        map[string]string // files in the home of its user
}

// hooked are options of a run that has hooks.
func hooked(flags ...string) agent.Options {
	return agent.Options{Rights: agent.Rights{Hooks: []byte(ourHooks)}, Flags: flags}
}

func flagged(flags ...string) agent.Options { return agent.Options{Flags: flags} }

func reading(o agent.Options) agent.Options { o.ReadOnly = true; return o }

func left(usd float64, flags ...string) agent.Options {
	return agent.Options{Bounds: agent.Bounds{Left: loop.Left{CostUSD: usd}}, Flags: flags}
}

func keyed(keys map[string]string, parent ...string) agent.Options {
	return agent.Options{Host: agent.Host{Keys: keys, Parent: parent}}
}

// anyones is an environment with something for every agent, and more that none may have.
var anyones = []string{"LANG=C", "GITHUB_TOKEN=t", "GH_TOKEN=t", "RALPH_X=x", "INPUT_AGENT=a", "SOMETHING=s",
	"ANTHROPIC_API_KEY=ours", "CODEX_API_KEY=ours", "GEMINI_API_KEY=ours", "AMP_API_KEY=ours", "AMP_URL=http://u",
	"ANTHROPIC_BASE_URL=http://u", "CLAUDE_CODE_MAX_RETRIES=2", "OPENAI_BASE_URL=http://u/v1", "NO_PROXY=intern.example",
	`OPENCODE_PERMISSION="allow"`}

// everyAgents are the ways to call each agent.
var everyAgents = map[string]agent.Options{
	"plain":               {},
	"flags and a model":   {Flags: []string{"--own", "b c"}, Model: "m"},
	"reading":             reading(hooked()),
	"no tools":            {Rights: agent.Rights{NoTools: true, Hooks: []byte(ourHooks)}},
	"settings":            {Rights: agent.Rights{AgentSettings: true}},
	"settings, reading":   {Rights: agent.Rights{AgentSettings: true, ReadOnly: true}},
	"text, a form":        {Answer: agent.Answer{Text: true, Schema: `{"a":1}`}},
	"a form":              {Answer: agent.Answer{Schema: `{"a":1}`}},
	"hooks":               hooked(),
	"hooks and settings":  {Rights: agent.Rights{AgentSettings: true, Hooks: []byte(ourHooks)}},
	"a sandbox":           {Host: agent.Host{Box: noBox{}}, Flags: []string{"--sandbox", "workspace-write"}},
	"a sandbox, reading":  reading(agent.Options{Host: agent.Host{Box: noBox{}}}),
	"keys, reading":       {Rights: agent.Rights{ReadOnly: true}, Host: agent.Host{Keys: everyKey, Parent: anyones, Extra: []string{"ASKED=for"}}},
	"carried":             {Host: agent.Host{Keys: everyKey, Parent: anyones}},
	"carried, settings":   {Host: agent.Host{Keys: everyKey}, Rights: agent.Rights{AgentSettings: true}},
	"carried, its own":    {Host: agent.Host{Keys: everyKey, Allow: []string{"AMP_API_KEY", "MINE"}, Parent: []string{"AMP_API_KEY=amp-real", "MINE=sk-openai-real"}}},
	"carried without key": {},
}

const (
	claudeLogin   = ".claude/.credentials.json"
	codexLogin    = ".codex/auth.json"
	opencodeLogin = ".local/share/opencode/auth.json"
	saves         = `{"auth_mode":"apikey","OPENAI_API_KEY":"sk-saved-real","tokens":null}`
)

// theirGemini is what a user of gemini has.
var theirGemini = map[string]string{
	".gemini/settings.json":       "{// mine\n\"model\":{\"name\":\"mine\"},\"security\":{\"folderTrust\":{\"enabled\":true}},}",
	".gemini/trustedFolders.json": "{}", ".gemini/.env": "A=b", ".gemini/oauth_creds.json": "login", ".gemini/tmp/session": "kept",
	".gemini/extensions/theirs/gemini-extension.json": "{}",
}

// calls are the ways that say something to one agent.
var calls = []call{
	{agent: "claude", name: "hooks, its user's settings", o: hooked("--settings", theirHooks)},
	{agent: "claude", name: "hooks, its user's settings in one word", o: hooked("--settings=" + theirHooks)},
	{agent: "claude", name: "hooks, its user's file", o: hooked("--settings", "theirs.json")},
	{agent: "claude", name: "hooks, its user's file in a sandbox", o: agent.Options{Rights: agent.Rights{Hooks: []byte(ourHooks)},
		Host: agent.Host{Box: noBox{}}, Flags: []string{"--settings", "theirs.json"}}},
	{agent: "claude", name: "hooks, a file that does not exist", o: hooked("--settings", "absent.json")},
	{agent: "claude", name: "hooks, no settings", o: hooked("--settings", "{]")},
	{agent: "claude", name: "hooks, its user's settings, reading", o: reading(hooked("--settings", theirHooks))},
	{agent: "claude", name: "no hook in hooks", o: agent.Options{Rights: agent.Rights{Hooks: []byte(`{"hooks":{}}`)}}},
	{agent: "claude", name: "3.25 dollars left", o: left(3.25)},
	{agent: "claude", name: "0.00001 dollars left", o: left(0.00001)},
	{agent: "claude", name: "3 dollars left, its user says 2", o: left(3, "--max-budget-usd=2")},
	{agent: "claude", name: "3 dollars left, its user says 9", o: left(3, "--max-budget-usd", "9")},
	{agent: "claude", name: "3 dollars left, its user says no sum", o: left(3, "--max-budget-usd")},
	{agent: "claude", name: "a subscription at a proxy", carried: true, o: keyed(map[string]string{"CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-real"},
		"ANTHROPIC_BASE_URL=https://models.example/claude/", "ANTHROPIC_CUSTOM_HEADERS=x-team: header-real\n\nx-b: c")},
	{agent: "claude", name: "carried, its user's settings", carried: true, o: agent.Options{Host: agent.Host{Keys: everyKey},
		Flags: []string{"--settings", `{"model":"x"}`}}},
	{agent: "claude", name: "a login", carried: true,
		home: map[string]string{claudeLogin: `{"claudeAiOauth":{"accessToken":"sk-saved-real","expiresAt":4102444800000}}`}},
	{agent: "claude", name: "a key beside a login", carried: true, o: keyed(everyKey),
		home: map[string]string{claudeLogin: `{"claudeAiOauth":{"accessToken":"sk-saved-real","expiresAt":1}}`}},
	{agent: "claude", name: "an unknown login", carried: true, home: map[string]string{claudeLogin: `{"other":{"accessToken":"t"}}`}},
	{agent: "claude", name: "Bedrock", carried: true, o: agent.Options{Host: agent.Host{Keys: everyKey, Allow: []string{"CLAUDE_CODE_*"},
		Parent: []string{"CLAUDE_CODE_USE_BEDROCK=1"}}}},
	{agent: "claude", name: "Bedrock that it does not get", carried: true, o: keyed(everyKey, "CLAUDE_CODE_USE_BEDROCK=1")},
	{agent: "claude", name: "no URL", carried: true, o: keyed(everyKey, "ANTHROPIC_BASE_URL=proxy:80")},

	{agent: "codex", name: "no sandbox", o: flagged("--dangerously-bypass-approvals-and-sandbox")},
	{agent: "codex", name: "another sandbox", o: flagged("-s", "danger-full-access")},
	{agent: "codex", name: "reading, whatever its user says", o: reading(flagged("--yolo", "-c", "a=b", "--sandbox", "danger-full-access",
		"--sandbox=workspace-write", "-sworkspace-write", "--add-dir", "/", "--approve-for-me", "--dangerously-bypass-hook-trust", "--ephemeral"))},
	{agent: "codex", name: "its own key", o: keyed(map[string]string{"OPENAI_API_KEY": "o", "CODEX_API_KEY": "c"})},
	{agent: "codex", name: "an organization at a proxy", carried: true,
		o: keyed(everyKey, "OPENAI_BASE_URL=http://proxy.example/v1/", "OPENAI_ORGANIZATION=org-ours")},
	{agent: "codex", name: "a saved key", carried: true, home: map[string]string{codexLogin: saves}},
	{agent: "codex", name: "a login", carried: true, home: map[string]string{codexLogin: `{"OPENAI_API_KEY":null,"tokens":{"access_token":"t"}}`}},
	{agent: "codex", name: "a key beside a login", carried: true, o: keyed(everyKey),
		home: map[string]string{codexLogin: `{"tokens":{"access_token":"t"}}`}},
	{agent: "codex", name: "a provider in its settings", carried: true, o: keyed(everyKey),
		home: map[string]string{".codex/config.toml": "# mine\nmodel_provider = \"azure\"\n"}},
	{agent: "codex", name: "no provider in its settings", carried: true, o: keyed(everyKey),
		home: map[string]string{".codex/config.toml": "model = \"gpt-5.5\"\n"}},
	{agent: "codex", name: "a provider as a flag", carried: true,
		o: agent.Options{Host: agent.Host{Keys: everyKey}, Flags: []string{"-c", "model_provider=x"}}},
	{agent: "codex", name: "a profile", carried: true, o: agent.Options{Host: agent.Host{Keys: everyKey}, Flags: []string{"--profile", "x"}}},
	{agent: "codex", name: "another flag", carried: true,
		o: agent.Options{Host: agent.Host{Keys: everyKey}, Flags: []string{"-c", "model_reasoning_effort=low"}}},
	{agent: "codex", name: "another URL", carried: true, o: keyed(everyKey, "OPENAI_BASE_URL=https://x.example")},

	{agent: "gemini", name: "its user's home", o: keyed(map[string]string{"GEMINI_API_KEY": "k"}), home: theirGemini},
	{agent: "gemini", name: "its user's home, hooks", o: hooked(), home: theirGemini},
	{agent: "gemini", name: "its user's home, hooks and settings", home: theirGemini,
		o: agent.Options{Rights: agent.Rights{AgentSettings: true, Hooks: []byte(ourHooks)}}},
	{agent: "gemini", name: "headers", carried: true, o: keyed(everyKey, "GEMINI_CLI_CUSTOM_HEADERS=x-team: header-real, x-b: c,d")},
	{agent: "gemini", name: "Vertex", carried: true, o: keyed(map[string]string{"GOOGLE_API_KEY": "AIza-real"}, "GOOGLE_GENAI_USE_VERTEXAI=true")},
	{agent: "gemini", name: "Vertex without its key", carried: true, o: keyed(everyKey, "GOOGLE_GENAI_USE_VERTEXAI=true")},
	{agent: "gemini", name: "a login of Google's", carried: true, o: keyed(everyKey, "GOOGLE_GENAI_USE_GCA=true")},
	{agent: "gemini", name: "a saved key", carried: true, home: map[string]string{
		".gemini/.env": "# mine\nexport GEMINI_API_KEY = 'sk-saved-real'\nGEMINI_API_KEYS=x\n", ".env": "GEMINI_API_KEY=y"}},
	{agent: "gemini", name: "a key saved at home", carried: true, home: map[string]string{".env": "GEMINI_API_KEY=sk-saved-real # mine\n"}},
	{agent: "gemini", name: "a login", carried: true, home: map[string]string{".gemini/oauth_creds.json": `{"access_token":"t"}`}},
	{agent: "gemini", name: "another way to log in", carried: true, o: keyed(everyKey),
		home: map[string]string{".gemini/settings.json": "// mine\n{\"security\":{\"auth\":{\"selectedType\":\"oauth-personal\"}}}"}},

	{agent: "opencode", name: "a model's provider", carried: true, o: agent.Options{Model: "openai/gpt-5.5", Host: agent.Host{Keys: everyKey}}},
	{agent: "opencode", name: "a saved key", carried: true, o: agent.Options{Model: "openai/gpt-5.5"}, home: map[string]string{
		opencodeLogin: `{"groq":{"type":"api","key":"x"},"openai":{"type":"api","key":"sk-saved-real"}}`}},
	{agent: "opencode", name: "a saved key for another model", carried: true, home: map[string]string{
		opencodeLogin: `{"google":{"type":"api","key":"k"},"openrouter":{"type":"api"}}`}},
	{agent: "opencode", name: "a login", carried: true, home: map[string]string{opencodeLogin: `{"anthropic":{"type":"oauth"}}`}},
	{agent: "opencode", name: "a provider in its settings", carried: true, o: keyed(everyKey),
		home: map[string]string{".config/opencode/opencode.jsonc": `{"provider":{"mine":{"options":{"apiKey":"x"}}},}`}},
	{agent: "opencode", name: "no provider in its settings", carried: true, o: keyed(everyKey),
		home: map[string]string{".config/opencode/opencode.json": `{"theme":"dark"}`}},
	{agent: "opencode", name: "a model without a key", carried: true, o: agent.Options{Model: "groq/x", Host: agent.Host{Keys: everyKey}}},
	{agent: "opencode", name: "OpenRouter", carried: true, o: keyed(map[string]string{"OPENROUTER_API_KEY": "k"})},

	{agent: "amp", name: "a prompt like a flag"},

	{agent: "mine", name: "all that others have", o: agent.Options{Command: "./mine", Flags: []string{"-a", "b c"}, Model: "ignored",
		Rights: agent.Rights{ReadOnly: true, Hooks: []byte(ourHooks)}, Answer: agent.Answer{Schema: "{}"},
		Host: agent.Host{Keys: map[string]string{"MY_API_KEY": "key"}, Parent: append(anyones, "MY_API_KEY=ours")}}},
	{agent: "mine", name: "carried", carried: true, o: agent.Options{Command: "./mine", Host: agent.Host{Keys: everyKey, Parent: anyones}}},
	{agent: "mine", name: "carried without key", carried: true, o: agent.Options{Command: "./mine"}},
}

// TestCalls holds how agents are called, as testdata/calls.txtar has it, which -update writes: their arguments, their
// environment, what they read on standard input, the files that are theirs for the turn, and where the gateway leads.
func TestCalls(t *testing.T) {
	t.Parallel()
	golden := archive.Files(t, "testdata/calls.txtar")
	for name, o := range everyAgents {
		for _, a := range agent.Names() {
			calls = append(calls, call{agent: a, name: name, o: o, carried: strings.HasPrefix(name, "carried")})
		}
	}
	for _, c := range calls {
		t.Run(c.agent+"/"+c.name, func(t *testing.T) {
			t.Parallel()
			got, entry := c.made(t), c.agent+"/"+c.name
			if *update {
				if err := archive.Put("testdata/calls.txtar", entry, txtar.File{Name: entry, Data: []byte(got)}); err != nil {
					t.Fatal(err)
				}
			} else if want, known := golden["calls/"+entry]; !known || got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// noteFiles writes down what is in the directory of the turn, which an argument or the environment names, and leaves
// something there and in the user's own files.
const noteFiles = `: > "$HERE/files"
D=$({ printf '%s\n' "$@"; env; } | grep -o '/[^ ={}:"'\'']*/ralph-[^/]*/turn' | head -1)
echo "$D" > "$HERE/turn"
cd "${D:-/nowhere}" 2>/dev/null || exit 0
find -L . -type f | LC_ALL=C sort | while read -r f; do echo "$f: $(cat "$f")"; done > "$HERE/files"
find . -type l | LC_ALL=C sort | while read -r f; do echo "$f -> $(readlink "$f")"; done >> "$HERE/files"
echo new > .gemini/tmp/more; echo said > "${TMPDIR:-.}/report"`

// made calls the agent, and writes down how.
func (c call) made(t *testing.T) string {
	t.Helper()
	f, g, home, prompt := newFake(t, c.agent, noteFiles), &gateway{}, t.TempDir(), "Do it: a $(b) 'c'\n\"d\""
	lay(t, home, c.home)
	lay(t, f.dir, map[string]string{"theirs.json": theirHooks})
	o := c.o
	o.Home, o.Timeout = home, time.Minute
	if c.name == "a prompt like a flag" {
		prompt = "--help me,\x00 please"
	}
	var out strings.Builder
	if c.carried {
		support := agent.CheckGateway(f.options(o))
		fmt.Fprintf(&out, "credential: %s\ncannot be carried: %s\n", support.Credential, support.Why)
		if support.Unsure != (c.agent == "mine") || (support.Why == "") != (len(support.Routes) > 0) {
			t.Errorf("support = %+v", support)
		}
		if o.Gateway = g; support.Why != "" {
			return strings.ReplaceAll(out.String(), home, "HOME")
		}
	}
	f.turn(t, o, prompt)
	for _, r := range g.routes {
		renewed := r.Renew != nil
		r.Renew, r.Ends = nil, r.Ends.UTC()
		fmt.Fprintf(&out, "route: %+v, renewed: %t\n", r, renewed)
	}
	if c.carried && !g.closed {
		t.Error("the gateway is left open")
	}
	env := f.env(t)
	fmt.Fprintf(&out, "arguments: %q\nenvironment: %q\nstandard input: %q\n%s", f.argv(t),
		slices.DeleteFunc(slices.Clone(env), func(e string) bool { return e == "IS_SANDBOX=1" }), f.read(t, "stdin"), f.read(t, "files"))
	if slices.Contains(env, "IS_SANDBOX=1") != (c.agent == "claude" && os.Geteuid() == 0) {
		t.Errorf("environment: %q", env) // claude works as root only in a sandbox
	}
	for _, secret := range secrets {
		if c.carried && strings.Contains(strings.Join(append(env, f.argv(t)...), "\n")+f.read(t, "files"), secret) {
			t.Errorf("the agent has %s", secret)
		}
	}
	turn := strings.TrimSpace(f.read(t, "turn"))
	if _, err := os.Stat(turn); turn != "" && !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left: %v", turn, err)
	}
	for name, text := range c.home {
		if raw, err := os.ReadFile(filepath.Join(home, name)); string(raw) != text {
			t.Errorf("its user's %s is %q now, %v", name, raw, err)
		}
	}
	if raw, err := os.ReadFile(filepath.Join(home, ".gemini/tmp/more")); c.home[".gemini/tmp/session"] != "" && string(raw) != "new\n" {
		t.Errorf("what it keeps is lost: %q, %v", raw, err)
	}
	text := strings.NewReplacer(cmp.Or(turn, "TURN"), "TURN", f.dir, "HERE", home, "HOME").Replace(out.String())
	return strings.ToValidUTF8(text, "")
}
