//go:build unix

package agent_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/loop"
)

// gateway notes what it is asked to carry, and carries nothing.
type gateway struct {
	mu      sync.Mutex
	routes  []agent.Route
	used    loop.Usage
	refuses string
	closed  bool
	fails   error
}

func (g *gateway) Open(routes []agent.Route, _ loop.Left) (agent.TurnGateway, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.routes = routes
	return g, g.fails
}

func (g *gateway) Prices(model string) bool  { return model != "unpriced" }
func (g *gateway) URL() string               { return "http://127.0.0.1:4567" }
func (g *gateway) Bearer() string            { return "bearer-of-the-turn" }
func (g *gateway) Usage() (loop.Usage, bool) { return g.used, g.used != loop.Usage{} }
func (g *gateway) Refused() string           { return g.refuses }
func (g *gateway) Close() error              { g.closed = true; return nil }

// The keys of everybody, as a person may have them in the environment.
var everyKey = map[string]string{"ANTHROPIC_API_KEY": "sk-ant-real", "OPENAI_API_KEY": "sk-openai-real",
	"GEMINI_API_KEY": "AIza-real", "AMP_API_KEY": "amp-real"}

// secrets are all that no agent may see which is carried.
var secrets = []string{"sk-ant-real", "sk-openai-real", "AIza-real", "amp-real", "header-real"}

