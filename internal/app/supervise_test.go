//go:build linux

package app

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
)

// childOf is the environment variable that makes the test's own program a child that registers, says "ready" and stays: until it is
// asked to end, or in spite of that.
const childOf = "TEST_REGISTERS"

func init() {
	how := os.Getenv(childOf)
	if how == "" {
		return
	}
	dir := os.Getenv(journal.SupervisorDir)
	release, err := journal.Register(dir)
	if err != nil {
		panic(err)
	}
	switch how {
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
	case "parent":
		below := exec.Command("sh", "-c", deaf)
		below.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := below.Start(); err != nil {
			panic(err)
		}
		for !exists("stray") {
			time.Sleep(5 * time.Millisecond)
		}
	}
	_ = os.WriteFile(filepath.Join(dir, "child"), []byte(strconv.Itoa(os.Getpid())), 0o600)
	if how == "short" { // until somebody lets it go
		for !exists(filepath.Join(dir, "go")) {
			time.Sleep(5 * time.Millisecond)
		}
		_ = os.WriteFile(filepath.Join(dir, "finished"), nil, 0o600)
		release()
		os.Exit(0)
	}
	time.Sleep(time.Hour)
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// awhile bounds what should take no time at all; it is only there so that a hanging test ends.
const awhile = 30 * time.Second

// watched is a supervisor of a shell script, in a directory of its own.
type watched struct {
	*Supervisor
	t        *testing.T
	out      *lines
	ctx      context.Context
	hard     context.Context
	cancel   func() // the first signal
	kill     func() // the second
	released chan ended
}

type ended struct {
	outcome loop.Outcome
	err     error
}

// lines is a buffer that may be read while it is written.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) { l.mu.Lock(); defer l.mu.Unlock(); return l.b.Write(p) }
func (l *lines) String() string              { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }

// supervised prepares one. In the script, `register HOW` starts a child that registers, and goes on when it has.
func supervised(t *testing.T, script string) *watched {
	t.Helper()
	dir, out := t.TempDir(), new(lines)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const register = `alive() { grep -qs ') [^Z]' /proc/$(cat $1)/stat; }; register() { rm -f "$TASK_FOLDER/child"; TEST_REGISTERS=$1 setsid "$TEST_SELF" & while ! [ -s "$TASK_FOLDER/child" ]; do sleep 0.01; done; }; `
	w := &watched{t: t, out: out, released: make(chan ended, 1), Supervisor: &Supervisor{
		Argv: []string{"sh", "-c", register + script}, Dir: dir, Out: out, Err: io.Discard, Clock: time.Now,
		Parent:      []string{"PATH=" + os.Getenv("PATH"), "TEST_SELF=" + self},
		MaxRestarts: 3, WaitTimeout: awhile, PollInterval: 5 * time.Millisecond, Grace: 300 * time.Millisecond,
	}}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.hard, w.kill = context.WithCancel(context.Background())
	t.Cleanup(w.cancel)
	t.Cleanup(w.kill)
	return w
}

func (w *watched) start() *watched {
	go func() {
		outcome, err := w.Run(w.ctx, w.hard)
		w.released <- ended{outcome, err}
	}()
	return w
}

// ends waits for the end and holds it against what is wanted.
func (w *watched) ends(outcome loop.Outcome, said ...string) ended {
	w.t.Helper()
	select {
	case e := <-w.released:
		if e.outcome != outcome {
			w.t.Errorf("outcome %s (%v), want %s", e.outcome, e.err, outcome)
		}
		w.said(said...)
		if pids, _ := journal.Children(w.Dir); len(pids) > 0 {
			w.t.Errorf("registered children are left: %v", pids)
		}
		if w.t.Failed() {
			w.t.Logf("the log:\n%s", w.out)
		}
		return e
	case <-time.After(awhile):
		w.t.Fatalf("it does not end; the log:\n%s", w.out)
		return ended{}
	}
}

func (w *watched) said(parts ...string) {
	w.t.Helper()
	for _, part := range parts {
		if !strings.Contains(w.out.String(), part) {
			w.t.Errorf("the log does not say %q", part)
		}
	}
}

func (w *watched) wait(what string, until func() bool) {
	w.t.Helper()
	for end := time.Now().Add(awhile); !until(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("it never came to this: %s; the log:\n%s", what, w.out)
		}
	}
}

