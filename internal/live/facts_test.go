package live

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestRows: a block says where the run is, in lines that are no wider than the terminal and never too many.
func TestRows(t *testing.T) {
	noon := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	passed, failed := &loop.Verdict{Pass: true}, &loop.Verdict{Severity: loop.Hard}
	f := Facts{Title: "fix the failing test", Iteration: "2/10", Role: "coder", Elapsed: 192 * time.Second, Now: noon,
		Usage: loop.Usage{CostUSD: 0.42}, Progress: loop.Progress{Limits: loop.Limits{Wall: time.Hour, CostUSD: 5}, Running: true,
			Step: loop.RunningStep{Name: "the check go test ./...", Began: noon.Add(-12 * time.Second),
				Deadline: noon.Add(108 * time.Second), Doing: "Edit main.go\x1b[2J"},
			Checks: []loop.CheckStep{{Name: "go build ./...", Began: noon, Verdict: passed}, {Name: "lint", Verdict: failed},
				{Name: "go test ./...", Began: noon.Add(-12 * time.Second)}, {Name: "review"}}}}
	for _, row := range []struct {
		style Style
		width int
		want  string
	}{
		{Style{}, 60, `-- fix the failing test --
| iteration 2/10 - coder - 3m 12s of 1h - $0.42 of $5.00
  the check go test ./... - 12s of at most 2m
  > Edit main.go
  [x] go build ./...   [!] lint   | go test ./... 12s
  [ ] review`},
		{Style{Unicode: true}, 34, `── fix the failing test ──
⠋ iteration 2/10 · coder · 3m 12s…
  the check go test ./... · 12s o…
  ↳ Edit main.go
  ✓ go build ./...   ✗ lint
  ⠋ go test ./... 12s   ○ review`},
	} {
		if got := strings.Join(row.style.Rows(f, row.width), "\n"); got != row.want {
			t.Errorf("%+v at %d:\n%s\nwant\n%s", row.style, row.width, got, row.want)
		}
	}
	for range 40 {
		f.Checks = append(f.Checks, loop.CheckStep{Name: strings.Repeat("long ", 30)})
	}
	for width := range 120 {
		rows := Style{Color: true, Unicode: true}.Rows(f, width)
		if len(rows) > mostRows {
			t.Errorf("%d rows at width %d", len(rows), width)
		}
		for _, line := range rows {
			if ansi.StringWidth(line) > max(width, 10) {
				t.Errorf("wider than %d: %q", width, line)
			}
		}
	}
}
