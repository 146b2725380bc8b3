package hook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
)

// TestInstallGolden: what becomes of settings files, with everything that was in them.
func TestInstallGolden(t *testing.T) {
	dir := filepath.Join("..", "..", "testdata", "hooks")
	for _, c := range []struct{ agent, from, want string }{
		{"claude", "", "claude-fresh.json"},
		{"gemini", "", "gemini-fresh.json"},
		{"codex", "", "codex-fresh.json"},
		{"claude", "claude-kept-before.jsonc", "claude-kept-after.jsonc"},
		{"claude", "claude-tabs-before.json", "claude-tabs-after.json"},
	} {
		var text []byte
		if c.from != "" {
			text = file(t, filepath.Join(dir, c.from))
		}
		out, done, err := Install(c.agent, "ralph", text)
		if err != nil || len(done) != len(Kinds) {
			t.Fatalf("%s: %v %v", c.want, done, err)
		}
		name := filepath.Join(dir, c.want)
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(name, out, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want := file(t, name); string(out) != string(want) {
			t.Errorf("%s:\ngot\n%s\nwant\n%s", c.want, out, want)
		}
		again, _, err := Install(c.agent, "ralph", out)
		if err != nil || string(again) != string(out) {
			t.Errorf("%s changes when it is installed again: %v\n%s", c.want, err, again)
		}
	}
}

func file(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestInstallKeeps: any file that is JSON before is JSON afterwards, and holds what it held.
func TestInstallKeeps(t *testing.T) {
	for _, text := range []string{
		`{}`, ` {} `, "{\n}\n", `{"a":1}`, "{\n\t\"a\": [1, 2]\n}", `{"hooks":{}}`, `{"hooks":{"Stop":[]}}`,
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"other hook stop"}]}]}}`,
		"{\r\n  \"a\": 1\r\n}\r\n", `{"hooks":{"Stop":[{"hooks":null},null,3,{"hooks":[null,{"command":7}]}]}}`,
		`{"é":"<&>"}`,
	} {
		out, _, err := Install("claude", "ralph", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var before, after map[string]any
		if json.Unmarshal([]byte(text), &before) != nil || json.Unmarshal(out, &after) != nil {
			t.Errorf("%s becomes %s", text, out)
		}
		for name, value := range before {
			if name != "hooks" && !same(value, after[name]) {
				t.Errorf("%s: %s was %v and is %v", text, name, value, after[name])
			}
		}
		if n := strings.Count(string(out), " hook stop"); n != 1+strings.Count(text, " hook stop") {
			t.Errorf("%s has the hook %d times:\n%s", text, n, out)
		}
	}
	for _, text := range []string{"{\"a\": 1, // one\n}", "{\"a\": 1 // one\n}", "{\"hooks\":{\"Stop\":[{} // one\n]}}",
		"{\n  // only this\n}", "// first\n{\"a\":1}\n// last\n", "{\"hooks\": {/* none */}}",
		"{\"hooks\":{\"Stop\":[ // mine\n ]}}"} {
		out, _, err := Install("claude", "ralph", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if _, err := hujson.Parse(out); err != nil {
			t.Errorf("%s becomes %s: %v", text, out, err)
		}
		if i := strings.Index(string(out), "// one"); i > 0 && !strings.Contains(string(out[:i]), "a") &&
			!strings.Contains(string(out[:i]), "{}") {
			t.Errorf("%s has its comment moved:\n%s", text, out)
		}
		for _, comment := range []string{"// one", "// only this", "// first", "// last", "/* none */", "// mine"} {
			if strings.Contains(text, comment) && !strings.Contains(string(out), comment) {
				t.Errorf("%s lost its comment:\n%s", text, out)
			}
		}
	}
}

func same(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// TestInstallUpdates: a hook of ours that another ralph put there is brought up to date, not doubled.
func TestInstallUpdates(t *testing.T) {
	text :=
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"'/opt/my tools/ralph' hook stop"}]}],"PreToolUse":[{"hooks":[{"type":"command","command":"cd x && ralph hook guard"}]}]}}`
	out, done, err := Install("claude", "/usr/bin/ralph", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(out), "hook stop") != 1 || !strings.Contains(string(out), `"/usr/bin/ralph hook stop"`) ||
		strings.Count(string(out), "hook guard") != 1 {
		t.Errorf("%s\n%s", out, done)
	}
}

func TestInstallRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                               "it is not JSON",
		`[]`:                              "it must hold a JSON object",
		`{"hooks":[]}`:                    `its "hooks" is no object`,
		`{"hooks":{"Stop":{}}}`:           "its hooks.Stop is no list",
		strings.Repeat(" ", 2<<20) + "{}": "too long",
		strings.Repeat("[", 20_000):       "too long",
	} {
		out, _, err := Install("claude", "ralph", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || out != nil {
			t.Errorf("%.40s: %v, %s", text, err, out)
		}
	}
	if _, _, err := Install("amp", "ralph", nil); err == nil {
		t.Error("amp has hooks")
	}
	if _, err := File("gemini", true); err == nil {
		t.Error("gemini has settings of one person")
	}
}

func TestSettings(t *testing.T) {
	got, err := Settings("claude", "/opt/my tools/ralph", true, Guarding, StopReminder)
	want :=
		`{"hooks":{"PreToolUse":[{"matcher":"Bash|Write|Edit|MultiEdit|NotebookEdit|Read","hooks":[{"type":"command","command":"'/opt/my tools/ralph' hook guard --run","timeout":10}]}],` +
			`"Stop":[{"hooks":[{"type":"command","command":"'/opt/my tools/ralph' hook stop","timeout":60}]}]}}`
	if err != nil || string(got) != want {
		t.Errorf("got  %s\nwant %s\n%v", got, want, err)
	}
	for _, agent := range Agents {
		got, err := Settings(agent, "ralph", false)
		var all struct{ Hooks map[string][]any }
		if err != nil || json.Unmarshal(got, &all) != nil || len(all.Hooks) != 4 {
			t.Errorf("%s: %s %v", agent, got, err)
		}
	}
	if _, err := Settings("claude", "ralph", false, "nothing"); err == nil {
		t.Error("a hook is called nothing")
	}
	if _, err := Settings("amp", "ralph", false); err == nil {
		t.Error("amp has hooks")
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{"": "''", "a b": "'a b'", "it's": `'it'\''s'`,
		"/usr/bin/ralph": "/usr/bin/ralph", "$x": "'$x'", "~": "'~'"} {
		if got := Quote(in); got != want {
			t.Errorf("Quote(%q) = %s, want %s", in, got, want)
		}
	}
}