func (w *watched) waitFile(name string) {
	w.t.Helper()
	w.wait(name, func() bool { return exists(filepath.Join(w.Dir, name)) })
}

func (w *watched) waitLog(part string) {
	w.t.Helper()
	w.wait(part, func() bool { return strings.Contains(w.out.String(), part) })
}

// lives reports whether the process whose number a file holds is alive.
func (w *watched) lives(file string) bool {
	w.t.Helper()
	raw, err := os.ReadFile(filepath.Join(w.Dir, file))
	if err != nil {
		w.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		w.t.Fatalf("%s holds %q", file, raw)
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ") && syscall.Kill(pid, 0) == nil
}

// deaf ends only when it is killed; stray starts it in a session of its own.
const (
	deaf  = `trap "" TERM HUP INT; echo $$ > stray; while :; do sleep 0.05; done`
	stray = `setsid sh -c '` + deaf + `' & while ! [ -s stray ]; do sleep 0.01; done; `
)

// What an attempt leaves in the background is gone before the next one, wherever it went (S3-38…S3-43), and holds nothing up.
func TestSuperviseLeavesNoStrays(t *testing.T) {
	t.Parallel()
	w := supervised(t, `[ $RALPH_ATTEMPT = 1 ] && { alive stray && touch met; touch DONE; exit; }; `+stray)
	w.start().ends(loop.Done)
	if exists(filepath.Join(w.Dir, "met")) || w.lives("stray") {
		t.Error("the stray was still alive")
	}
}

// A registered child lives on when the command has ended, and is waited for once DONE is there (S3-30).
func TestSuperviseWaitsForChildren(t *testing.T) {
	t.Parallel()
	w := supervised(t, `case $RALPH_ATTEMPT in 0) register short; `+stray+`;; 1) alive child && touch met DONE;; esac`)
	w.MaxRestarts = 2
	w.start().waitLog("waiting at most 30s for 1 active child")
	w.cancel() // what runs may come to its end
	if w.lives("stray") {
		t.Error("what did not register is alive after the attempt")
	}
	if strings.Contains(w.out.String(), reasonDone) || !w.lives("child") {
		t.Error("it was not waited for")
	}
	w.waitFile("met")
	_ = os.WriteFile(filepath.Join(w.Dir, "go"), nil, 0o600)
	w.ends(loop.Done, reasonDone)
	if !exists(filepath.Join(w.Dir, "finished")) {
		t.Error("the child was not allowed to finish")
	}
}

func TestSuperviseEndsChildrenThatTakeTooLong(t *testing.T) {
	t.Parallel()
	w := supervised(t, `register deaf; touch DONE`)
	w.WaitTimeout = 50 * time.Millisecond
	w.start().ends(loop.Done, "waiting at most 50ms for 1 active child", "Ending 1 active child", reasonDone)
	if w.lives("child") {
		t.Error("the child is still alive")
	}
}

// Whatever the outcome, no registered child is left.
func TestSuperviseEndsChildrenOnEveryWayOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		want   loop.Outcome
	}{
		"the limit":        {`register long`, loop.Capped},
		"a wait":           {`register long; exit 42`, loop.Waiting},
		"a fatal error":    {`register long; echo '{"type":"fatal_error","text":"x"}' >> .ralph/bus.jsonl`, loop.Invalid},
		"a DONE directory": {`register long; mkdir DONE`, loop.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := supervised(t, c.script)
			w.MaxRestarts = 1
			w.start().ends(c.want, "Ending 1 active child")
			if w.lives("child") {
				t.Error("the child is still alive")
			}
		})
	}
}

