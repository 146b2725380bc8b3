// Package check judges an iteration. Everything in it can say no; together, in their listed order, the checks decide.
package check

import (
	"cmp"
	"context"

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

// Need is what must hold before a check runs.
type Need int

// The needs of a check.
const (
	SomeWork  Need = 1 << iota // the turn ended well, or left changes behind, or ended by itself on a tree that the check fails on
	AClaim                     // the agent claims to be done
	Green                      // every hard check before this one passed
	AChange                    // the run has changed something, or does not say that nothing needs doing
	Nothing   Need = 0
	HardGreen      = SomeWork | AClaim | Green
)

// Input is what is judged: the newest iteration and the run it belongs to.
type Input struct {
	State     loop.State
	Iteration loop.Iteration
	Verdicts  []loop.Verdict // of this iteration so far, in the order of the list
}

// Tree is the checkout the checks run in.
type Tree interface {
	// Prepare makes it what is judged, before the first check that runs something there. fresh says that nothing of
	// earlier checks is to be there: what passes decides. The verdict is why nothing can be judged there; nil: it can.
	Prepare(ctx context.Context, at Input, fresh bool) (*loop.Verdict, error)
	// Clean names tracked files that differ from the commit.
	Clean(ctx context.Context) (dirty []string, err error)
	// Restore puts back what Clean has just named, and removes what the check left that is neither committed nor ignored.
	Restore(ctx context.Context) error
	// Explain adds to a failed verdict what of its cause lies outside of the tree: a file that is in no commit. It changes
	// Reason and Tell.
	Explain(ctx context.Context, at Input, v *loop.Verdict) error
}

// Quiet is a check that is heard of only when it has something to say, and that leaves the tree as it was.
type Quiet interface{ Quiet() }

// readOnlyCheck is a check that starts nothing in the tree, which is therefore as it was.
type readOnlyCheck interface{ readsOnly() }

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
