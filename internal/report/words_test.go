package report

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
)

func TestNow(t *testing.T) {
	s := sample.Begin(nil)
	see := func(want string) {
		t.Helper()
		if got := view(s).headline() + " — " + view(s).now(); got != want {
			t.Errorf("got %q\nwant %q", got, want)
		}
	}
	see("🔄 Starting — The first iteration is about to begin.")
	s.Turning(1, loop.Implement)
	see("🔄 Working: iteration 1 of 5 — The agent writes the change since 05:30 UTC.")
	s.Turned(1, loop.Turn{Class: loop.OK})
	see("🔄 Working: iteration 1 of 5 — What the agent changed is being committed.")
	s.Committed(1, loop.FileChange{Path: "a"})
	see("🔄 Working: iteration 1 of 5 — The checks run on what the agent changed: `go vet ./...`, `go test ./...`, a " +
		"review by a fresh agent.")
	s.Judged(1, sample.TestFailure)
	see("🔄 Working: iteration 1 of 5 — The next iteration begins with what failed.")
	s.Turning(2, loop.ReviewFix)
	see("🔄 Working: iteration 2 of 5 — The agent works on what the reviewer asked for since 05:31 UTC.")
}

func TestHeadlines(t *testing.T) {
	for outcome, want := range map[loop.Outcome]string{
		loop.Done: "✅ Done", loop.Capped: "❌ Stopped after 0 of 5 iterations: why",
		loop.Stuck: "❌ Stuck after 0 of 5 iterations: why", loop.Timeout: "❌ Stopped by the time limit",
		loop.Budget: "❌ Stopped by the budget", loop.Invalid: "⚠️ Cannot run", loop.Waiting: "⏸️ Waiting",
		loop.Refused:     "⛔ Refused",
		loop.Interrupted: "⏹️ Interrupted", loop.Failed: "❌ Failed in ralph's own part, not in the work: why",
	} {
		if got := end(sample.Begin(nil), outcome, "why", "").headline(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q", outcome, got)
		}
	}
}

// A run whose process died says so, and what to do.
func TestSilent(t *testing.T) {
	v := runningFirst()
	lease := v.State.At.Add(time.Minute)
	v.State.Lease = lease
	v.Now = lease
	if got := Status(v); strings.Contains(got, "No sign of life") {
		t.Errorf("a live run: %s", got)
	}
	v.Now = lease.Add(time.Second)
	if got := Status(v); !strings.Contains(got, "No sign of life since 05:30 UTC") {
		t.Errorf("a dead run: %s", got)
	}
}

func TestReproduce(t *testing.T) {
	tests := []struct {
		name, branch string
		checks       []string
		failed, want string
	}{
		{"the check that failed", "wip/x", []string{"go vet", "go test ./..."}, "go test ./...",
			"git fetch origin wip/x && git checkout FETCH_HEAD && go test ./..."},
		{"all checks for a review", "wip/x", []string{"a", "b"}, "review",
			"git fetch origin wip/x && git checkout FETCH_HEAD && a && b"},
		{"several parts", "wip/x", []string{"a || b"}, "a || b",
			"git fetch origin wip/x && git checkout FETCH_HEAD && (a || b)"},
		{"several lines", "wip/x", []string{"a\nb 'c'"}, "a\nb 'c'",
			"git fetch origin wip/x && git checkout FETCH_HEAD && sh -c 'a\nb '\\''c'\\'''"},
		{"a branch for a shell", "x;$(rm)'", nil, "claim", "git fetch origin 'x;$(rm)'\\''' && git checkout FETCH_HEAD"},
	}
	for _, tt := range tests {
		s := sample.Begin(func(start *loop.Start) { start.Checks = tt.checks })
		s.Iterate(1, loop.Implement, "", sample.Fail(tt.failed, "no", "x"))
		if got := (advice{end(s, loop.Capped, "", tt.branch)}).reproduce(); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}
