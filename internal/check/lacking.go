package check

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
)

// environment marks a failure that no change to the code fixes: the command lacks a program, and has never run. A failure
// that ends the run must be certain: either the command's own line names the program, which did not exist before the first
// turn, or the agent has had the failure once. What a script or a version manager lacks may be the change's doing, and that
// a program is gone which was there before the first turn always is.
func (c *Command) environment(at Input, o ending, v *loop.Verdict) {
	if o.Class == proc.Idle && !v.Pass && !c.ranBefore(at) {
		v.Missing, v.Unfixable = c.Hard, c.Hard
		return
	}
	if c.Lacks == nil || v.Pass || !c.Hard || at.Iteration.Commit == nil || o.Class != proc.Exited {
		return
	}
	tool, advice := c.Lacks(o.Exit, o.output)
	if tool == "" || c.ranBefore(at) {
		return
	}
	v.Missing = true
	had := slices.Contains(c.Present, tool)
	again := c.before(at, func(v loop.Verdict) bool { return v.Missing })
	if slices.Contains(Words(c.Line), tool) && !had || again && (!had || !cannotRun(o.Exit)) {
		v.Unfixable, v.Reason = true, "the check cannot run here: "+advice
	}
}

// ranBefore reports whether the command found all its programs once, on the base commit or in an earlier iteration:
// then it was the change that took one away.
func (c *Command) ranBefore(at Input) bool {
	return c.before(at, func(v loop.Verdict) bool { return !v.Missing && !cannotRun(v.Exit) })
}

// before reports whether a verdict of the command on the base commit or in an earlier iteration is so.
func (c *Command) before(at Input, is func(loop.Verdict) bool) bool {
	return slices.ContainsFunc(saidOf(at, c.Title), is)
}

// Words are the words of a command line, any of which may be a program.
func Words(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\n;&|()`\"'<>=$", r) })
}
