//go:build unix

package agent_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/proc"
)

const (
	ourHooks    = `{"hooks":{"Stop":[{"hooks":[{"command":"'/a b/ralph' hook stop","timeout":60,"type":"command"}]}]}}`
	theirHooks  = `{"hooks":{"Stop":[{"hooks":[{"command":"mine","type":"command"}]}]},"model":"opus"}`
	mergedHooks = `{"hooks":{"Stop":[{"hooks":[{"command":"mine","type":"command"}]},{"hooks":[{"command":"'/a b/ralph' hook stop","timeout":60,"type":"command"}]}]},"model":"opus"}`
)

// settingsOf are the settings that an argv gives claude; "" when none.
func settingsOf(argv []string) string {
	value, _ := valued(argv, "--settings")
	return value
}

func TestClaudeHooks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options agent.Options
		want    string
	}{
		"none":                     {agent.Options{}, ""},
		"ours":                     {agent.Options{Rights: agent.Rights{Hooks: []byte(ourHooks)}}, ourHooks},
		"its own settings as well": {agent.Options{Rights: agent.Rights{Hooks: []byte(ourHooks), AgentSettings: true}}, ourHooks},
		"reading":                  {agent.Options{Rights: agent.Rights{Hooks: []byte(ourHooks), ReadOnly: true}}, ""},
		"no tools":                 {agent.Options{Rights: agent.Rights{Hooks: []byte(ourHooks), NoTools: true}}, ""},
		"no hook in them":          {agent.Options{Rights: agent.Rights{Hooks: []byte(`{"hooks":{}}`)}}, ""},
		"beside the user's": {agent.Options{Rights: agent.Rights{Hooks: []byte(ourHooks)},
			Flags: []string{"--settings", theirHooks}}, mergedHooks},
		"beside those of the user's file": {agent.Options{Rights: agent.Rights{Hooks: []byte(ourHooks)},
			Flags: []string{"--settings", "theirs.json"}}, mergedHooks},
		"the user's, of an agent in a box": {agent.Options{Rights: agent.Rights{Hooks: []byte(ourHooks)},
			Flags: []string{"--settings", "theirs.json"}, Host: agent.Host{Box: noBox{}}}, "theirs.json"},
		"the user's, which cannot be read": {agent.Options{Rights: agent.Rights{Hooks: []byte(ourHooks)},
			Flags: []string{"--settings", "absent.json"}}, "absent.json"},
		"the user's, which are no settings": {agent.Options{Rights: agent.Rights{Hooks: []byte(ourHooks)}, Flags: []string{"--settings", "{]"}},
			"{]"},
		"the user's, of a reviewer": {agent.Options{Rights: agent.Rights{Hooks: []byte(ourHooks), ReadOnly: true},
			Flags: []string{"--settings", theirHooks}}, theirHooks},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, "claude", "")
			if err := os.WriteFile(filepath.Join(f.dir, "theirs.json"), []byte(theirHooks), 0o600); err != nil {
				t.Fatal(err)
			}
			f.turn(t, c.options, "Do it.")
			argv := f.argv(t)
			if got := settingsOf(argv); got != c.want {
				t.Errorf("settings = %s\nwant       %s", got, c.want)
			}
			if n := strings.Count(strings.Join(argv, "\n"), "--settings\n"); n > 1 {
				t.Errorf("%d times settings: %q", n, argv)
			}
		})
	}
	f := newFake(t, "claude", "")
	f.turn(t, agent.Options{Rights: agent.Rights{Hooks: []byte(ourHooks)}, Flags: []string{"--settings=" + theirHooks}}, "Do it.")
	if argv := f.argv(t); !slices.Contains(argv, "--settings="+mergedHooks) || settingsOf(argv) != "" {
		t.Errorf("argv = %q", argv)
	}
}

// noBox lets everything through.
type noBox struct{}