// TestCarriedEnvironment: what an agent is told of its gateway, and to where that carries it.
func TestCarriedEnvironment(t *testing.T) {
	t.Parallel()
	anthropic := agent.Route{Base: "https://api.anthropic.com", Header: "x-api-key", Value: "sk-ant-real",
		Formats: []string{"anthropic"}}
	for _, c := range []struct {
		name, command string
		o             agent.Options
		env           []string // NAME=value, or NAME= for none
		args          string   // what the arguments hold
		routes        []agent.Route
	}{
		{"claude with a key", "claude", agent.Options{Host: agent.Host{Keys: everyKey}},
			[]string{"ANTHROPIC_BASE_URL=http://127.0.0.1:4567", "ANTHROPIC_API_KEY=",
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "OPENAI_API_KEY=", "NO_PROXY=127.0.0.1,localhost"},
			`"apiKeyHelper":"cat '/`, []agent.Route{anthropic}},
		{"claude with a subscription, at its owner's proxy", "claude", agent.Options{
			Host: agent.Host{Keys: map[string]string{"CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-real"}, Parent: []string{"ANTHROPIC_BASE_URL=https://models.example/claude/", "NO_PROXY=intern.example",
				"ANTHROPIC_CUSTOM_HEADERS=x-team: header-real\n\nx-b: c"}},
		},
			[]string{"ANTHROPIC_BASE_URL=http://127.0.0.1:4567", "CLAUDE_CODE_OAUTH_TOKEN=bearer-of-the-turn",
				"ANTHROPIC_API_KEY=", "ANTHROPIC_CUSTOM_HEADERS=", "NO_PROXY=intern.example,127.0.0.1,localhost"}, "",
			[]agent.Route{{Base: "https://models.example/claude", Header: "authorization", Value: "Bearer sk-ant-real",
				Formats: []string{"anthropic"}, Extra: []string{"x-team: header-real", "x-b: c"}}}},
		{"claude whose settings hand keys on", "claude", agent.Options{Host: agent.Host{Keys: everyKey, Allow: []string{"AMP_API_KEY", "MINE"}, Parent: []string{"AMP_API_KEY=amp-real", "MINE=sk-openai-real"}}},
			[]string{"ANTHROPIC_API_KEY=", "AMP_API_KEY=", "MINE="}, "", []agent.Route{anthropic}},
		{"codex", "codex", agent.Options{Host: agent.Host{Keys: everyKey, Parent: []string{"OPENAI_BASE_URL=http://proxy.example/v1/",
			"OPENAI_ORGANIZATION=org-ours"}}},
			[]string{"RALPH_TURN=bearer-of-the-turn", "OPENAI_API_KEY=", "CODEX_API_KEY=", "OPENAI_BASE_URL="},
			`-c model_provider=ralph -c model_providers.ralph={name="ralph",base_url="http://127.0.0.1:4567/v1",` +
				`wire_api="responses",env_key="RALPH_TURN"} -c shell_environment_policy.exclude=["RALPH_TURN"] ` +
				`-c features.plugins=false`,
			[]agent.Route{{Base: "http://proxy.example", Header: "authorization", Value: "Bearer sk-openai-real",
				Formats: []string{"openai-responses"}, Extra: []string{"OpenAI-Organization: org-ours"}}}},
		{"gemini", "gemini", agent.Options{Host: agent.Host{Keys: everyKey, Parent: []string{"GEMINI_CLI_CUSTOM_HEADERS=x-team: header-real, x-b: c,d"}}},
			[]string{"GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:4567", "GEMINI_API_KEY=bearer-of-the-turn",
				"GOOGLE_VERTEX_BASE_URL=http://127.0.0.1:4567", "GEMINI_CLI_CUSTOM_HEADERS="}, "",
			[]agent.Route{{Base: "https://generativelanguage.googleapis.com", Header: "x-goog-api-key", Value: "AIza-real",
				Formats: []string{"gemini"}, Extra: []string{"x-team: header-real", "x-b: c,d"}}}},
		{"gemini at Vertex", "gemini", agent.Options{Host: agent.Host{Keys: map[string]string{"GOOGLE_API_KEY": "AIza-real"}, Parent: []string{"GOOGLE_GENAI_USE_VERTEXAI=true"}}},
			[]string{"GOOGLE_API_KEY=bearer-of-the-turn", "GOOGLE_GENAI_USE_VERTEXAI=true"}, "",
			[]agent.Route{{Base: "https://aiplatform.googleapis.com", Header: "x-goog-api-key", Value: "AIza-real",
				Formats: []string{"gemini"}}}},
		{"opencode", "opencode", agent.Options{Model: "openai/gpt-5.5", Host: agent.Host{Keys: map[string]string{
			"OPENAI_API_KEY": "sk-openai-real", "ANTHROPIC_API_KEY": "sk-ant-real"}}},
			[]string{"OPENAI_API_KEY=", "ANTHROPIC_API_KEY=", "OPENCODE_DISABLE_PROJECT_CONFIG=1"}, "",
			[]agent.Route{{Name: "anthropic", Base: "https://api.anthropic.com", Header: "x-api-key", Value: "sk-ant-real",
				Formats: []string{"anthropic"}}, {Name: "openai", Base: "https://api.openai.com", Header: "authorization",
				Value: "Bearer sk-openai-real", Formats: []string{"openai-responses", "openai-chat"}}}},
		{"any program", "mine", agent.Options{Host: agent.Host{Keys: everyKey}},
			[]string{"ANTHROPIC_BASE_URL=http://127.0.0.1:4567/anthropic", "ANTHROPIC_API_KEY=bearer-of-the-turn",
				"OPENAI_BASE_URL=http://127.0.0.1:4567/openai/v1", "OPENAI_API_KEY=bearer-of-the-turn",
				"GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:4567/google", "GEMINI_API_KEY=bearer-of-the-turn", "AMP_API_KEY="}, "",
			[]agent.Route{{Name: "anthropic", Base: "https://api.anthropic.com", Header: "x-api-key", Value: "sk-ant-real",
				Formats: []string{"anthropic"}}, {Name: "openai", Base: "https://api.openai.com", Header: "authorization",
				Value: "Bearer sk-openai-real", Formats: []string{"openai-responses", "openai-chat"}},
				{Name: "google", Base: "https://generativelanguage.googleapis.com", Header: "x-goog-api-key", Value: "AIza-real",
					Formats: []string{"gemini"}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f, g := newFake(t, c.command, ""), &gateway{}
			o := c.o
			o.Gateway, o.Home = g, t.TempDir()
			f.turn(t, o, "Do it.")
			if !reflect.DeepEqual(g.routes, c.routes) || !g.closed {
				t.Errorf("carried to %+v\nwant       %+v, closed: %t", g.routes, c.routes, g.closed)
			}
			env, argv := f.env(t), strings.Join(f.argv(t), " ")
			for _, want := range c.env {
				name, value, _ := strings.Cut(want, "=")
				has := slices.ContainsFunc(env, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
				if value == "" && has || value != "" && !slices.Contains(env, want) {
					t.Errorf("the environment does not say %q: %q", want, env)
				}
			}
			if !strings.Contains(argv, c.args) {
				t.Errorf("argv = %s\nwant   %s", argv, c.args)
			}
			for _, secret := range secrets {
				if strings.Contains(strings.Join(env, "\n")+argv, secret) {
					t.Errorf("%s is there: %q %s", secret, env, argv)
				}
			}
		})
	}
}

// The bearers of claude and opencode are in a file, which no tool of theirs inherits.
func TestCarriedInAFile(t *testing.T) {
	t.Parallel()
	for command, script := range map[string]string{
		"opencode": `cat "$(printf %s "$OPENCODE_CONFIG_CONTENT" | sed 's/.*{file:\([^}]*\)}.*/\1/')" > "$HERE/bearer"`,
		"claude":   `sh -c "$(printf %s "$*" | sed -n 's/.*"apiKeyHelper":"\([^"]*\)".*/\1/p')" > "$HERE/bearer"`,
	} {
		f := newFake(t, command, script)
		o := agent.Options{Host: agent.Host{Gateway: &gateway{}, Home: t.TempDir(), Keys: everyKey}}
		if command == "claude" {
			o.Flags = []string{"--settings", `{"model":"x"}`}
		}
		f.turn(t, o, "Do it.")
		if got := f.read(t, "bearer"); got != "bearer-of-the-turn" {
			t.Errorf("%s: bearer = %q", command, got)
		}
		if told := strings.Join(append(f.env(t), f.argv(t)...), "\n"); strings.Contains(told, "bearer-of-the-turn") {
			t.Errorf("%s: %s", command, told)
		}
	}
}

// gemini's settings are those of the turn, whatever its user's and the repository's say.
func TestCarriedGeminiSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file string
		o          agent.Options
	}{
		{"a home of the turn's own", "$GEMINI_CLI_HOME/.gemini/settings.json", agent.Options{}},
		{"over the repository's", "$GEMINI_CLI_SYSTEM_SETTINGS_PATH", agent.Options{Rights: agent.Rights{AgentSettings: true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, "gemini", `cat "`+c.file+`" > "$HERE/settings"`)
			o := c.o
			o.Gateway, o.Home, o.Keys = &gateway{}, t.TempDir(), everyKey
			f.turn(t, o, "Do it.")
			got := f.read(t, "settings")
			for _, want := range []string{`"selectedType":"gemini-api-key"`, `"usageStatisticsEnabled":false`,
				`"environmentVariableRedaction":{"allowed":[],"enabled":true}`} {
				if !strings.Contains(got, want) {
					t.Errorf("settings = %s, want %s", got, want)
				}
			}
		})
	}
}

