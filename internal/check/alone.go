package check

import (
	"cmp"
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/failure"
	"github.com/ralph-loop/ralph/internal/loop"
)

// Alone runs the checks on a commit that no turn has made: all of them, in their order, and without anything that
// earlier checks have left.
func (l List) Alone(ctx context.Context, s loop.State, c loop.Commit) (verdicts []loop.Verdict, err error) {
	at := Input{State: s, Iteration: loop.Iteration{Commit: &c}}
	v, err := l.Tree.Prepare(ctx, at, true)
	if err != nil || ctx.Err() != nil {
		return nil, cmp.Or(err, ctx.Err())
	}
	if v != nil {
		v.Severity, v.Tree, v.Hash = loop.Hard, c.Tree, failure.Signature(v.Check, cmp.Or(v.Output, v.Reason))
		l.logVerdict(nil, *v)
		return []loop.Verdict{*v}, nil
	}
	for _, one := range l.Checks {
		if l.Stopping != nil && l.Stopping() {
			return nil, context.Canceled
		}
		if command, ok := one.(*Command); ok {
			l.Log("Running guardrail: %s", command.Line)
		}
		v, err := l.run(ctx, one, at)
		switch {
		case err != nil:
			return nil, fmt.Errorf("running the check %s: %w", one.Name(), err)
		case ctx.Err() != nil: // it was stopped, which says nothing about the commit
			return nil, ctx.Err()
		case l.stopped(v):
			return nil, context.Canceled
		}
		l.logVerdict(one, v)
		verdicts = append(verdicts, v)
	}
	return verdicts, nil
}

// Reverify says no when what a task's promise was verified by does not hold on a later commit: its commands run again,
// since they need no agent's word.
type Reverify struct {
	Task   string
	Verify *Verify
}

// Name is the check's name in verdicts: "verify coder of TASK-1".
func (k *Reverify) Name() string { return k.Verify.Name() + " of " + k.Task }

// Severity of a broken promise is hard.
func (*Reverify) Severity() loop.Severity { return loop.Hard }

// Needs nothing.
func (*Reverify) Needs() Need { return Nothing }

// Run runs the commands, until one does not hold.
func (k *Reverify) Run(ctx context.Context, at Input) (v loop.Verdict, err error) {
	v.Role = k.Verify.role()
	for i, config := range k.Verify.Criteria.Externals() {
		r := k.Verify.external(ctx, config, Slug(fmt.Sprintf("%s %d", k.Task, i+1)), at)
		if k.Verify.fill(&v, r); !v.Pass {
			break
		}
	}
	return v, nil
}
