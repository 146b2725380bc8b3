// Package check judges an iteration. Everything in it can say no; together, in their listed order, the checks decide.
package check

import (
	"cmp"
	"context"
	"slices"

	"github.com/ralph-loop/ralph/internal/diffscan"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/regex"
)

// Check is one judge. Run fills what it knows of the verdict; name, tree, hash and duration are the list's part, and so
// is the severity unless Run sets one: how bad a thing is may depend on what was found.
type Check interface {
	Name() string
	Severity() loop.Severity
	// Needs says what must hold before the check is worth running.
	Needs() Need
	Run(ctx context.Context, at Input) (loop.Verdict, error)
}

// Need is what must hold before a check runs, and how it treats the tree.
type Need int

// The needs of a check.
const (
	SomeWork  Need = 1 << iota // the turn ended well, or left changes, or ended by itself on a tree that the check fails on
	AClaim                     // the agent claims to be done
	Green                      // every hard check before this one passed
	AChange                    // the run has changed something, or does not report that nothing needs doing
	ReadsOnly                  // it starts nothing in the tree, which stays as it was
	Quiet                      // it appears only when it has something to say, and leaves the tree as it was
	HardGreen = SomeWork | AClaim | Green
)

// severity is that of a check with a setting for it.
func severity(hard bool) loop.Severity {
	if hard {
		return loop.Hard
	}
	return loop.Soft
}

// Input is what is judged: the newest iteration and the run it belongs to.
type Input struct {
	State     loop.State
	Iteration loop.Iteration
	Verdicts  []loop.Verdict // of this iteration so far, in the order of the list
}

// Tree is the checkout the checks run in.
type Tree interface {
	// Prepare makes it what is judged, before the first check that runs something there. fresh requires a tree without
	// leftovers of earlier checks, because the result decides. The verdict is why nothing can be judged there; nil: it
	// can.
	Prepare(ctx context.Context, at Input, fresh bool) (*loop.Verdict, error)
	// Clean names tracked files that differ from the commit.
	Clean(ctx context.Context) (dirty []string, err error)
	// Restore puts back what Clean has just named, and removes what the check left that is neither committed nor ignored.
	Restore(ctx context.Context) error
	// Explain adds to a failed verdict a cause outside of the tree: a file that is in no commit. It changes Reason and
	// PromptText.
	Explain(ctx context.Context, at Input, v *loop.Verdict) error
}

// Names of checks that other checks ask for.
const (
	WeakenedCheck   = "weakened tests"
	baseTestsCheck  = "base tests"
	UnfinishedCheck = "unfinished work"
	acceptedCheck   = "accepted findings"
	newestBaseCheck = "newest base"
)

// changeOf is the change that a check judges; nil when there is nothing to compare.
func changeOf(ctx context.Context, c *diffscan.Changes, at Input) (*diffscan.Change, error) {
	if c == nil || at.Iteration.Commit == nil || at.State.Start.Base == "" || at.Iteration.Commit.SHA == "" {
		return nil, nil
	}
	return c.Between(ctx, at.base(), at.Iteration.Commit.SHA)
}

// base is the commit that the change starts from.
func (at Input) base() string { return cmp.Or(at.Iteration.Commit.Base, at.State.ChangeBase()) }

type pattern = regex.Pattern

// lazy is a pattern that is compiled when it is first asked.
func lazy(text string) *pattern { return regex.Lazy(text) }

// findVerdict is what a check has said in an iteration; nil: nothing.
func findVerdict(verdicts []loop.Verdict, name string) *loop.Verdict {
	for i := range verdicts {
		if verdicts[i].Check == name {
			return &verdicts[i]
		}
	}
	return nil
}

// onBase is what a check said of the base commit; nil: nothing.
func onBase(at Input, name string) *loop.Verdict { return findVerdict(at.State.Baseline, name) }

// saidOf is what a check has said on the base commit and in every iteration, oldest first.
func saidOf(at Input, check string) (all []loop.Verdict) {
	add := func(verdicts []loop.Verdict) {
		for _, v := range verdicts {
			if v.Check == check && v.Skipped == "" {
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

// onThisTree is what a check has said on the very tree that is judged now, oldest first.
func onThisTree(at Input, check string) []loop.Verdict {
	if at.Iteration.Commit == nil || at.Iteration.Commit.Tree == "" {
		return nil
	}
	return slices.DeleteFunc(saidOf(at, check), func(v loop.Verdict) bool { return v.Tree != at.Iteration.Commit.Tree })
}

// passedBefore reports whether the check has passed on the very tree that is judged now: then it is not the code that
// makes it fail.
func passedBefore(at Input, check string) bool {
	return slices.ContainsFunc(onThisTree(at, check), func(v loop.Verdict) bool { return v.Pass })
}

// Waiter is a check that another role may have to work for first.
type Waiter interface {
	// Waits says why the check cannot be asked yet; empty when it can. It is skipped then until a later iteration.
	Waits(at Input) string
}