// The first signal starts nothing new and lets the attempt finish; what that says counts (C11).
func TestSuperviseFirstSignal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		last string
		want loop.Outcome
	}{
		"it only ends":    {"exit 1", loop.Interrupted},
		"it is done":      {"touch DONE", loop.Done},
		"it asks to wait": {"exit 42", loop.Waiting},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := supervised(t, `touch begun; while ! [ -e go ]; do sleep 0.01; done; echo finished; `+c.last)
			w.start().waitFile("begun")
			w.cancel()
			_ = os.WriteFile(filepath.Join(w.Dir, "go"), nil, 0o600)
			w.ends(c.want, "finished\n")
			if strings.Contains(w.out.String(), "attempt 2") {
				t.Error("another attempt was started or promised")
			}
		})
	}
}

// The second signal ends everything: the command, what left its session, and registered children of it and of attempts before.
func TestSuperviseSecondSignal(t *testing.T) {
	t.Parallel()
	w := supervised(t, `[ $RALPH_ATTEMPT = 0 ] && { register deaf; mv child first; exit; }; register deaf; `+stray+`touch begun; sleep 600`)
	w.start().waitFile("begun")
	w.cancel()
	w.kill()
	w.ends(loop.Interrupted)
	for _, file := range []string{"first", "child", "stray"} {
		if w.lives(file) {
			t.Errorf("%s is still alive", file)
		}
	}
}

func TestSuperviseSecondSignalWhileChildrenAreWaitedFor(t *testing.T) {
	t.Parallel()
	w := supervised(t, `register deaf; touch DONE`)
	w.start().waitLog("waiting at most")
	w.cancel()
	w.kill()
	w.ends(loop.Interrupted)
	if w.lives("child") {
		t.Error("the child is still alive")
	}
}

// A registered child that crashes is waited for no more, and what it left is ended. Not in parallel: two supervisors in one process
// would do that for each other.
func TestSuperviseChildThatCrashes(t *testing.T) {
	w := supervised(t, `case $RALPH_ATTEMPT in
		0) register parent;;
		1) alive stray && touch survived; kill -KILL $(cat child); while [ -e /proc/$(cat child) ]; do sleep 0.01; done;;
		2) alive stray && touch met; touch DONE;;
	esac`)
	w.start().ends(loop.Done)
	if !exists(filepath.Join(w.Dir, "survived")) {
		t.Error("what came of a registered child did not survive the attempt")
	}
	if exists(filepath.Join(w.Dir, "met")) || w.lives("stray") {
		t.Error("what it left was still alive")
	}
	if strings.Contains(w.out.String(), "waiting at most") {
		t.Error("it was waited for")
	}
}

// A supervisor that is killed leaves its registered children to the next one.
func TestSuperviseTakesChildrenOver(t *testing.T) {
	t.Parallel()
	w := supervised(t, `touch ran`)
	child := exec.Command(w.Parent[1][len("TEST_SELF="):])
	child.Env = append(os.Environ(), childOf+"=deaf", journal.SupervisorDir+"="+w.Dir)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() { gone <- child.Wait() }()
	w.waitFile("child")
	_ = os.WriteFile(filepath.Join(w.Dir, "DONE"), nil, 0o600)
	w.WaitTimeout = 50 * time.Millisecond
	w.start().ends(loop.Done, "waiting at most 50ms", "Ending 1 active child")
	if err := <-gone; err == nil || !strings.Contains(err.Error(), "killed") || exists(filepath.Join(w.Dir, "ran")) {
		t.Errorf("the child ended with %v", err)
	}
}

func TestSuperviseCancelledBefore(t *testing.T) {
	w := supervised(t, `touch ran`)
	w.cancel()
	w.start().ends(loop.Interrupted)
	if exists(filepath.Join(w.Dir, "ran")) {
		t.Error("something was started")
	}
}

