//go:build unix

package proc_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

// canceledOnce returns a context that is cancelled once a file has been written.
func canceledOnce(t *testing.T, file string) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go func() {
		waitFor(t, file)
		cancel()
	}()
	return ctx
}

func TestRunInterruptsTheRootFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		root      string
		interrupt time.Duration
		out       string
		exit      int
		signal    string
	}{
		"it tells what it cost": {`trap 'echo cost; exit 0' INT; trap 'echo term; exit 1' TERM`, patience, "cost\n", 0,
			""},
		"it does not listen": {`trap 'echo deaf' INT; trap 'echo term; exit 1' TERM`, 300 * time.Millisecond,
			"deaf\nterm\n", 1, ""},
		"it is not asked":          {`trap 'echo cost; exit 0' INT; trap 'echo term; exit 1' TERM`, 0, "term\n", 1, ""},
		"it is stopped":            {`trap 'echo cost; exit 0' INT; stop=1`, patience, "cost\n", 0, ""},
		"it dies of it, as it may": {`trap - INT`, patience, "", -1, "SIGINT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			s := script(t, c.root+`
				sh -c 'trap "echo child; exit 0" INT; echo $$ > child; while :; do sleep 0.02; done' &
				while ! [ -s child ]; do sleep 0.01; done
				echo $$ > root; [ -n "$stop" ] && kill -STOP $$; while :; do sleep 0.02; done`)
			s.Stdout, s.Interrupt = &out, c.interrupt
			r, err := proc.Run(canceledOnce(t, filepath.Join(s.Dir, "root")), s)
			if err != nil || r.Class != proc.Canceled || r.Exit != c.exit || r.Signal != c.signal || out.String() != c.out {
				t.Errorf("result = %+v, %v, out = %q", r, err, out.String())
			}
			if alive(t, filepath.Join(s.Dir, "child")) {
				t.Error("the child is still alive")
			}
		})
	}
}

// Who is in a hurry gets KILL at once, whatever time was given.
func TestRunInAHurry(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]proc.Spec{
		"in the grace":          {Ending: proc.Ending{Grace: 10 * patience}},
		"before it":             {Ending: proc.Ending{Interrupt: 10 * patience, Grace: 10 * patience}},
		"before anything stops": {Ending: proc.Ending{Grace: 10 * patience}, Timeout: 300 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := script(t, `trap 'echo > told' TERM INT; echo $$ > pid; while :; do sleep 0.02; done`)
			hurry := make(chan struct{})
			s.Grace, s.Interrupt, s.Timeout, s.Hurry = limits.Grace, limits.Interrupt, limits.Timeout, hurry
			ctx := context.Background()
			if s.Timeout == 0 {
				ctx = canceledOnce(t, filepath.Join(s.Dir, "pid"))
				go func() {
					waitFor(t, filepath.Join(s.Dir, "told"))
					close(hurry)
				}()
			} else {
				close(hurry)
			}
			r, err := proc.Run(ctx, s)
			if err != nil || r.Signal != "SIGKILL" || r.Duration > patience {
				t.Errorf("result = %+v, %v", r, err)
			}
		})
	}
}

// A soft limit warns once and stops nothing; one that is not reached says nothing.
func TestRunWarnsOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		soft time.Duration
		want int32
	}{
		"long":     {50 * time.Millisecond, 1},
		"short":    {patience, 0},
		"no limit": {0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var warned atomic.Int32
			s := script(t, `sleep 0.5`)
			s.Soft, s.OnSoft = c.soft, func() {
				time.Sleep(c.soft)
				warned.Add(1)
			}
			if r := run(t, s); r.Class != proc.Exited || r.Exit != 0 || warned.Load() != c.want {
				t.Errorf("result = %+v, warned %d times", r, warned.Load())
			}
		})
	}
}

func TestRunTellsTheEnd(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]proc.Result{
		`exit 0`:                            {Class: proc.Exited},
		`exit 255`:                          {Class: proc.Exited, Exit: 255},
		`no-such-program 2>/dev/null`:       {Class: proc.Exited, Exit: 127},
		`kill -TERM $$`:                     {Class: proc.Signalled, Exit: -1, Signal: "SIGTERM"},
		`ulimit -c 0; kill -SEGV $$`:        {Class: proc.Signalled, Exit: -1, Signal: "SIGSEGV"},
		`kill -KILL $$`:                     {Class: proc.Signalled, Exit: -1, Signal: "SIGKILL"},
		`sh -c 'kill -KILL $$' 2>/dev/null`: {Class: proc.Exited, Exit: 137},
	} {
		r := run(t, script(t, text+"\nexit $?"))
		if r.Duration = 0; r != want {
			t.Errorf("%s: %+v, want %+v", text, r, want)
		}
	}
}

// The context says how long everything that is started with it has between TERM and KILL; what one process is given
// counts before that.
func TestRunTakesTheGraceOfItsContext(t *testing.T) {
	t.Parallel()
	short := 100 * time.Millisecond
	for name, c := range map[string]struct{ context, own time.Duration }{
		"of the context": {short, 0},
		"its own":        {10 * patience, short},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := script(t, `trap '' TERM; echo $$ > pid; while :; do sleep 0.02; done`)
			s.Grace = c.own
			ctx := proc.WithGrace(canceledOnce(t, filepath.Join(s.Dir, "pid")), c.context)
			r, err := proc.Run(ctx, s)
			if err != nil || r.Signal != "SIGKILL" || r.Duration < short || r.Duration > proc.DefaultGrace-short || alive(t, filepath.Join(s.Dir, "pid")) {
				t.Errorf("result = %+v, %v", r, err)
			}
		})
	}
	if got := proc.GraceOf(context.Background()); got != 5*time.Second {
		t.Errorf("the grace where nobody says otherwise is %s", got)
	}
}

// All of a tree has the grace to tidy up, what was stopped too, and a shell that dies at once costs none of it.
func TestRunGivesTheWholeTreeItsGrace(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]string{"at work": "", "stopped": "kill -STOP $$; "} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := script(t, `sh -c 'trap "sleep 0.3; echo tidy > tidied; exit 0" TERM; echo $$ > pid; `+stop+
				`while :; do sleep 0.02; done' & wait`)
			s.Grace = patience
			r, err := proc.Run(canceledOnce(t, filepath.Join(s.Dir, "pid")), s)
			if err != nil || r.Class != proc.Canceled || r.Duration >= patience {
				t.Errorf("result = %+v, %v", r, err)
			}
			if _, err := os.Stat(filepath.Join(s.Dir, "tidied")); err != nil {
				t.Error("it had no time to tidy up")
			}
		})
	}
}
