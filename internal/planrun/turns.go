package planrun

import (
	"context"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/loop"
)

// turns is the agent of a plan: whoever implements and fixes, and in a review the reviewer, who may write the plan's
// file and gives a verdict in the form of every reviewer.
type turns struct {
	engine.Coder
	reviewer engine.Coder
	active   *active
	log      func(format string, args ...any)
}

// Turn implements loop.Agent.
func (p turns) Turn(ctx context.Context, asked string) (loop.Turn, error) {
	s := p.State()
	if err := p.active.write(s); err != nil {
		return loop.Turn{}, err
	}
	if s.Turning.Mode == loop.Review {
		return p.review(ctx, asked, s.HeadTree(), s.Open(s.WorkOn(s.Turning.Story).Verdicts))
	}
	return p.Coder.Turn(ctx, asked)
}

// review takes the reviewer's turn. One whose verdict cannot be read is asked again within the iteration: what it wrote
// into the plan's files stays, and what it spent adds up.
func (p turns) review(ctx context.Context, asked, tree string, open []loop.Concern) (loop.Turn, error) {
	if len(open) > 0 {
		p.reviewer.Options.Schema = check.AcceptingSchema(p.reviewer.Options.Schema)
	}
	t, err := p.reviewer.Turn(ctx, asked)
	for n := 1; n <= check.Again && err == nil && ctx.Err() == nil; n++ {
		_, unread := check.ReadAnswer(t, tree, open)
		if unread == nil || t.Class != loop.OK && t.Class != loop.Empty {
			break
		}
		p.log(
			"review: the reviewer's verdict does not count: %v; asking again (%d of %d)", unread, n, check.Again,
		)
		var next loop.Turn
		if next, err = p.reviewer.Turn(
			ctx, asked+check.AskAgain(t, tree, unread),
		); next.Class == loop.Spent &&
			next.Ours {
			t.Usage = t.Usage.Plus(next.Usage)
			break
		}
		next.Usage, next.Duration = next.Usage.Plus(t.Usage), next.Duration+t.Duration
		t = next
	}
	return t, err
}

// Agent implements engine.Plan.
func (p *Run) Agent(run *engine.Run, c engine.Coder, reviewer *agent.Options) (loop.Agent, error) {
	p.active.boxed = run.Boxed()
	turns := turns{Coder: c, reviewer: c, active: p.active, log: run.Log}
	if reviewer != nil {
		options := *reviewer
		options.ReadOnly, options.Schema, options.Console = false, check.ReviewSchema, c.Options.Console
		var err error
		if options.Hooks, err = run.Hooks(options.Command); err != nil {
			return turns, err
		}
		turns.reviewer.Options = options
	}
	return turns, nil
}
