package bot

import (
	"context"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/lease"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Hint is something that a person who may says to a run while it works.
type Hint struct {
	ID   string `json:"id"` // the same however often it is told: the run takes it in once
	By   string `json:"by"` // login
	Text string `json:"text"`
}

// passHint leaves what somebody says in a comment where the run looks before its next turn: whoever works on it, a job
// or a server.
func (a *Action) passHint(ctx context.Context, r event.Request, s loop.State) (loop.Result, error) {
	door, err := a.leaseDoor(ctx, "")
	if err != nil {
		return loop.Result{Outcome: loop.Failed, Reason: err.Error()}, err
	}
	defer func() { a.warn("closing the repository of hints", door.Close()) }()
	err = door.Say(ctx, lease.Hint{ID: hintID(r.Event), Task: s.Start.Task, By: r.Event.Sender.Login,
		Text: a.redact(safetext.FirstBytes(safetext.Sanitise(r.Hint), maxHint)), At: a.Clock()})
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

// hinted are the run's prompts, before each of which the run takes in what people have said meanwhile.
type hinted struct {
	engine.Prompts
	take func(loop.State) loop.State
}

func (a *Action) hinted(ctx context.Context, work *job) engine.Prompts {
	return hinted{work.Prompts, func(s loop.State) loop.State { return a.takeHints(ctx, work, s) }}
}

// For implements loop.Prompt.
func (h hinted) For(s loop.State, step loop.Step) (string, error) {
	return h.Prompts.For(h.take(s), step)
}

// takeHints records what people have said since the turn before, each once: in comments, and on the page of a server.
// Without them the run goes on as it would have.
func (a *Action) takeHints(ctx context.Context, work *job, s loop.State) loop.State {
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
	for _, h := range said {
		text := safetext.FirstBytes(safetext.Sanitise(a.redact(h.Text)), maxHint)
		if h.ID == "" || text == "" || slices.Contains(s.Heard, h.ID) {
			continue
		}
		next, err := work.Journal.Store(loop.Record{Type: loop.Resumed, At: a.Clock(), Resume: &loop.Resume{
			Owner: a.owner(), RunURL: a.runURL(), Hint: text, Said: &loop.Said{ID: h.ID, By: h.By}}})
		if err != nil {
			a.warn("recording a hint", err)
			return s
		}
		a.log("this turn is told what %s said: %s", h.By, text)
		s = next
	}
	return s
}
