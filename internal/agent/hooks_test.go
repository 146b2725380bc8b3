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
		"none":                              {agent.Options{}, ""},
		"ours":                              {agent.Options{Hooks: []byte(ourHooks)}, ourHooks},
		"its own settings as well":          {agent.Options{Hooks: []byte(ourHooks), AgentSettings: true}, ourHooks},
		"reading":                           {agent.Options{Hooks: []byte(ourHooks), ReadOnly: true}, ""},
		"no tools":                          {agent.Options{Hooks: []byte(ourHooks), NoTools: true}, ""},
		"no hook in them":                   {agent.Options{Hooks: []byte(`{"hooks":{}}`)}, ""},
		"beside the user's":                 {agent.Options{Hooks: []byte(ourHooks), Flags: []string{"--settings", theirHooks}}, mergedHooks},
		"beside those of the user's file":   {agent.Options{Hooks: []byte(ourHooks), Flags: []string{"--settings", "theirs.json"}}, mergedHooks},
		"the user's, of an agent in a box":  {agent.Options{Hooks: []byte(ourHooks), Flags: []string{"--settings", "theirs.json"}, Box: noBox{}}, "theirs.json"},
		"the user's, which cannot be read":  {agent.Options{Hooks: []byte(ourHooks), Flags: []string{"--settings", "absent.json"}}, "absent.json"},
		"the user's, which are no settings": {agent.Options{Hooks: []byte(ourHooks), Flags: []string{"--settings", "{]"}}, "{]"},
		"the user's, of a reviewer":         {agent.Options{Hooks: []byte(ourHooks), ReadOnly: true, Flags: []string{"--settings", theirHooks}}, theirHooks},
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
	f.turn(t, agent.Options{Hooks: []byte(ourHooks), Flags: []string{"--settings=" + theirHooks}}, "Do it.")
	if argv := f.argv(t); !slices.Contains(argv, "--settings="+mergedHooks) || settingsOf(argv) != "" {
		t.Errorf("argv = %q", argv)
	}
}

// noBox lets everything through.
type noBox struct{}

func (noBox) Enter(s proc.Spec) (proc.Boxed, error) {
	s.Box = nil
	return proc.Boxed{Spec: s, Leave: func() {}}, nil
}

func TestCodexHooks(t *testing.T) {
	t.Parallel()
	const want = `hooks.Stop=[{"hooks"=[{"command"="'/a b/ralph' hook stop","timeout"=60,"type"="command"}]}]`
	for name, c := range map[string]struct {
		options agent.Options
		hooks   bool
	}{
		"none":           {agent.Options{}, false},
		"ours":           {agent.Options{Hooks: []byte(ourHooks)}, true},
		"with a session": {agent.Options{Hooks: []byte(ourHooks), Resume: "01a1-b"}, true},
		"reading":        {agent.Options{Hooks: []byte(ourHooks), ReadOnly: true}, false},
		"no tools":       {agent.Options{Hooks: []byte(ourHooks), NoTools: true}, false},
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
	const auth = `"security":{"auth":{},"folderTrust":{"enabled":false}}`
	for name, c := range map[string]struct {
		options agent.Options
		want    string // the settings in the home of its own; "" when it has none
	}{
		"none":                     {agent.Options{}, `{"advanced":{"ignoreLocalEnv":true},` + theirHooks[1:len(theirHooks)-1] + `,` + auth + `}`},
		"beside the user's":        {agent.Options{Hooks: []byte(ourHooks)}, `{"advanced":{"ignoreLocalEnv":true},` + mergedHooks[1:len(mergedHooks)-1] + `,` + auth + `}`},
		"reading":                  {agent.Options{Hooks: []byte(ourHooks), ReadOnly: true}, `{"advanced":{"ignoreLocalEnv":true},` + theirHooks[1:len(theirHooks)-1] + `,` + auth + `}`},
		"its own settings as well": {agent.Options{Hooks: []byte(ourHooks), AgentSettings: true}, mergedHooks[:len(mergedHooks)-1] + `,"security":{"auth":{}}}`},
		"its own settings alone":   {agent.Options{AgentSettings: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			for path, text := range map[string]string{"settings.json": theirHooks, "trustedFolders.json": "{}", ".env": "A=b"} {
				path = filepath.Join(home, ".gemini", path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			f := newFake(t, "gemini", `cat "$GEMINI_CLI_HOME/.gemini/settings.json" > "$HERE/settings.json" 2>/dev/null; ls -A "$GEMINI_CLI_HOME/.gemini" > "$HERE/listed" 2>/dev/null || :`)
			o := c.options
			o.Home = home
			f.turn(t, o, "Do it.")
			if got := f.read(t, "settings.json"); got != c.want {
				t.Errorf("settings = %s\nwant       %s", got, c.want)
			}
			if got := strings.Contains(f.read(t, "listed"), "trustedFolders.json"); got != (o.AgentSettings && c.want != "") {
				t.Errorf("listed: %s", f.read(t, "listed"))
			}
		})
	}
}

func TestHooksThatAreNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"x", `[]`, `{"hooks":[]}`, `{"hooks":{"Stop":{}}}`} {
		if _, err := agent.New(agent.Options{Command: "sh", Hooks: []byte(text)}); err == nil || !strings.Contains(err.Error(), "reading the hooks for sh") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
