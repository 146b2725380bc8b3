package report

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

func TestNow(t *testing.T) {
	s := begin(nil)
	see := func(want string) {
		t.Helper()
		if got := s.view().headline() + " — " + s.view().now(); got != want {
			t.Errorf("got %q\nwant %q", got, want)
		}
	}
	see("🔄 Starting — The first iteration is about to begin.")
	s.turning(1, loop.Implement)
	see("🔄 Working: iteration 1 of 5 — The agent writes the change since 05:30 UTC.")
	s.turned(1, loop.Turn{Class: loop.OK})
	see("🔄 Working: iteration 1 of 5 — What the agent changed is being committed.")
	s.committed(1, loop.FileChange{Path: "a"})
	see("🔄 Working: iteration 1 of 5 — The checks run on what the agent changed: `go vet ./...`, `go test ./...`, a " +
		"review by a fresh agent.")
	s.judged(1, testFailure)
	see("🔄 Working: iteration 1 of 5 — The next iteration begins with what failed.")
	s.turning(2, loop.ReviewFix)
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
		if got := begin(nil).end(outcome, "why", "").headline(); !strings.HasPrefix(got, want) {
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

func TestUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{-1: "0s", 400 * time.Millisecond: "0.4s", time.Millisecond: "0.1s",
		3 * time.Second: "3s", 9970 * time.Millisecond: "10s", 42 * time.Second: "42s", 185 * time.Second: "3m 05s",
		3725 * time.Second: "1h 02m"} {
		if got := duration(d); got != want {
			t.Errorf("duration(%v) = %q, want %q", d, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1.0k", 12_345: "12k", 1_234_567: "1.2M"} {
		if got := tokens(n); got != want {
			t.Errorf("tokens(%d) = %q, want %q", n, got, want)
		}
	}
	for u, want := range map[loop.Usage]string{{}: "", {CostUSD: 0.001}: "<$0.01",
		{Input: 10, Output: 5}:   "10 tokens in (0 from cache), 5 out",
		{CostUSD: 1.5, Input: 1}: "$1.50 · 1 tokens in (0 from cache), 0 out"} {
		if got := spent(u); got != want {
			t.Errorf("spent(%+v) = %q, want %q", u, got, want)
		}
	}
}

func TestRisk(t *testing.T) {
	kinds := []string{"CI", "steers", "secrets", "dependencies", "build", "test", "ordinary"}
	for file, want := range map[string]string{
		".github/workflows/ci.yml": "CI", ".github/CODEOWNERS": "CI", "sub/action.yml": "CI", "Jenkinsfile": "CI",
		".gitlab-ci.yml":        "CI",
		".claude/settings.json": "steers", "AGENTS.md": "steers", ".ralph/settings.json": "steers",
		".gitattributes": "steers",
		".env":           "secrets", "deploy/key.pem": "secrets", ".env.local": "secrets",
		"go.sum": "dependencies", "web/package-lock.json": "dependencies", "vendor/x/y.go": "dependencies",
		"Makefile": "build", "go.mod": "build", "sub/package.json": "build", "Dockerfile": "build", "scripts/x.sh": "build",
		"Cargo.toml": "build",
		"a_test.go":  "test", "src/a.test.ts": "test", "tests/x.py": "test", "test_x.py": "test", ".golangci.yml": "test",
		"testdata/x": "test",
		"main.go":    "ordinary", "docs/testing.md": "ordinary", "contest/a.go": "ordinary", "src/environment.ts": "ordinary",
		"keys.go": "ordinary",
	} {
		if got := kinds[risk(file)]; got != want {
			t.Errorf("%s is %s, want %s", file, got, want)
		}
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
		s := begin(func(start *loop.Start) { start.Checks = tt.checks })
		s.iterate(1, loop.Implement, "", fail(tt.failed, "no", "x"))
		if got := s.end(loop.Capped, "", tt.branch).reproduce(); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}
