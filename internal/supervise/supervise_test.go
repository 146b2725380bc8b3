//go:build linux

package supervise

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
)

// What an attempt leaves in the background is gone before the next one, wherever it went, and holds nothing up.
func TestSuperviseLeavesNoStrays(t *testing.T) {
	t.Parallel()
	w := supervised(t, `[ $RALPH_ATTEMPT = 1 ] && { alive stray && touch met; touch DONE; exit; }; `+stray)
	w.start().ends(loop.Done)
	if engine.Exists(filepath.Join(w.Dir, "met")) || w.lives("stray") {
		t.Error("the stray was still alive")
	}
}

// A registered child lives on when the command has ended, and is waited for once DONE is there.
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
	if !engine.Exists(filepath.Join(w.Dir, "finished")) {
		t.Error("the child was not allowed to finish")
	}
}

// Whatever the outcome, no registered child is left.
func TestSuperviseEndsChildrenOnEveryWayOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		want   loop.Outcome
		said   string
		signal bool // both signals, while the child is waited for
	}{
		"the limit":         {`register long`, loop.Capped, "", false},
		"a wait":            {`register long; exit 42`, loop.Waiting, "", false},
		"a fatal error":     {`register long; echo '{"type":"fatal_error","text":"x"}' >> .ralph/bus.jsonl`, loop.Invalid, "", false},
		"a DONE directory":  {`register long; mkdir DONE`, loop.Invalid, "", false},
		"it takes too long": {`register deaf; touch DONE`, loop.Done, "waiting at most 50ms for 1 active child", false},
		"the second signal": {`register deaf; touch DONE`, loop.Interrupted, "waiting at most 30s for 1 active child", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := supervised(t, c.script)
			if w.MaxRestarts = 1; !c.signal {
				w.WaitTimeout = 50 * time.Millisecond
			}
			if w.start(); c.signal {
				w.waitLog(c.said)
				w.cancel()
				w.kill()
			}
			w.ends(c.want, c.said, "Ending 1 active child")
			if w.lives("child") {
				t.Error("the child is still alive")
			}
		})
	}
}

// The first signal starts nothing new and lets the attempt finish; what that says counts.
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

// The second signal ends everything: the command, what left its session, and registered children of it and of attempts
// before.
func TestSuperviseSecondSignal(t *testing.T) {
	t.Parallel()
	w := supervised(
		t,
		`[ $RALPH_ATTEMPT = 0 ] && { register deaf; mv child first; exit; }; register deaf; `+stray+`touch begun; sleep 600`,
	)
	w.Grace = 2 * time.Second
	w.start().waitFile("begun")
	w.cancel()
	w.kill()
	w.ends(loop.Interrupted)
	if n := strings.Count(w.out.String(), "Ending "); n != 1 {
		t.Errorf("children are ended %d times:\n%s", n, w.out)
	}
	if ending, attempt := strings.Index(w.out.String(), "Ending "), strings.Index(w.out.String(), "Attempt 2: Agent ended"); ending < 0 ||
		ending > attempt {
		t.Errorf("what earlier attempts have left is ended only after the attempt:\n%s", w.out)
	}
	for _, file := range []string{"first", "child", "stray"} {
		if w.lives(file) {
			t.Errorf("%s is still alive", file)
		}
	}
}

// A registered child that crashes is waited for no more, and what it left is ended. Not in parallel: two supervisors in
// one process would do that for each other.
func TestSuperviseChildThatCrashes(t *testing.T) {
	w := supervised(t, `case $RALPH_ATTEMPT in
		0) register parent;;
		1) alive stray && touch survived; kill -KILL $(cat child); while [ -e /proc/$(cat child) ]; do sleep 0.01; done;;
		2) alive stray && touch met; touch DONE;;
	esac`)
	w.start().ends(loop.Done)
	if !engine.Exists(filepath.Join(w.Dir, "survived")) {
		t.Error("what came of a registered child did not survive the attempt")
	}
	if engine.Exists(filepath.Join(w.Dir, "met")) || w.lives("stray") {
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
	if err := <-gone; err == nil || !strings.Contains(err.Error(), "killed") ||
		engine.Exists(filepath.Join(w.Dir, "ran")) {
		t.Errorf("the child ended with %v", err)
	}
}

// The delay is always kept, ends with a signal, and with a DONE that somebody leaves meanwhile.
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

// An attempt that takes too long is ended with all it started, and is a failure like others.
func TestSuperviseTimeout(t *testing.T) {
	t.Parallel()
	w := supervised(t, `[ $RALPH_ATTEMPT = 1 ] && { touch DONE; exit; }; register deaf; `+stray+`sleep 600`)
	w.Timeout = 5 * time.Second // enough to come to the sleep on a busy machine
	w.start().ends(
		loop.Done, "] Agent timeout after 5s, killing process group\n",
		"] Process group killed, treating as failure\n", "] Restarting agent (attempt 2/3)\n",
	)
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
	if kept, _ := os.ReadFile(filepath.Join(w.Dir, ".ralph/supervise/attempt_001.log")); string(
		kept,
	) != "a\033[1mb\r\n::c" {
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
	w.Parent = append(
		w.Parent, "ANTHROPIC_API_KEY=k", "GITHUB_TOKEN=t", "gh_token=t", "ACTIONS_RUNTIME_TOKEN=t", "INPUT_X=t",
		"GITHUB_SHA=s", "TASK_FOLDER=other", "RALPH_ATTEMPT=7",
	)
	w.start().ends(loop.Done)
	raw, _ := os.ReadFile(filepath.Join(w.Dir, "env"))
	env := "\n" + string(raw)
	for _, want := range []string{"ANTHROPIC_API_KEY=k", "GITHUB_SHA=s", "RALPH_ATTEMPT=0", "TASK_FOLDER=" + w.Dir,
		"RALPH_SUPERVISOR_DIR=" + w.Dir} {
		if !strings.Contains(env, "\n"+want+"\n") {
			t.Errorf("the command lacks %s", want)
		}
	}
	if strings.Contains(env, "=t\n") {
		t.Errorf("the command has a token:\n%s", env)
	}
}
