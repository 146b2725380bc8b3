//go:build unix

package agent_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/loop"
)

func TestGeminiCommandLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options agent.Options
		argv    string
	}{
		"plain": {agent.Options{}, "--output-format stream-json --policy VALUE"},
		"flags, model": {agent.Options{Flags: []string{"--debug"}, Model: "m"},
			"--debug --output-format stream-json --policy VALUE -m m"},
		"reading only": {agent.Options{Rights: agent.Rights{ReadOnly: true}}, "--output-format stream-json --policy VALUE"},
		"no tools": {agent.Options{Rights: agent.Rights{AgentSettings: true, NoTools: true}},
			"--output-format stream-json --policy VALUE"},
		"its own settings": {agent.Options{Rights: agent.Rights{AgentSettings: true}}, "--output-format stream-json --yolo"},
		"both": {agent.Options{Rights: agent.Rights{AgentSettings: true, ReadOnly: true}},
			"--output-format stream-json --policy VALUE"},
		"a session, as text": {agent.Options{Resume: "1111-2", Answer: agent.Answer{Text: true}},
			"--output-format text --policy VALUE --resume 1111-2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, "gemini", `while [ $# -gt 0 ]; do [ "$1" = --policy ] && cp "$2" "$HERE/policy"; shift; done`)
			f.turn(t, c.options, "Do it.")
			_, argv := valued(f.argv(t), "--policy")
			if got := strings.Join(argv, " "); got != c.argv {
				t.Errorf("argv = %s", got)
			}
			if c.options.ReadOnly && !strings.Contains(f.read(t, "policy"), `decision = "deny"`) {
				t.Errorf("policy = %s", f.read(t, "policy"))
			}
			if policy := "[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 999\n"; c.options.NoTools &&
				f.read(t, "policy") != policy {
				t.Errorf("policy = %s", f.read(t, "policy"))
			}
			if got := f.read(t, "stdin"); got != "Do it." {
				t.Errorf("stdin = %q", got)
			}
			trust := "GEMINI_CLI_TRUST_WORKSPACE=" + map[bool]string{true: "true", false: "false"}[c.options.AgentSettings]
			if env := f.env(t); !slices.Contains(env, trust) || !slices.Contains(env, "GEMINI_CLI_NO_RELAUNCH=true") {
				t.Errorf("env = %q", env)
			}
		})
	}
}

