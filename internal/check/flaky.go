package check

import (
	"context"
	"slices"

	"github.com/ralph-loop/ralph/internal/loop"
)

// passedBefore reports whether the check has passed on the very tree that is judged now: then it is not the code that makes it fail.
func passedBefore(at At, check string) bool {
	return slices.ContainsFunc(before(at, check), func(v loop.Verdict) bool { return v.Pass })
}

// saidBefore is the newest verdict of a check on the very tree that is judged now; nil when it has not been asked.
func saidBefore(at At, check string) *loop.Verdict {
	all := before(at, check)
	if len(all) == 0 {
		return nil
	}
	return &all[len(all)-1]
}

// before are the verdicts of a check on the tree that is judged now: on the base commit and in every iteration, oldest first.
func before(at At, check string) (all []loop.Verdict) {
	if at.Iteration.Commit == nil || at.Iteration.Commit.Tree == "" {
		return nil
	}
	add := func(verdicts []loop.Verdict) {
		for _, v := range verdicts {
			if v.Check == check && v.Skipped == "" && v.Tree == at.Iteration.Commit.Tree {
				all = append(all, v)
			}
		}
	}
	add(at.State.Baseline)
	for _, it := range at.State.Iterations {
		add(it.Verdicts)
	}
	return all
}

// once is a check's run, and one more of a hard command that has failed on a tree it has passed on before (once an iteration, since a
// check runs once an iteration). The first run's log is kept.
func (l List) once(ctx context.Context, c Check, at At) (loop.Verdict, error) {
	command, isCommand := c.(*Command)
	if !isCommand {
		return c.Run(ctx, at)
	}
	command = l.warned(command)
	first, err := command.Run(ctx, at)
	if err != nil || first.Pass || !command.Hard || ctx.Err() != nil || l.Stopping != nil && l.Stopping() || !passedBefore(at, command.Name()) {
		return first, err
	}
	settled := first
	if err := l.settle(ctx, &settled); err != nil {
		return first, err
	}
	if settled.Reason != first.Reason { // it changes what it judges: not to be believed either way
		return settled, nil
	}
	l.Log("%s failed on a tree that it has passed on before (%s); it is run once more", command.Name(), first.Reason)
	again := *command
	again.rerun = true
	second, err := again.Run(ctx, at)
	if err != nil {
		return first, err
	}
	return flaky(first, second), nil
}

// flaky is what two runs on one tree say together.
func flaky(first, second loop.Verdict) loop.Verdict {
	second.Flaky = true
	if second.Pass {
		second.Reason, second.LogFile = "it failed once and passed once on the same tree: flaky", first.LogFile
		return second
	}
	second.Reason += "; it has passed on this very tree before, and failed twice now"
	second.Tell = "The next check has passed on this very tree before, and failed twice now: it may depend on something other than the code.\n" + second.Tell
	return second
}

// warned is a command whose soft limit has somebody to tell.
func (l List) warned(c *Command) *Command {
	if c.OnSoft != nil {
		return c
	}
	with := *c
	with.OnSoft = func(warning string) { l.Log("%s", warning) }
	return &with
}
