//go:build unix

package proc_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

// patience bounds what should take no time at all; it is only there so that a hanging test ends.
const patience = 30 * time.Second

// script is a Spec that runs a shell script in a fresh directory.
func script(t *testing.T, text string) proc.Spec {
	t.Helper()
	return proc.Spec{Argv: []string{"sh", "-c", text}, Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}}
}

func run(t *testing.T, s proc.Spec) proc.Result {
	t.Helper()
	r := must(proc.Run(context.Background(), s))
	return r
}

// must is a value that only the machine can fail to give.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// ids reads process ids from files.
func ids(t *testing.T, dir string, files ...string) (pids []int) {
	t.Helper()
	for _, file := range files {
		pids = append(pids, must(strconv.Atoi(strings.TrimSpace(string(must(os.ReadFile(filepath.Join(dir, file))))))))
	}
	return pids
}

// alive reports whether the process whose id is in a file is running.
func alive(t *testing.T, file string) bool {
	t.Helper()
	pid := ids(t, "", file)[0]
	if status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil &&
		strings.Contains(string(status), ") Z ") {
		return false
	}
	return syscall.Kill(pid, 0) == nil
}

// beside runs a script that writes a file named begun, until the function is called.
func beside(t *testing.T, s proc.Spec) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = proc.Run(ctx, s)
	}()
	waitFor(t, filepath.Join(s.Dir, "begun"))
	return func() { cancel(); <-ended }
}

func waitFor(t *testing.T, file string) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if info, err := os.Stat(file); err == nil && info.Size() > 0 {
			return
		}
	}
	t.Fatalf("%s was never written", file)
}

func TestRunHandsOnEverything(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	s := script(t, `cat; echo "$A|$HOME|$#"; pwd; echo oops >&2; exit 7`)
	s.Env = append(s.Env, "A=b c")
	s.Stdin, s.Stdout, s.Stderr = strings.NewReader("told\n"), &out, &errs
	r := run(t, s)
	dir, _ := filepath.EvalSymlinks(s.Dir)
	if out.String() != "told\nb c||0\n"+dir+"\n" || errs.String() != "oops\n" {
		t.Errorf("out = %q, err = %q", out.String(), errs.String())
	}
	if r.Class != proc.Exited || r.Exit != 7 || r.Signal != "" || r.Duration <= 0 {
		t.Errorf("result = %+v", r)
	}
}

func TestRunToldTooMuch(t *testing.T) {
	t.Parallel()
	s := script(t, `exit 0`)
	s.Stdin = io.LimitReader(zeros{}, 50<<20) // never read
	if r := run(t, s); r.Class != proc.Exited || r.Exit != 0 {
		t.Errorf("result = %+v", r)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestRunWhatCannotBeRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		argv  string
		class proc.Class
	}{
		{"no-such-program", proc.NotFound},
		{filepath.Join(dir, "no-such-file"), proc.NotFound},
		{write("plain", "#!/bin/sh\n", 0o644), proc.NotExecutable},
		{dir, proc.NotExecutable},
		{write("orphan", "#!/no/such/interpreter\n", 0o755), proc.NotFound},
		{write("nonsense", "\x7fELF or so", 0o755), proc.NotExecutable},
		{write("reads-plain", "#!"+filepath.Join(dir, "plain")+"\n", 0o755), proc.NotExecutable},
		{filepath.Join(dir, "plain", "below"), proc.NotFound},
	} {
		r, err := proc.Run(context.Background(),
			proc.Spec{Argv: []string{c.argv}, Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")}})
		if err != nil || r.Class != c.class || r.Exit != -1 {
			t.Errorf("%s: %+v, %v; want %s", c.argv, r, err, c.class)
		}
	}
	if _, err := proc.Run(context.Background(),
		proc.Spec{Argv: []string{"sh"}, Dir: filepath.Join(dir, "nowhere"),
			Env: []string{"PATH=/bin:/usr/bin"}}); err == nil {
		t.Error("a missing directory is the harness's failure")
	}
	if _, err := proc.Run(context.Background(), proc.Spec{}); err == nil {
		t.Error("no program named is the harness's failure")
	}
}

func TestRunIdle(t *testing.T) {
	t.Parallel()
	s := script(t, `echo one; sleep 0.3; echo two; sleep 0.3; echo three; sleep 600`)
	var out bytes.Buffer
	s.Stdout, s.Idle = &out, 2*time.Second
	if r := run(t, s); r.Class != proc.Idle || r.Duration < s.Idle {
		t.Errorf("result = %+v", r)
	}
	if out.String() != "one\ntwo\nthree\n" {
		t.Errorf("out = %q", out.String())
	}
}

func TestRunIdleByPulse(t *testing.T) {
	t.Parallel()
	s := script(t, `while :; do echo waiting; sleep 0.02; done`) // output that is no sign of life
	s.Idle, s.Pulse = 300*time.Millisecond, new(proc.Heartbeat)
	if r := run(t, s); r.Class != proc.Idle {
		t.Errorf("result = %+v", r)
	}
}

func TestRunCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := proc.Run(ctx, script(t, `echo never`)); err != nil || r.Class != proc.Canceled || r.Exit != -1 {
		t.Errorf("before: %+v, %v", r, err)
	}
	s := script(t, `sleep 600 & sleep 600`)
	ctx, cancel = context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if r, err := proc.Run(ctx, s); err != nil || r.Class != proc.Canceled || r.Signal != "SIGTERM" {
		t.Errorf("during: %+v, %v", r, err)
	}
}

// Two runs at the same time do not end each other's processes.
func TestRunsAreApart(t *testing.T) {
	t.Parallel()
	long := script(t, `setsid sh -c 'sleep 1; echo lives > lives' & wait; echo done`)
	var out bytes.Buffer
	long.Stdout = &out
	done := make(chan proc.Result)
	go func() {
		r, _ := proc.Run(context.Background(), long)
		done <- r
	}()
	for range 10 {
		run(t, script(t, `setsid sleep 600 & exit 0`))
	}
	if r := <-done; r.Exit != 0 || out.String() != "done\n" {
		t.Errorf("result = %+v, out = %q", r, out.String())
	}
	waitFor(t, filepath.Join(long.Dir, "lives"))
}

func TestRunGoesOnWhenAWriterFails(t *testing.T) {
	s := script(t, `head -c 1000000 /dev/zero; echo done > done`)
	s.Stdout = broken{}
	r, err := proc.Run(context.Background(), s)
	if !errors.Is(err, errDisk) || r.Exit != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	waitFor(t, filepath.Join(s.Dir, "done"))
}

func TestRunBoundsMemory(t *testing.T) {
	const size = 20 << 20
	s := script(t, `head -c `+strconv.Itoa(size)+` /dev/zero`)
	tail, log := proc.NewTail(1<<10, 1<<10), proc.NewCapped(io.Discard, 1<<20)
	s.Stdout = io.MultiWriter(log, tail)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run(t, s)
	runtime.ReadMemStats(&after)
	if tail.Len() != size {
		t.Errorf("%d of %d bytes came", tail.Len(), size)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
		t.Errorf("%d bytes were allocated for %d of output", grown, size)
	}
}
