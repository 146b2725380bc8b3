//go:build unix

package agent_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// fake is a program under an agent's real name, which writes down how it was called before it does what a test wants.
type fake struct {
	dir  string // where it is, works and writes
	name string
}

// newFake makes the program. $HERE in the script is its directory; what it reads is in $HERE/stdin unless the script
// reads it.
func newFake(t testing.TB, name, script string) fake {
	t.Helper()
	f := fake{t.TempDir(), name}
	text := `#!/bin/sh
HERE=` + f.dir + `
for a in "$@"; do printf '%s\0' "$a"; done > "$HERE/argv"
tr '\0' '\n' < /proc/self/environ > "$HERE/env" 2>/dev/null || env > "$HERE/env"
trap 'echo TERM >> "$HERE/signals"; exit 143' TERM
`
	if !strings.HasPrefix(script, "cat >/dev/null") {
		text += "cat > \"$HERE/stdin\"\n"
	}
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return f
}

// options fills in what every test wants: the fake on PATH, its directory to work in.
func (f fake) options(o agent.Options) agent.Options {
	o.Parent = append(o.Parent, "PATH="+f.dir+":"+os.Getenv("PATH"))
	if o.Command == "" {
		o.Command = f.name
	}
	o.Dir, o.Completion = f.dir, "DONE"
	return o
}

func (f fake) turn(t *testing.T, o agent.Options, prompt string) loop.Turn {
	t.Helper()
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	a := must(agent.New(f.options(o)))
	turn := must(a.Turn(context.Background(), prompt))
	return turn
}

func (f fake) read(t *testing.T, name string) string {
	t.Helper()
	raw := must(os.ReadFile(filepath.Join(f.dir, name)))
	return string(raw)
}

func (f fake) argv(t *testing.T) []string {
	t.Helper()
	return strings.Split(strings.TrimSuffix(f.read(t, "argv"), "\x00"), "\x00")
}

// env is the environment that came, sorted, without PATH, the mark and what a shell adds.
func (f fake) env(t *testing.T) []string {
	t.Helper()
	var env []string
	for entry := range strings.SplitSeq(f.read(t, "env"), "\n") {
		name, _, _ := strings.Cut(entry, "=")
		if name != "" && !strings.HasPrefix(name, "TREE_MARK_") &&
			!slices.Contains([]string{"PATH", "PWD", "OLDPWD", "SHLVL", "_"}, name) {
			env = append(env, entry)
		}
	}
	slices.Sort(env)
	return env
}

func TestNewNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "plain.sh"), []byte("#!/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"":       "no agent is named",
		"claude": `the agent "claude" is not installed`,
		"clod": `the agent "clod" is neither a known agent (` + strings.Join(agent.Names(), ", ") +
			`) nor an executable`,
		"./plain.sh":      `the agent "./plain.sh" is not executable`,
		"./missing.sh":    `the agent "./missing.sh" is neither`,
		"/nowhere/claude": `the agent "/nowhere/claude" is not installed`,
	} {
		_, err := agent.New(agent.Options{Command: command, Dir: dir, Host: agent.Host{Parent: []string{"PATH=" + dir}}})
		var unknown *agent.UnknownError
		if !errors.As(err, &unknown) || !strings.HasPrefix(err.Error(), want) || unknown.Command != command {
			t.Errorf("%q: %v", command, err)
		}
	}
	if got := agent.Names(); !slices.Contains(got, "claude") || !slices.IsSorted(got) {
		t.Errorf("names = %q", got)
	}
}

func TestTurnOfAnAgentThatWentAway(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"no interpreter": {"#!/no/such/interpreter\n", "does not exist: install it"},
		"no program":     {"\x7fELF or so", "cannot be run"},
	} {
		f := fake{t.TempDir(), "agent"}
		if err := os.WriteFile(filepath.Join(f.dir, "agent"), []byte(c.text), 0o755); err != nil {
			t.Fatal(err)
		}
		if turn := f.turn(t, agent.Options{}, "Do it."); turn.Class != loop.Missing || !turn.Class.Fatal() ||
			!strings.Contains(turn.Reason, c.want) {
			t.Errorf("%s: %+v", name, turn)
		}
	}
	f := newFake(t, "agent", "echo hello")
	a := must(agent.New(f.options(agent.Options{})))
	if err := os.Remove(filepath.Join(f.dir, "agent")); err != nil {
		t.Fatal(err)
	}
	if turn, err := a.Turn(context.Background(), "Do it."); err != nil || turn.Class != loop.Missing {
		t.Errorf("removed: %+v, %v", turn, err)
	}
}

