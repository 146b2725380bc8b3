//go:build unix

package agent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/loop"
)

// lay writes files below a directory.
func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// renewing is claude as far as its login goes: asked for its status, it writes down where it is asked and runs script.
const renewing = `
if [ "$1 $2" = "auth status" ]; then
	{ pwd; ls -A; env | grep -c 'ANTHROPIC\|_KEY='; } > "$HERE/asked"
	%s
	exit 0
fi
touch "$HERE/ran"
echo '{"type":"result","subtype":"success","is_error":false,"result":"DONE"}'`

// saved is claude's file of a login that ends in a time from now.
func saved(token string, in time.Duration) string {
	return fmt.Sprintf(`{"claudeAiOauth":{"accessToken":"%s","expiresAt":%d}}`, token, time.Now().Add(in).UnixMilli())
}

// TestLoginIsRenewed: the CLI itself renews its login, before a turn and while one runs, in an empty directory. Where
// it cannot, the turn waits for its user.
func TestLoginIsRenewed(t *testing.T) {
	t.Parallel()
	const file = ".claude/.credentials.json"
	renews := "cat > $HOME/" + file + " <<END\n" + saved("fresh", time.Hour) + "\nEND"
	for _, c := range []struct {
		name   string
		in     time.Duration // until the login ends
		script string
		inside bool   // the program is in the directory where the agent works
		during bool   // the provider refuses the login in the turn
		value  string // what the turn goes by at last; "": it waits
		asked  bool
	}{
		{name: "a good login", in: time.Hour, value: "old"},
		{name: "an expired one", in: -time.Hour, script: renews, value: "fresh", asked: true},
		{name: "one about to expire", in: 4 * time.Minute, script: renews, value: "fresh", asked: true},
		{name: "one about to expire that is not renewed", in: 4 * time.Minute, value: "old", asked: true},
		{name: "an expired one that is not renewed", in: -time.Hour, asked: true},
		{name: "a program that the agent may have written", in: -time.Hour, script: renews, inside: true},
		{name: "refused in the turn", in: time.Hour, script: renews, during: true, value: "fresh", asked: true},
		{name: "refused in the turn for good", in: time.Hour, during: true, value: "none", asked: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f, g, home := newFake(t, "claude", fmt.Sprintf(renewing, c.script)), &gateway{}, t.TempDir()
			lay(t, home, map[string]string{file: saved("old", c.in)})
			o := f.options(agent.Options{Host: agent.Host{Gateway: g, Home: home, Parent: []string{
				"ANTHROPIC_BASE_URL=https://models.example"}, Keys: map[string]string{"OPENAI_API_KEY": "sk-openai-real"}}, Bounds: agent.Bounds{Timeout: time.Minute}})
			if !c.inside {
				o.Dir = t.TempDir()
				lay(t, o.Dir, map[string]string{"CLAUDE.md": "x"})
			}
			a := must(agent.New(o))
			turn := must(a.Turn(t.Context(), "Do it."))
			got := ""
			if len(g.routes) > 0 {
				got = strings.TrimPrefix(g.routes[0].Value, "Bearer ")
			}
			if c.during {
				value, ok := g.routes[0].Renew(context.Background(), g.routes[0].Value)
				if got = strings.TrimPrefix(value, "Bearer "); !ok {
					got = "none"
				}
			}
			_, ran := os.Stat(filepath.Join(f.dir, "ran"))
			waits := turn.Class == loop.Waits && strings.Contains(turn.Reason, "log in again")
			if got != c.value || (c.value == "") != waits || (ran == nil) == waits {
				t.Errorf("went by %q, want %q; ran: %v; turn = %+v", got, c.value, ran, turn)
			}
			said, err := os.ReadFile(filepath.Join(f.dir, "asked"))
			if (err == nil) != c.asked {
				t.Fatalf("asked: %v, want %t", err, c.asked)
			}
			lines := strings.Split(string(said), "\n")
			if c.asked && (len(lines) != 3 || lines[0] == o.Dir || lines[1] != "0") {
				t.Errorf("asked in a directory or an environment with something in it: %q", said)
			}
		})
	}
}

// TestRefusedLoginWaits: a key that is refused is a mistake; a login that is, is to be made again.
func TestRefusedLoginWaits(t *testing.T) {
	t.Parallel()
	const claudeFile, codexFile = ".claude/.credentials.json", ".codex/auth.json"
	refuses := claudeSays(0, "API Error: 401 no")
	for _, c := range []struct {
		name, command, script string
		files                 map[string]string
		gateway               bool
		keys                  map[string]string
		want                  loop.Class
	}{
		{"a login that is carried", "claude", refuses, map[string]string{claudeFile: saved("old", time.Hour)}, true, nil,
			loop.Waits},
		{"a login that the agent has", "claude", refuses, map[string]string{claudeFile: saved("old", time.Hour)}, false, nil,
			loop.Waits},
		{"a login of ChatGPT's", "codex", `echo 'unexpected status 401 Unauthorized' >&2; exit 1`,
			map[string]string{codexFile: `{"tokens":{"access_token":"x"}}`}, false, nil, loop.Waits},
		{"a key that is carried, beside a login", "claude", refuses,
			map[string]string{claudeFile: saved("old", time.Hour)}, true, everyKey, loop.Auth},
		{"a key, beside a login", "claude", refuses, map[string]string{claudeFile: saved("old", time.Hour)}, false, everyKey,
			loop.Auth},
		{"nothing", "claude", refuses, nil, false, nil, loop.Auth},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f, o := newFake(t, c.command, c.script), agent.Options{Host: agent.Host{Home: t.TempDir(), Keys: c.keys}}
			lay(t, o.Home, c.files)
			if c.gateway {
				o.Gateway = &gateway{}
			}
			turn := f.turn(t, o, "Do it.")
			if turn.Class != c.want || strings.Contains(turn.Reason, "log in again") != (c.want == loop.Waits) {
				t.Errorf("turn = %+v, want %s", turn, c.want)
			}
		})
	}
}
