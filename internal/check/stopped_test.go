//go:build unix

package check

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestCheckEndedWithTheRun: a check that is ended by the signal that stops the run has said nothing of the commit. One
// that fails by itself meanwhile has, and so has one that somebody ends while the run goes on.
func TestCheckEndedWithTheRun(t *testing.T) {
	for name, c := range map[string]struct {
		line     string
		reviewer loop.Turn
		stopped  bool
		want     string // empty: nothing is said of the commit
	}{
		"by a signal":                      {"kill -TERM $$", approves("t"), true, ""},
		"as its shell tells":               {"sh -c 'kill -TERM $$'; exit", approves("t"), true, ""},
		"the reviewer":                     {"true", loop.Turn{Class: loop.Killed, Exit: -1}, true, ""},
		"it fails by itself":               {"exit 1", approves("t"), true, "+++-."},
		"by a signal, and the run goes on": {"kill -TERM $$", approves("t"), false, "+++-."},
		"all is well":                      {"true", approves("t"), true, "+++++"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := list(t, &tree{}, c.reviewer, &checkout{}, c.line)
			l.Stopped = func() bool { return c.stopped }
			verdicts, err := l.Judge(context.Background(), at(claimed, changed))
			if got := words(verdicts); got != c.want || errors.Is(err, context.Canceled) != (c.want == "") {
				t.Errorf("the verdicts are %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

// TestBaselineEndedWithTheRun: nothing is said of the base commit either.
func TestBaselineEndedWithTheRun(t *testing.T) {
	l := list(t, &tree{}, loop.Turn{}, &checkout{}, "kill -TERM $$")
	l.Stopped = func() bool { return true }
	if verdicts, err := l.Baseline(context.Background(), at(claimed, changed)); !errors.Is(err, context.Canceled) ||
		len(verdicts) > 0 {
		t.Errorf("the verdicts are %q, %v", words(verdicts), err)
	}
}

// TestBaselineBeginsNoFurtherCheck: once the run is to stop, the check that runs is let run, and no other one begins.
func TestBaselineBeginsNoFurtherCheck(t *testing.T) {
	began := filepath.Join(t.TempDir(), "began")
	l := list(t, &tree{}, loop.Turn{}, &checkout{}, "echo x >> "+began, "echo x >> "+began)
	l.Stopping = func() bool { _, err := os.Stat(began); return err == nil }
	verdicts, err := l.Baseline(context.Background(), at(claimed, changed))
	if text, _ := os.ReadFile(began); !errors.Is(err, context.Canceled) || len(verdicts) > 0 || string(text) != "x\n" {
		t.Errorf("the verdicts are %q, %v; began %q", words(verdicts), err, text)
	}
}
