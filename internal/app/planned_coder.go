package app

import (
	"context"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
)

// planCoder is the agent of a plan: whoever implements and fixes, and in a review the reviewer, who may write the plan's file and gives a
// verdict in the form of every reviewer (C8).
type planCoder struct {
	coder
	reviewer coder
	active   *active
}

// Turn implements loop.Agent.
func (p planCoder) Turn(ctx context.Context, asked string) (loop.Turn, error) {
	s := p.state()
	if err := p.active.write(s); err != nil {
		return loop.Turn{}, err
	}
	if s.Turning.Mode == loop.Review {
		return p.reviewer.Turn(ctx, asked)
	}
	return p.coder.Turn(ctx, asked)
}

// planned makes the run's agent one of its plan.
func (w *workshop) planned(c coder, reviewer *agent.Options) (loop.Agent, error) {
	if s := w.boxes.sandbox; s != nil {
		w.plan.active.boxed = s.Mode != sandbox.Off
	}
	p := planCoder{coder: c, reviewer: c, active: w.plan.active}
	if reviewer != nil {
		options := *reviewer
		options.ReadOnly, options.Schema, options.Console = false, check.ReviewSchema, c.options.Console
		var err error
		if options.Hooks, err = w.hooks(options.Command); err != nil {
			return p, err
		}
		p.reviewer.options = options
	}
	return p, nil
}
