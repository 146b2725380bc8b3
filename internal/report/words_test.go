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
		if got := view(s).headline() + " — " + view(s).details(); got != want {
			t.Errorf("got %q\nwant %q", got, want)
		}
	}
	see("🔄 Starting — The first iteration is about to begin.")
	s.Turning(1, loop.Implement)
	see("🔄 Working: iteration 1 of 5 — The coder writes the change since 05:30 UTC.")
	s.Turned(1, loop.Turn{Class: loop.OK})
	see("🔄 Working: iteration 1 of 5 — What the agent changed is being committed.")
	s.Committed(1, loop.FileChange{Path: "a"})
	see("🔄 Working: iteration 1 of 5 — The checks run on what the agent changed: `go vet ./...`, `go test ./...`, a " +
		"review by a fresh agent.")
	s.Judged(1, sample.TestFailure)
	see("🔄 Working: iteration 1 of 5 — The next iteration begins with what failed.")
	s.Turning(2, loop.ReviewFix)
	see("🔄 Working: iteration 2 of 5 — The coder works on what the reviewer asked for since 05:31 UTC.")
	s.Add(loop.Record{Type: loop.Resumed, Resume: &loop.Resume{Feedback: &loop.Feedback{Text: "CI: test failed"}}})
	s.Turning(2, loop.ReviewFix)
	see("🔄 Working: iteration 2 of 5 — The coder works on what other workflows asked for since 05:31 UTC.")
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
	const fetched = "git fetch origin wip/x && git checkout FETCH_HEAD"
	for _, tt := range []struct {
		branch       string
		checks       []string
		failed, want string
	}{
		{"wip/x", []string{"go vet", "go test ./..."}, "go test ./...", fetched + " && go test ./..."},
		{"wip/x", []string{"a", "b"}, "review", fetched + " && a && b"},
		{"wip/x", []string{"a || b"}, "a || b", fetched + " && sh -c 'a || b'"},
		{"wip/x", []string{"a\nb 'c'"}, "a\nb 'c'", fetched + ` && sh -c 'a
b '\''c'\'''`},
		{"x;$(rm)'", nil, "claim", `git fetch origin 'x;$(rm)'\''' && git checkout FETCH_HEAD`},
	} {
		s := sample.Begin(func(start *loop.Start) { start.Checks = tt.checks })
		s.Iterate(1, loop.Implement, "", sample.Fail(tt.failed, "no", "x"))
		if got := (advice{end(s, loop.Capped, "", tt.branch)}).reproduce(); got != tt.want {
			t.Errorf(" got %s\nwant %s", got, tt.want)
		}
	}
}
