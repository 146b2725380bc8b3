package check

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// environment marks a failure that no change to the code fixes: the command's own line names a program that did not exist
// before the first turn, and does not now. A failure that ends the run must be certain: what a script or a make recipe
// lacks, or a version manager, may be the change's doing, and one more attempt costs only itself.
func (c *Command) environment(at Input, o ending, v *loop.Verdict) {
	if o.Class == proc.Idle && !v.Pass && !c.ranBefore(at) {
		v.Missing, v.Unfixable = c.Hard, c.Hard
		return
	}
	if c.Lacks == nil || v.Pass || !c.Hard || at.Iteration.Commit == nil || o.Class != proc.Exited {
		return
	}
	tool, advice := c.Lacks(o.Exit, o.output)
	if !slices.Contains(Words(c.Line), tool) || slices.Contains(c.Present, tool) || c.ranBefore(at) {
		return
	}
	v.Missing, v.Unfixable = true, true
	v.Reason = "the check cannot run here: " + advice
}

// ranBefore reports whether the command found all its programs once, on the base commit or in an earlier iteration:
// then it was the change that took one away.
func (c *Command) ranBefore(at Input) bool {
	ran := func(v loop.Verdict) bool {
		return v.Check == c.Title && v.Skipped == "" && !v.Missing && !cannotRun(v.Exit)
	}
	return slices.ContainsFunc(at.State.Baseline, ran) ||
		slices.ContainsFunc(at.State.Iterations, func(it *loop.Iteration) bool {
			return slices.ContainsFunc(it.Verdicts, ran)
		})
}

// Words are the words of a command line, any of which may be a program.
func Words(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\n;&|()`\"'<>=$", r) })
}