// The folder is not trusted, and the home says that this is not asked for. What the user has is there, but for what
// says who is trusted.
func TestGeminiHome(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for name, text := range map[string]string{
		"settings.json":       "{// mine\n\"model\":{\"name\":\"mine\"},\"security\":{\"folderTrust\":{\"enabled\":true}},}",
		"trustedFolders.json": "{}", ".env": "A=b", "oauth_creds.json": "login", "tmp/session": "kept",
	} {
		path := filepath.Join(home, ".gemini", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f := newFake(t, "gemini",
		`G=$GEMINI_CLI_HOME; ls -A "$G/.gemini" > "$HERE/listed"; cp "$G/.gemini/settings.json" "$HERE/"; echo "$G" > "$HERE/home"
cat "$G/.gemini/oauth_creds.json" "$G/.gemini/tmp/session" > "$HERE/had"; echo new > "$G/.gemini/tmp/more"`)
	f.turn(t, agent.Options{Host: agent.Host{Home: home, Keys: map[string]string{"GEMINI_API_KEY": "k"}}}, "Do it.")
	if got := strings.Fields(f.read(t, "listed")); !slices.Equal(got,
		[]string{"oauth_creds.json", "settings.json", "tmp"}) {
		t.Errorf("listed: %q", got)
	}
	want :=
		`{"advanced":{"ignoreLocalEnv":true},"model":{"name":"mine"},"security":{"auth":{"selectedType":"gemini-api-key"},"folderTrust":{"enabled":false}}}`
	if got := f.read(t, "settings.json"); got != want {
		t.Errorf("settings = %s", got)
	}
	if got := f.read(t, "had"); got != "loginkept" {
		t.Errorf("had %q", got)
	}
	if _, err := os.Stat(strings.TrimSpace(f.read(t, "home"))); !os.IsNotExist(err) {
		t.Errorf("the home is left: %v", err)
	}
	for name, text := range map[string]string{"settings.json": "{// mine", "oauth_creds.json": "login",
		"tmp/more": "new"} {
		if raw, err := os.ReadFile(filepath.Join(home, ".gemini", name)); err != nil ||
			!strings.HasPrefix(string(raw), text) {
			t.Errorf("%s of the user: %q, %v", name, raw, err)
		}
	}
	f.turn(t, agent.Options{Host: agent.Host{Home: t.TempDir()}}, "Do it.") // who has nothing, and no key
	if got := f.read(t,
		"settings.json"); got != `{"advanced":{"ignoreLocalEnv":true},"security":{"auth":{},"folderTrust":{"enabled":false}}}` {
		t.Errorf("settings = %s", got)
	}
}

// What it leaves in the temporary directory, as it does of a failed request with all that was said, is gone after the
// turn.
func TestGeminiTemporaryFiles(t *testing.T) {
	t.Parallel()
	f := newFake(t, "gemini", `echo said > "$TMPDIR/gemini-client-error-1.json"; echo "$TMPDIR" > "$HERE/tmp"`)
	for _, o := range []agent.Options{{}, {Rights: agent.Rights{AgentSettings: true}}} {
		f.turn(t, o, "Do it.")
		dir := strings.TrimSpace(f.read(t, "tmp"))
		if _, err := os.Stat(dir); dir == "" || filepath.Clean(dir) == filepath.Clean(os.TempDir()) || !os.IsNotExist(err) {
			t.Errorf("its temporary directory %q: %v", dir, err)
		}
	}
}

// C12: an agent that only tells that it tries again shows no life.
func TestGeminiTriesAgain(t *testing.T) {
	t.Parallel()
	f := newFake(t, "gemini",
		`while sleep 0.1; do echo "Attempt 1 failed with status 503. Retrying with backoff..." >&2; done`)
	if turn := f.turn(t, agent.Options{Bounds: agent.Bounds{Idle: 500 * time.Millisecond}}, "Do it."); turn.Class != loop.Idle {
		t.Errorf("turn = %+v", turn)
	}
}

func TestGeminiClasses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		script string
		want   loop.Class
	}{
		{"exit 41", loop.Auth},
		{"exit 42", loop.Rejected}, // not a human that it waits for
		{"exit 52", loop.Rejected},
		{"exit 53", loop.MaxTurns},
		{`echo '{"type":"result","status":"error","error":{"message":"odd"}}'; exit 145`, loop.Auth},
		{`echo '{"type":"result","status":"error","error":{"message":"odd"}}'; exit 144`, loop.Rejected},
		{`echo '{"type":"result","status":"error","error":{"message":"odd"}}'; exit 173`, loop.UsageLimit},
		{`echo '{"type":"result","status":"error","error":{"message":"odd"}}'; exit 247`, loop.Overloaded},
		{`echo '{"type":"result","status":"error","error":{"message":"odd"}}'; exit 1`, loop.Broke},
		{`echo '{"type":"result","status":"error","error":{"message":"This API method requires billing to be enabled."}}'; exit 147`, loop.Billing},
		{`echo '{"type":"result","status":"error","error":{"message":"You exceeded your current quota.\nSuggested retry after 60s."}}'; exit 173`, loop.UsageLimit},
	} {
		if turn := newFake(t, "gemini", c.script).turn(t, agent.Options{}, "Do it."); turn.Class != c.want {
			t.Errorf("%s: %s, %s", c.script, turn.Class, turn.Reason)
		}
	}
}