func (noBox) Enter(s proc.Spec) (proc.SandboxedCommand, error) {
	s.Box = nil
	return proc.SandboxedCommand{Spec: s, Leave: func() {}}, nil
}

func TestCodexHooks(t *testing.T) {
	t.Parallel()
	const want = `hooks.Stop=[{"hooks"=[{"command"="'/a b/ralph' hook stop","timeout"=60,"type"="command"}]}]`
	for name, c := range map[string]struct {
		options agent.Options
		hooks   bool
	}{
		"none":           {agent.Options{}, false},
		"ours":           {agent.Options{Rights: agent.Rights{Hooks: []byte(ourHooks)}}, true},
		"with a session": {agent.Options{Rights: agent.Rights{Hooks: []byte(ourHooks)}, Resume: "01a1-b"}, true},
		"reading":        {agent.Options{Rights: agent.Rights{Hooks: []byte(ourHooks), ReadOnly: true}}, false},
		"no tools":       {agent.Options{Rights: agent.Rights{Hooks: []byte(ourHooks), NoTools: true}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, "codex", "")
			f.turn(t, c.options, "Do it.")
			argv := f.argv(t)
			if slices.Contains(argv, want) != c.hooks || slices.Contains(argv, "--dangerously-bypass-hook-trust") != c.hooks {
				t.Errorf("argv = %q", argv)
			}
		})
	}
}

func TestGeminiHooks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options agent.Options
		hooks   string // of the extension in the home of its own; "" when it has none
		trusts  bool   // what the user trusts is in that home
	}{
		"none":                     {agent.Options{}, "", false},
		"ours":                     {agent.Options{Rights: agent.Rights{Hooks: []byte(ourHooks)}}, ourHooks, false},
		"reading":                  {agent.Options{Rights: agent.Rights{Hooks: []byte(ourHooks), ReadOnly: true}}, "", false},
		"its own settings as well": {agent.Options{Rights: agent.Rights{Hooks: []byte(ourHooks), AgentSettings: true}}, ourHooks, true},
		"its own settings alone":   {agent.Options{Rights: agent.Rights{AgentSettings: true}}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			for path, text := range map[string]string{"settings.json": theirHooks, "trustedFolders.json": "{}", ".env": "A=b",
				"extensions/theirs/gemini-extension.json": "{}"} {
				path = filepath.Join(home, ".gemini", path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			f := newFake(t, "gemini", `: > "$HERE/hooks.json"; : > "$HERE/listed"
				cd "$GEMINI_CLI_HOME/.gemini" 2>/dev/null || exit 0
				cp extensions/ralph-hooks-of-this-run/hooks/hooks.json "$HERE"
				find -L . -type f | sort > "$HERE/listed"`)
			o := c.options
			o.Home = home
			f.turn(t, o, "Do it.")
			if got := f.read(t, "hooks.json"); got != c.hooks {
				t.Errorf("hooks = %s\nwant    %s", got, c.hooks)
			}
			listed := f.read(t, "listed")
			if got := strings.Contains(listed, "trustedFolders.json"); got != c.trusts ||
				strings.Contains(listed, ".env") != c.trusts {
				t.Errorf("listed: %s", listed)
			}
			if listed != "" && !strings.Contains(listed, "./extensions/theirs/gemini-extension.json\n") {
				t.Errorf("the user's extension is missing: %s", listed)
			}
			if _, err := os.Stat(filepath.Join(home, ".gemini", "extensions", "ralph-hooks-of-this-run")); err == nil {
				t.Error("the user has an extension more")
			}
		})
	}
}

func TestHooksThatAreNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"x", `[]`, `{"hooks":[]}`, `{"hooks":{"Stop":{}}}`} {
		if _, err := agent.New(agent.Options{Command: "sh", Rights: agent.Rights{Hooks: []byte(text)}}); err == nil ||
			!strings.Contains(err.Error(), "reading the hooks for sh") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
