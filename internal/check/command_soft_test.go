package check

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// lasting stands for a process that takes so long, under the clock of a test.
func lasting(takes time.Duration) func(context.Context, proc.Spec) (proc.Result, error) {
	return func(_ context.Context, s proc.Spec) (proc.Result, error) {
		began := time.Now()
		if s.Soft > 0 && takes > s.Soft {
			time.Sleep(s.Soft)
			s.OnSoft()
		}
		if s.Timeout > 0 && takes > s.Timeout {
			time.Sleep(s.Timeout - time.Since(began))
			return proc.Result{Class: proc.TimedOut, Exit: -1}, nil
		}
		time.Sleep(takes - time.Since(began))
		return proc.Result{Class: proc.Exited}, nil
	}
}

// TestTimeLimits has a row for each side of the limits of S0-22: a warning at 5 minutes, the end at 10.
func TestTimeLimits(t *testing.T) {
	for _, tt := range []struct {
		takes, ends time.Duration
		warned      bool
		pass        bool
	}{
		{4 * time.Minute, 4 * time.Minute, false, true},
		{7 * time.Minute, 7 * time.Minute, true, true},
		{time.Hour, 10 * time.Minute, true, false},
	} {
		t.Run(tt.takes.String(), func(t *testing.T) {
			c := command(t, "make test")
			synctest.Test(t, func(t *testing.T) {
				c.Soft, c.Timeout, c.start = 5*time.Minute, 10*time.Minute, lasting(tt.takes)
				verdicts, log := judgeOne(t, at(silent, changed), &tree{}, c)
				v := verdicts[0]
				if v.Pass != tt.pass || v.Duration != tt.ends {
					t.Errorf("pass %v after %s (%s)", v.Pass, v.Duration, v.Reason)
				}
				if n := strings.Count(log, "check has taken 5m; it is stopped at 10m"); n != map[bool]int{true: 1}[tt.warned] {
					t.Errorf("warned %d times:\n%s", n, log)
				}
				if !tt.pass && (v.Reason != "it was stopped after its time limit of 10m" ||
					!strings.HasPrefix(v.PromptText, `Guardrail "make test" was stopped after 10m.`)) {
					t.Errorf("reason %q, tell %q", v.Reason, v.PromptText)
				}
			})
		})
	}
}

// TestTimeoutIsNoExpectation: a command that is stopped has no exit code to expect.
func TestTimeoutIsNoExpectation(t *testing.T) {
	c := command(t, "sleep 60")
	c.start = func(context.Context, proc.Spec) (proc.Result, error) {
		return proc.Result{Class: proc.TimedOut, Exit: -1}, nil
	}
	for _, code := range []int{0, -1, 143} {
		c.Expect.Exit = new(code)
		if v := outcomeOf(t, c); v.Pass || v.Severity != loop.Severity("") {
			t.Errorf("with %d expected: %+v", code, v)
		}
	}
}

// TestSilentWatcher: a command that has gone silent is ended if it waits for changes, and says how it runs once. On a
// commit where it has not ended before, no change to the code mends that.
func TestSilentWatcher(t *testing.T) {
	for output, ends := range map[string]bool{"ok\nWatch Usage\n": true, "ok\nthe next package compiles\n": false} {
		c := command(t, "make test")
		c.Watches = func(line, output string, _ bool) string {
			if line == "make test" && strings.Contains(output, "Watch Usage") {
				return "run jest with --watch=false"
			}
			return ""
		}
		c.start = func(_ context.Context, s proc.Spec) (proc.Result, error) {
			if _, err := s.Stdout.Write([]byte(output)); err != nil {
				return proc.Result{}, err
			}
			if s.Idle == 30*time.Second && s.Waits() {
				return proc.Result{Class: proc.Idle, Exit: -1}, nil
			}
			return proc.Result{Class: proc.Exited}, nil
		}
		verdicts, _ := judgeOne(t, at(silent, changed), &tree{}, c)
		v := verdicts[0]
		if v.Pass == ends || v.Unfixable != ends || v.Missing != ends || ends != strings.HasSuffix(v.Reason, "run jest with --watch=false") {
			t.Errorf("%q: pass %v, unfixable %v (%s)", output, v.Pass, v.Unfixable, v.Reason)
		}
	}
}
