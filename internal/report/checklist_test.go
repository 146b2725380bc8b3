package report

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
)

// TestSwitchedOffIsSaid: who switches the sandbox off reads it in the first lines of all that reports a run.
func TestSwitchedOffIsSaid(t *testing.T) {
	for _, off := range []bool{true, false} {
		s := sample.Begin(func(start *loop.Start) { start.NoSandbox = off })
		s.Iterate(1, loop.Implement, "x", sample.Pass("claim"))
		running := view(s)
		done := end(s, loop.Done, "all checks passed on iteration 1", "")
		for name, text := range map[string]string{
			"the comment of a running job": Comment(running), "the pull request's first text": PullBody(running),
			"the comment": Comment(done), "the pull request": PullBody(done), "the summary": Summary(done),
			"the failure report": Failure(done), "the page": firstOf(PlainOutcome(done)),
		} {
			first := strings.Join(strings.SplitN(text, "\n", 6)[:min(5, strings.Count(text, "\n")+1)], "\n")
			if strings.Contains(first, "(without a sandbox)") != off {
				t.Errorf("with the sandbox off: %v, %s begins:\n%s", off, name, first)
			}
		}
	}
}

func firstOf(outcome, _ string) string { return outcome }