// The delay is always kept, ends with a signal, and with a DONE that somebody leaves meanwhile (S3-14, S3-26).
func TestSuperviseDelay(t *testing.T) {
	t.Parallel()
	signalled := supervised(t, `exit 0`)
	signalled.RestartDelay = time.Hour
	signalled.start().waitLog("Attempt 1: Agent succeeded")
	signalled.cancel()
	signalled.ends(loop.Interrupted)

	done := supervised(t, `exit 1`)
	done.RestartDelay = time.Hour
	done.start().waitLog("restarting (attempt 2/3)")
	_ = os.WriteFile(filepath.Join(done.Dir, "DONE"), nil, 0o600)
	done.ends(loop.Done)

	kept := supervised(t, `exit 1`)
	kept.RestartDelay = 100 * time.Millisecond
	began := time.Now()
	kept.start().ends(loop.Capped)
	if took := time.Since(began); took < 300*time.Millisecond {
		t.Errorf("three attempts took %s", took)
	}
}

// An attempt that takes too long is ended with all it started, and is a failure like others (S3-46).
func TestSuperviseTimeout(t *testing.T) {
	t.Parallel()
	w := supervised(t, `[ $RALPH_ATTEMPT = 1 ] && { touch DONE; exit; }; register deaf; `+stray+`sleep 600`)
	w.Timeout = 2 * time.Second
	w.start().ends(loop.Done, "] Agent timeout after 2s, killing process group\n", "] Process group killed, treating as failure\n", "] Restarting agent (attempt 2/3)\n")
	if w.lives("stray") || w.lives("child") {
		t.Error("something is still alive")
	}
}

// The log stands on lines of its own, and the command's bytes are handed on as they are.
func TestSuperviseLog(t *testing.T) {
	t.Parallel()
	w := supervised(t, `printf 'a\033[1mb\r\n::c'; touch DONE`)
	w.Clock = func() time.Time { return time.Date(2026, 2, 5, 10, 0, 0, 0, time.UTC) }
	w.start().ends(loop.Done)
	if got, want := w.out.String(), "[2026-02-05 10:00:00] Starting agent (attempt 1/3)\n"+"a\033[1mb\r\n::c\n"+
		"[2026-02-05 10:00:00] Attempt 1: Agent succeeded\n[2026-02-05 10:00:00] "+reasonDone+"\n"; got != want {
		t.Errorf("the output is\n%q, want\n%q", got, want)
	}
	if kept, _ := os.ReadFile(filepath.Join(w.Dir, ".ralph/supervise/attempt_001.log")); string(kept) != "a\033[1mb\r\n::c" {
		t.Errorf("kept: %q", kept)
	}
}

// Nobody is left to read the output: to go on would cost and tell nobody.
func TestSuperviseWithoutOutput(t *testing.T) {
	t.Parallel()
	w := supervised(t, `echo x`)
	w.Out = broken{}
	if e := w.start().ends(loop.Failed); e.err == nil || !strings.Contains(e.err.Error(), "no reader") {
		t.Errorf("err = %v", e.err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no reader") }

// The command gets the user's environment, without what opens GitHub, and with its place.
func TestSuperviseEnvironment(t *testing.T) {
	t.Parallel()
	w := supervised(t, `env > env; touch DONE`)
	w.Parent = append(w.Parent, "ANTHROPIC_API_KEY=k", "GITHUB_TOKEN=t", "gh_token=t", "ACTIONS_RUNTIME_TOKEN=t", "INPUT_X=t", "GITHUB_SHA=s", "TASK_FOLDER=other", "RALPH_ATTEMPT=7")
	w.start().ends(loop.Done)
	raw, _ := os.ReadFile(filepath.Join(w.Dir, "env"))
	env := "\n" + string(raw)
	for _, want := range []string{"ANTHROPIC_API_KEY=k", "GITHUB_SHA=s", "RALPH_ATTEMPT=0", "TASK_FOLDER=" + w.Dir, "RALPH_SUPERVISOR_DIR=" + w.Dir} {
		if !strings.Contains(env, "\n"+want+"\n") {
			t.Errorf("the command lacks %s", want)
		}
	}
	if strings.Contains(env, "=t\n") {
		t.Errorf("the command has a token:\n%s", env)
	}
}
