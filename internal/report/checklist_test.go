package report

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
)

// TestSwitchedOffIsSaid: who switches the sandbox off reads it wherever the checks stand.
func TestSwitchedOffIsSaid(t *testing.T) {
	const says = "The sandbox is switched off"
	for _, off := range []bool{true, false} {
		s := sample.Begin(func(start *loop.Start) { start.NoSandbox = off })
		s.Iterate(1, loop.Implement, "x", sample.Pass("claim"))
		if got := strings.Contains(Comment(view(s)), says); got != off {
			t.Errorf("with the sandbox off: %v, the comment says it while the run goes on: %v", off, got)
		}
		v := end(s, loop.Done, "all checks passed on iteration 1", "")
		if got := strings.Contains(SectionsOf(v).Checks, says); got != off {
			t.Errorf("with the sandbox off: %v, the report says it: %v", off, got)
		}
	}
}
