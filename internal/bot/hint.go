package bot

import (
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/lease"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Hint is what the engine takes in, for those who know the bot alone.
type Hint = engine.Hint

// passHint leaves what somebody says in a comment where the run looks before its next turn: whoever works on it, a job
// or a server.
func (a *Action) passHint(ctx context.Context, r event.Request, s loop.State) (loop.Result, error) {
	door, err := a.leaseDoor(ctx, "")
	if err != nil {
		return loop.Result{Outcome: loop.Failed, Reason: err.Error()}, err
	}
	defer func() { a.warn("closing the repository of hints", door.Close()) }()
	err = door.AddHint(ctx, lease.Hint{ID: hintID(r.Event), Task: s.Start.Task, By: r.Event.Sender.Login,
		Text: a.redact(safetext.FirstBytes(safetext.Sanitise(r.Hint), engine.MaxHint)), At: a.Clock()})
	if err != nil {
		return loop.Result{Outcome: loop.Failed, Reason: err.Error()}, err
	}
	a.warn("reacting", a.react(ctx, r.Event, "+1"))
	a.Runner.Notice(a.mask(fmt.Sprintf("the next turn of %s reads what %s said", s.Start.Task, r.Event.Sender.Login)))
	return loop.Result{}, nil
}

// hintID names what an event says, however often the event comes.
func hintID(ev event.Event) string {
	switch {
	case ev.Comment != nil:
		return fmt.Sprintf("comment-%d", ev.Comment.ID)
	case ev.Review != nil:
		return fmt.Sprintf("review-%d", ev.Review.ID)
	}
	return ""
}

// hinted are the run's prompts, before each of which it takes in what people have said meanwhile: in comments, and on
// the page of a server.
func (a *Action) hinted(ctx context.Context, work *job) engine.Prompts {
	return engine.HintPrompts{Prompts: work.Prompts, Run: work.Run, As: loop.Resume{Owner: a.owner(), RunURL: a.runURL()},
		Said: func(s loop.State) []Hint { return a.hints(ctx, work, s) }}
}

// hints is what people have said to a run.
func (a *Action) hints(ctx context.Context, work *job, s loop.State) []Hint {
	var said []Hint
	if a.Server != nil && a.Server.Hints != nil {
		said = a.Server.Hints()
	}
	if work.Heartbeat != nil {
		left, err := work.Heartbeat.Hints(ctx)
		a.warn("looking for hints", err)
		for _, h := range left {
			if !h.At.Before(s.StartedAt) { // an earlier run was meant
				said = append(said, Hint{ID: h.ID, By: h.By, Text: h.Text})
			}
		}
	}
	return said
}
