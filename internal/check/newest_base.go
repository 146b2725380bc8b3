package check

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// NewestBase says no when the change does not go together with the base branch as it is now: the two conflict, or what
// passes on the change fails on their merge, and not on the base branch alone. Nothing runs when the base branch has not
// moved. Verdicts stay those of the change's own tree.
//
// It must stand after the commands in the list, since it runs those that have passed.
type NewestBase struct {
	Branch   string
	Commands []*Command
	Tree     Tree
	// Newest is where the base branch is now; empty: the change has all of it.
	Newest func(ctx context.Context) (commit string, err error)
	// Merge merges a commit with one that Newest has told of, into a commit and its tree, or names the files that conflict.
	Merge func(ctx context.Context, commit, base string) (merged, tree string, conflicts []string, err error)
	Log   func(format string, args ...any)
}

// mostMoves is how many moved bases a run is judged with.
const mostMoves = 3

// Name is the check's name in verdicts.
func (*NewestBase) Name() string { return newestBaseCheck }

// Severity is hard: what cannot be merged is not done.
func (*NewestBase) Severity() loop.Severity { return loop.Hard }

// Needs a claim with every hard check passed: it takes as long as they do.
func (*NewestBase) Needs() Need { return HardGreen | AChange | Quiet }

// Run asks where the base branch is, and judges the merge where it has moved.
func (n *NewestBase) Run(ctx context.Context, at Input) (v loop.Verdict, err error) {
	if at.Iteration.Commit.SHA == "" {
		return loop.Verdict{Pass: true}, nil
	}
	base, err := n.Newest(ctx)
	if err != nil || base == "" {
		if err != nil && ctx.Err() == nil {
			v = loop.Verdict{Pass: true, Severity: loop.Soft, Reason: fmt.Sprintf("not judged merged with the newest %s: %v", n.Branch, err)}
			return v, nil
		}
		return loop.Verdict{Pass: true}, err
	}
	moved := ""
	if earlier := n.earlier(at); len(earlier) >= mostMoves && !slices.Contains(earlier, base) {
		base, moved = earlier[len(earlier)-1], "; the base has moved since"
	}
	merged, tree, conflicts, err := n.Merge(ctx, at.Iteration.Commit.SHA, base)
	v = loop.Verdict{Base: base, Merged: tree}
	where := fmt.Sprintf("%s at %.7s", n.Branch, base)
	switch {
	case err != nil && ctx.Err() == nil:
		v.Pass, v.Severity, v.Reason = true, loop.Soft, fmt.Sprintf("not judged merged with %s: %v", where, err)
		return v, nil
	case err != nil:
		return v, err
	case len(conflicts) > 0:
		v.Reason = fmt.Sprintf("conflicts with %s in %s", where, few(conflicts))
		v.PromptText = fmt.Sprintf("%s has moved, and your change conflicts with it in %s. Merge it (git merge origin/%[1]s), keep what "+
			"both sides mean, and commit.", n.Branch, few(conflicts))
		return v, nil
	}
	n.Log("newest base: the checks run on the change merged with %s", where)
	defer func() {
		if ctx.Err() == nil {
			_, back := n.Tree.Prepare(ctx, at, true)
			err = errors.Join(err, back)
		}
	}()
	said, err := n.judge(ctx, at, merged, base, &v)
	if err != nil || ctx.Err() != nil || !v.Pass {
		return v, err
	}
	if v.Severity = loop.Soft; said != "" {
		v.Reason = fmt.Sprintf("on %s %s%s", where, said, moved)
	} else {
		v.Reason = "green on " + where + moved
	}
	return v, nil
}

// earlier are the bases that the run was judged with before, each once.
func (*NewestBase) earlier(at Input) (bases []string) {
	for _, v := range saidOf(at, newestBaseCheck) {
		if v.Base != "" && !slices.Contains(bases, v.Base) {
			bases = append(bases, v.Base)
		}
	}
	return bases
}

// judge runs on a merge what has passed on the change, and says what fails there. What fails in the same way on the base
// branch alone is no fault of the change.
func (n *NewestBase) judge(ctx context.Context, at Input, merged, base string, v *loop.Verdict) (said string, err error) {
	v.Pass = true
	for _, c := range n.Commands {
		if now := findVerdict(at.Verdicts, c.Name()); !c.Hard || now == nil || !now.Pass || now.Skipped != "" {
			continue
		}
		red, err := n.on(ctx, at, merged, c, "merged")
		if err != nil || red == nil || ctx.Err() != nil {
			if err != nil || ctx.Err() != nil {
				return "", err
			}
			continue
		}
		alone, err := n.on(ctx, at, base, c, "newest")
		if err != nil || ctx.Err() != nil {
			return "", err
		}
		if alone != nil && len(sameFailures(*alone, *red)) > 0 {
			said = fmt.Sprintf("%s fails without the change, too: %s", quote(c.Name()), safetext.FirstN(alone.Failing(), 5))
			continue
		}
		v.Pass, v.Output, v.Findings, v.LogFile = false, red.Output, red.Findings, red.LogFile
		v.Reason = fmt.Sprintf("%s is red when merged with %s at %.7s: %s", quote(c.Name()), n.Branch, base, red.Reason)
		v.PromptText = fmt.Sprintf("%s has moved (git log HEAD..origin/%[1]s shows how). On your change alone `%s` passes; merged "+
			"with %[1]s it fails. Make your change pass on both.\n\n%[3]s", n.Branch, c.Name(), red.PromptText)
		return "", nil
	}
	return said, nil
}

// on runs a command on another commit; nil: it passes there.
func (n *NewestBase) on(ctx context.Context, at Input, sha string, c *Command, with string) (*loop.Verdict, error) {
	commit := *at.Iteration.Commit
	commit.SHA = sha
	at.Iteration.Commit = &commit
	if unfit, err := n.Tree.Prepare(ctx, at, true); err != nil || unfit != nil {
		return unfit, err
	}
	again := *c
	again.with, again.Lacks = with, nil
	v, err := again.Run(ctx, at)
	if v.Check = c.Name(); err != nil || v.Pass {
		return nil, err
	}
	return &v, nil
}