// TestTurnEnds: what ended a turn counts, unless the agent had said its word; a notice that it retries is no sign of
// life (C12).
func TestTurnEnds(t *testing.T) {
	t.Parallel()
	const half = 500 * time.Millisecond
	works := "echo working; sleep 600 & wait"
	told := `trap 'echo "{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"is_error\":true,\"total_cost_usd\":0.25,\"session_id\":\"s\"}"; exit 0' INT
touch "$HERE/ready"; while :; do sleep 0.05; done`
	for name, c := range map[string]struct {
		agent, script string
		bounds        agent.Bounds
		cancelled     bool // when it is ready
		class         loop.Class
		reason        string
		cost          float64
	}{
		"time limit": {agent: "agent", script: works, bounds: agent.Bounds{Timeout: time.Second, Grace: 5 * time.Second},
			class: loop.TimedOut, reason: "time limit of 1s"},
		"silence": {agent: "agent", script: works, bounds: agent.Bounds{Idle: half}, class: loop.Idle},
		"retries of claude": {agent: "claude", bounds: agent.Bounds{Idle: half, Grace: 100 * time.Millisecond}, class: loop.Idle, reason: "status 529",
			script: `while :; do echo '{"type":"system","subtype":"api_retry","attempt":1,"error_status":529}'; sleep 0.05; done`},
		"retries of gemini": {agent: "gemini", bounds: agent.Bounds{Idle: half}, class: loop.Idle,
			script: `while sleep 0.1; do echo "Attempt 1 failed with status 503. Retrying with backoff..." >&2; done`},
		"it asks to log in": {agent: "amp", script: "cat " + recordedFile(t, "amp/no-key") + "; sleep 600", class: loop.Auth,
			reason: "check AMP_API_KEY", bounds: agent.Bounds{Grace: 100 * time.Millisecond}},
		"a signal": {agent: "claude", script: "cat " + recordedFile(t, "claude/sigkill-tool") + "; kill -KILL $$", class: loop.Killed,
			reason: "SIGKILL"},
		"after its word": {agent: "claude", script: "cat " + recordedFile(t, "claude/success") + "; sleep 600", class: loop.OK,
			bounds: agent.Bounds{Timeout: 2 * time.Second, Grace: 100 * time.Millisecond}, cost: 0.0016},
		"cancelled, and it says what it has spent": {agent: "claude", script: told, cancelled: true, class: loop.Stopped, cost: 0.25,
			bounds: agent.Bounds{Grace: 40 * time.Second}},
		"time limit, and it says what it has spent": {agent: "claude", script: told, bounds: agent.Bounds{Timeout: half}, class: loop.TimedOut,
			cost: 0.25},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, c.agent, c.script)
			a := must(agent.New(f.options(agent.Options{Bounds: c.bounds})))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			go func() {
				for c.cancelled && ctx.Err() == nil {
					if _, err := os.Stat(filepath.Join(f.dir, "ready")); err == nil {
						cancel()
					}
					time.Sleep(10 * time.Millisecond)
				}
			}()
			turn, err := a.Turn(ctx, "Do it.")
			if err != nil || turn.Class != c.class || !strings.Contains(turn.Reason, c.reason) || turn.Usage.CostUSD != c.cost ||
				turn.Claim.Done != (c.class == loop.OK) {
				t.Errorf("%+v, %v", turn, err)
			}
		})
	}
}

func TestTurnAsAnotherUser(t *testing.T) {
	t.Parallel()
	user := must(proc.LookupUser("65534:65534"))
	dir := must(os.MkdirTemp("", "agent"))
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "claude"), []byte("#!/bin/sh\necho \"$(id -u) $HOME $IS_SANDBOX\" > who\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	f := fake{dir, "claude"}
	a,
		err := agent.New(f.options(agent.Options{Host: agent.Host{As: user, Home: "/nonexistent"}, LogFile: filepath.Join(t.TempDir(), "log")}))
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Turn(context.Background(), "Do it.")
	if euid := os.Geteuid(); euid != 0 && euid != int(user.UID) { // which the harness must not pass over in silence
		if err == nil {
			t.Error("the agent ran as ourselves")
		}
		return
	}
	// not root: the CLI need not be told that this is a sandbox
	if got := f.read(t, "who"); got != "65534 /nonexistent \n" {
		t.Errorf("who = %q", got)
	}
}

func TestLogFile(t *testing.T) {
	t.Parallel()
	f := newFake(t, "agent", "echo out; echo err >&2; exit 3")
	log := filepath.Join(f.dir, "runs", "1", "turn.log")
	turn := f.turn(t, agent.Options{LogFile: log}, "Do it.")
	info, err := os.Stat(log)
	if err != nil || info.Mode().Perm() != 0o600 || turn.LogFile != log {
		t.Fatalf("%v, %v, %+v", info, err, turn)
	}
	if raw, _ := os.ReadFile(log); !bytes.Contains(raw, []byte("out\n")) || !bytes.Contains(raw, []byte("err\n")) {
		t.Errorf("log = %q", raw)
	}
}
