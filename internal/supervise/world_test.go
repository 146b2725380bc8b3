//go:build linux

package supervise

import (
	"bytes"
	"context"
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

// childOf is the environment variable that makes the test's own program a child that registers, says "ready" and stays:
// until it is asked to end, or in spite of that.
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
		for !fileExists("stray") {
			time.Sleep(5 * time.Millisecond)
		}
	}
	_ = os.WriteFile(filepath.Join(dir, "child"), []byte(strconv.Itoa(os.Getpid())), 0o600)
	if how == "short" { // until somebody lets it go
		for !fileExists(filepath.Join(dir, "go")) {
			time.Sleep(5 * time.Millisecond)
		}
		_ = os.WriteFile(filepath.Join(dir, "finished"), nil, 0o600)
		release()
		os.Exit(0)
	}
	time.Sleep(time.Hour)
}

func fileExists(path string) bool { _, err := os.Stat(path); return err == nil }

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

func (l *lines) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }

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
	w.wait(name, func() bool { return fileExists(filepath.Join(w.Dir, name)) })
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