// TestCarries: who can be carried, and why not.
func TestCarries(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for name, text := range map[string]string{
		"codex/.codex/config.toml":                 "# mine\nmodel_provider = \"azure\"\n",
		"plain/.codex/config.toml":                 "model = \"gpt-5.5\"\n",
		"gemini/.gemini/settings.json":             "// mine\n{\"security\":{\"auth\":{\"selectedType\":\"oauth-personal\"}}}",
		"opencode/.config/opencode/opencode.jsonc": `{"provider":{"mine":{"options":{"apiKey":"x"}}},}`,
		"plain/.config/opencode/opencode.json":     `{"theme":"dark"}`,
		"login/.claude/.credentials.json":          `{"claudeAiOauth":{"accessToken":"t"}}`,
		"login/.local/share/opencode/auth.json":    `{"anthropic":{"type":"oauth"}}`,
		"login/.codex/auth.json":                   `{"OPENAI_API_KEY":null,"tokens":{"access_token":"t"}}`,
		"login/.gemini/oauth_creds.json":           `{"access_token":"t"}`,
		"unread/.claude/.credentials.json":         `{"other":{"accessToken":"t"}}`,
		"saved/.env":                               "GEMINI_API_KEY=k # mine\n",
		"saved/.local/share/opencode/auth.json":    `{"google":{"type":"api","key":"k"},"openrouter":{"type":"api"}}`,
	} {
		path := filepath.Join(home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		o          agent.Options
		home       string
		why        string
		credential string
	}{
		{agent.Options{Command: "claude", Host: agent.Host{Keys: everyKey}}, "plain", "", "key in ANTHROPIC_API_KEY"},
		{agent.Options{Command: "/opt/bin/claude"}, "login", "", "login in ~/.claude/.credentials.json"},
		{agent.Options{Command: "claude"}, "unread", "the login in ~/.claude/.credentials.json cannot use the gateway: set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN, or log in by running: claude",
			"login in ~/.claude/.credentials.json"},
		{agent.Options{Command: "codex"}, "login", "the login in ~/.codex/auth.json is one of ChatGPT's, which only codex " +
			"can use: set OPENAI_API_KEY, or log in by running: codex login --with-api-key", "login in ~/.codex/auth.json"},
		{agent.Options{Command: "codex", Host: agent.Host{Keys: everyKey}}, "login", "", "key in OPENAI_API_KEY"},
		{agent.Options{Command: "gemini"}, "login", "the login in ~/.gemini/oauth_creds.json cannot use the gateway: " +
			"set GEMINI_API_KEY, or log in by running: gemini", "login in ~/.gemini/oauth_creds.json"},
		{agent.Options{Command: "gemini"}, "saved", "", "key in ~/.env"},
		{agent.Options{Command: "opencode"}, "saved", "the login for openrouter in ~/.local/share/opencode/auth.json " +
			"cannot be carried, and no model is named: name one of another provider in agent.model",
			"login in ~/.local/share/opencode/auth.json"},
		{agent.Options{Command: "opencode", Model: "google/x"}, "saved", "", "login in ~/.local/share/opencode/auth.json"},
		{agent.Options{Command: "claude"}, "plain", "no key for claude is in the environment", ""},
		{agent.Options{Command: "claude", Host: agent.Host{Keys: everyKey, Allow: []string{"CLAUDE_CODE_*"}, Parent: []string{"CLAUDE_CODE_USE_BEDROCK=1"}}}, "plain",
			"CLAUDE_CODE_USE_BEDROCK leads claude to another provider", "key in ANTHROPIC_API_KEY"},
		{agent.Options{Command: "claude", Host: agent.Host{Keys: everyKey, Parent: []string{"CLAUDE_CODE_USE_BEDROCK=1"}}}, "plain", "",
			"key in ANTHROPIC_API_KEY"},
		{agent.Options{Command: "claude", Host: agent.Host{Keys: everyKey, Parent: []string{"ANTHROPIC_BASE_URL=proxy:80"}}}, "plain",
			"ANTHROPIC_BASE_URL is no address of a web server", "key in ANTHROPIC_API_KEY"},
		{agent.Options{Command: "codex", Host: agent.Host{Keys: everyKey}}, "plain", "", "key in OPENAI_API_KEY"},
		{agent.Options{Command: "codex", Host: agent.Host{Keys: everyKey}}, "codex", "codex's own settings name a provider",
			"key in OPENAI_API_KEY"},
		{agent.Options{Command: "codex", Host: agent.Host{Keys: everyKey}, Flags: []string{"-c", "model_provider=x"}}, "plain",
			"a flag of the agent names another provider", "key in OPENAI_API_KEY"},
		{agent.Options{Command: "codex", Host: agent.Host{Keys: everyKey}, Flags: []string{"--profile", "x"}}, "plain",
			"a flag of the agent names another provider", "key in OPENAI_API_KEY"},
		{agent.Options{Command: "codex", Host: agent.Host{Keys: everyKey}, Flags: []string{"-c", "model_reasoning_effort=low"}}, "plain", "",
			"key in OPENAI_API_KEY"},
		{agent.Options{Command: "codex", Host: agent.Host{Keys: everyKey, Parent: []string{"OPENAI_BASE_URL=https://x.example"}}}, "plain",
			"OPENAI_BASE_URL does not end in /v1", "key in OPENAI_API_KEY"},
		{agent.Options{Command: "gemini", Host: agent.Host{Keys: everyKey}}, "plain", "", "key in GEMINI_API_KEY"},
		{agent.Options{Command: "gemini", Host: agent.Host{Keys: everyKey}}, "gemini",
			"gemini's own settings say that it logs in by oauth-personal", "key in GEMINI_API_KEY"},
		{agent.Options{Command: "gemini", Host: agent.Host{Keys: everyKey, Parent: []string{"GOOGLE_GENAI_USE_VERTEXAI=true"}}}, "plain",
			"no key for gemini is in the environment", "key in GEMINI_API_KEY"},
		{agent.Options{Command: "gemini", Host: agent.Host{Keys: everyKey, Parent: []string{"GOOGLE_GENAI_USE_GCA=true"}}}, "plain",
			"GOOGLE_GENAI_USE_GCA leads gemini to a login of Google's", "key in GEMINI_API_KEY"},
		{agent.Options{Command: "opencode", Host: agent.Host{Keys: everyKey}}, "plain", "", "key in ANTHROPIC_API_KEY"},
		{agent.Options{Command: "opencode", Host: agent.Host{Keys: everyKey}}, "opencode", "opencode's own settings name providers: " +
			filepath.Join(home, "opencode/.config/opencode/opencode.jsonc"), "key in ANTHROPIC_API_KEY"},
		{agent.Options{Command: "opencode", Host: agent.Host{Keys: everyKey}, Model: "groq/x"}, "plain",
			"no key is for the model groq/x", "key in ANTHROPIC_API_KEY"},
		{agent.Options{Command: "opencode", Host: agent.Host{Keys: map[string]string{"OPENROUTER_API_KEY": "k"}}}, "plain",
			"the key in OPENROUTER_API_KEY is for a provider whose address opencode knows itself",
			"key in OPENROUTER_API_KEY"},
		{agent.Options{Command: "opencode"}, "login", "the login in ~/.local/share/opencode/auth.json cannot use the gateway: set the key of its model's provider, or run: opencode auth login",
			"login in ~/.local/share/opencode/auth.json"},
		{agent.Options{Command: "amp", Host: agent.Host{Keys: everyKey}}, "plain", "amp has no setting that says where its model is",
			"key in AMP_API_KEY"},
		{agent.Options{Command: "./agent.sh", Host: agent.Host{Keys: everyKey}}, "plain", "", "key in AMP_API_KEY"},
		{agent.Options{Command: "./agent.sh"}, "plain", "no key for the agent is in the environment", ""},
	} {
		o := c.o
		o.Home = filepath.Join(home, c.home)
		got := agent.CheckGateway(o)
		if got.Why != c.why || got.Credential != c.credential || (got.Why == "") != (len(got.Routes) > 0) ||
			got.Unsure != strings.HasPrefix(o.Command, "./") {
			t.Errorf("%s %v in %s: %+v, want %q and %q", o.Command, o.Flags, c.home, got, c.why, c.credential)
		}
	}
}

// claudeSays is a script that ends as claude does, well or with an error.
func claudeSays(cost float64, failure string) string {
	return fmt.Sprintf(`echo '{"type":"result","subtype":"success","is_error":%t,"result":"%s","total_cost_usd":%g,`+
		`"usage":{"input_tokens":3,"output_tokens":4}}'; exit %d`, failure != "", cmp.Or(failure, "DONE"), cost,
		min(1, len(failure)))
}

// What a turn took is what its model's answers say; what the gateway refuses because of a limit ends it as spent.
func TestCarriedSpend(t *testing.T) {
	t.Parallel()
	seen := loop.Usage{Input: 100, Output: 50, CacheRead: 7}
	for _, c := range []struct {
		name, script string
		used         loop.Usage
		refuses      string
		want         loop.Usage
		class        loop.Class
	}{
		{"the agent's own account, where nothing was asked", claudeSays(0.5, ""), loop.Usage{}, "",
			loop.Usage{CostUSD: 0.5, Input: 3, Output: 4}, loop.OK},
		{"the wire's tokens, the agent's price", claudeSays(0.5, ""), seen, "",
			loop.Usage{CostUSD: 0.5, Input: 100, Output: 50, CacheRead: 7}, loop.OK},
		{"the wire's price", claudeSays(0.5, ""), loop.Usage{CostUSD: 0.25, Input: 1}, "",
			loop.Usage{CostUSD: 0.25, Input: 1}, loop.OK},
		{"refused", claudeSays(0, "API Error: 402 ralph: spent"), seen, "it is spent", seen, loop.Spent},
		{"refused, and well all the same", claudeSays(0, ""), seen, "it is spent", seen, loop.OK},
		{"within what is left", claudeSays(0, "API Error: 402 no credit"), seen, "", seen, loop.Billing},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f, g := newFake(t, "claude", c.script), &gateway{used: c.used, refuses: c.refuses}
			turn := f.turn(t, agent.Options{Host: agent.Host{Gateway: g, Keys: everyKey, Home: t.TempDir()}}, "Do it.")
			if told := turn.AgentUsage != nil; told != (c.used != loop.Usage{}) || told && turn.AgentUsage.Tokens() != 7 {
				t.Errorf("the agent told %+v", turn.AgentUsage)
			}
			ours := c.class == loop.Spent
			if turn.Usage != c.want || turn.Class != c.class || turn.Ours != ours || ours && turn.Reason != c.refuses {
				t.Errorf("turn = %+v, want %+v, %s", turn, c.want, c.class)
			}
		})
	}
}

func TestCarriedBadly(t *testing.T) {
	t.Parallel()
	f := newFake(t, "claude", "")
	for _, c := range []struct {
		o    agent.Options
		want string
	}{
		{agent.Options{Host: agent.Host{Gateway: &gateway{}}}, "no key for claude is in the environment"},
		{agent.Options{Host: agent.Host{Gateway: &gateway{fails: errors.New("no port")}, Keys: everyKey}}, "no port"},
	} {
		a, err := agent.New(f.options(c.o))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Turn(t.Context(), "Do it."); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if _, err := os.Stat(filepath.Join(f.dir, "argv")); err == nil {
		t.Error("the agent was run")
	}
}
