package check

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestLacking has a row for each way to tell what a change took away from what was never there.
func TestLacking(t *testing.T) {
	const line = "jest && lint"
	missing := func(tool string) Lacks {
		return func(int, string) (string, string) { return tool, tool + " is not installed" }
	}
	ran := loop.Verdict{Check: line, Severity: loop.Hard, Exit: 1}
	for _, tt := range []struct {
		name     string
		missing  string
		present  []string
		baseline []loop.Verdict
		before   []loop.Verdict // of an earlier iteration
		want     bool
	}{
		{name: "the line names it, and it was never there", missing: "jest", want: true},
		{name: "nothing is missing"},
		{name: "it was there before the first turn", missing: "jest", present: []string{"jest"},
			before: []loop.Verdict{{Check: line, Missing: true, Exit: 127}}},
		{name: "the check ran on the base commit", missing: "jest", baseline: []loop.Verdict{ran}},
		{name: "the check ran in an earlier iteration", missing: "jest", before: []loop.Verdict{ran}},
		{name: "it was missing before, too", missing: "jest",
			before: []loop.Verdict{{Check: line, Missing: true, Exit: 2}}, want: true},
		{name: "it was skipped before", missing: "jest",
			before: []loop.Verdict{{Check: line, Skipped: "why"}}, want: true},
		{name: "something that the line runs names it", missing: "deeper"},
		{name: "the agent was told of it", missing: "deeper",
			before: []loop.Verdict{{Check: line, Missing: true, Exit: 1}}, want: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &Command{
				Title: line, Line: "exit 127 # " + line, Hard: true, Timeout: time.Minute,
				Programs: Programs{Lacks: missing(tt.missing), Present: tt.present}, Place: placeIn(t.TempDir()),
			}
			s := at(claimed, changed)
			s.Baseline = tt.baseline
			s = s.With(loop.Record{Type: loop.Judged, Iteration: 1, Verdicts: tt.before})
			s = s.With(loop.Record{Type: loop.Turned, Iteration: 2, Turn: &claimed})
			s = s.With(loop.Record{Type: loop.Committed, Iteration: 2, Commit: &changed})
			v, err := c.Run(t.Context(), Input{State: s, Iteration: *s.Last()})
			noError(t, err)
			if v.Unfixable != tt.want || v.Unfixable != strings.HasPrefix(v.Reason, "the check cannot run here: ") {
				t.Errorf("verdict = %+v", v)
			}
		})
	}
	soft := &Command{Title: line, Line: "exit 127",
		Timeout: time.Minute, Programs: Programs{Lacks: missing("exit")}, Place: placeIn(t.TempDir())}
	if v, err := soft.Run(t.Context(), Input{Iteration: *at(claimed, changed).Last()}); err != nil || v.Unfixable {
		t.Errorf("a soft check: %+v, %v", v, err)
	}
}
