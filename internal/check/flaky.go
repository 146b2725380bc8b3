package check

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/loop"
)

// passedBefore reports whether the check has passed on the very tree that is judged now: then it is not the code that
// makes it fail.
func passedBefore(at Input, check string) bool {
	return slices.ContainsFunc(before(at, check), func(v loop.Verdict) bool { return v.Pass })
}

// saidBefore is the newest verdict of a check on the very tree that is judged now; nil when it has not been asked.
func saidBefore(at Input, check string) *loop.Verdict {
	all := before(at, check)
	if len(all) == 0 {
		return nil
	}
	return &all[len(all)-1]
}

// before are the verdicts of a check on the tree that is judged now: on the base commit and in every iteration, oldest
// first.
func before(at Input, check string) (all []loop.Verdict) {
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

// flaky is what two runs on one tree say together.
func flaky(first, second loop.Verdict) loop.Verdict {
	second.Flaky = true
	if second.Pass {
		second.Reason, second.LogFile = "it failed once and passed once on the same tree: flaky", first.LogFile
		return second
	}
	second.Reason += "; it has passed on this very tree before, and failed twice now"
	second.PromptText = "The next check has passed on this very tree before, and failed twice now: it may depend on something " +
		"other than the code.\n" + second.PromptText
	return second
}
