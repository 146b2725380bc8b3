package bot

import (
	"context"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/loop"
)

// reader reads what a decision asks for.
type reader interface {
	facts(ctx context.Context, r *Reads) error
	run(ctx context.Context, r *Reads, request event.Request) error
	runs(ctx context.Context, r *Reads) error
}

// decide reads only what the decision needs from GitHub and the remote.
func (a *Action) decide(ctx context.Context, from reader, ev event.Event, attempt int) (Decision, error) {
	r := Reads{Event: ev, Rules: a.rules, Job: Job{Attempt: int64(attempt), URL: a.runURL(), Owner: a.owner(),
		Now: a.Clock(), Served: a.Server != nil}}
	for {
		var err error
		d := Decide(r)
		switch d.Step {
		case ReadFacts:
			err = from.facts(ctx, &r)
		case ReadRun:
			err = from.run(ctx, &r, d.Request)
		case ReadRuns:
			err = from.runs(ctx, &r)
		default:
			return d, nil
		}
		if err != nil {
			return d, err
		}
	}
}

// jobReader reads what a job reads.
type jobReader struct{ *Action }

// facts connects to GitHub and reads every fact about the event, once.
func (j jobReader) facts(ctx context.Context, r *Reads) error {
	var err error
	if j.github == nil { // otherwise the event was read with it
		if j.github, err = j.connect(ctx, r.Event); err != nil {
			return err
		}
	}
	j.github.Reserve(1) // the rules of the run's branch
	if request, _, _ := event.Read(r.Event, r.Rules); request.Verb == event.Approve {
		j.github.Reserve(4) // and who may edit the plan, and what is said of it
		j.github.RereadLater()
	}
	ev, facts, err := j.github.Gather(ctx, r.Event)
	if err != nil {
		return fmt.Errorf("gathering facts for %s: %w", r.Event, err)
	}
	r.Event, r.Facts, r.Gathered = ev, facts, true
	return nil
}

// run finds the run that a request is about, where the event names a pull request or a commit of it: the request is
// then about the issue that the run is for. Of any other request nothing is looked up; its run is read with its
// checkout.
func (j jobReader) run(ctx context.Context, r *Reads, request event.Request) error {
	r.Located, r.Request = true, request
	ev := request.Event
	looks := slices.Contains([]event.Verb{event.Stop, event.Hint, event.Status, event.Fix, event.OnCIResult}, request.Verb)
	if ev.Issue == nil && ev.Build == nil || ev.Issue != nil && !ev.Issue.Pull && !looks {
		return nil
	}
	all, err := j.recorded(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(s loop.State) bool { return about(ev, s) })
	if i < 0 {
		return nil
	}
	s := all[i]
	r.Run, r.Known, r.Request.Pull = s, true, s.Post.Pull
	if ev.Build != nil || ev.Issue.Pull {
		r.Request.Event.On, r.Request.Event.OnClosed = s.Post.Pull, ev.Issue != nil && ev.Issue.Closed
		r.Request.Event.Issue = nil
		if s.Start.Issue != 0 {
			r.Request.Event.Issue, err = j.github.Issue(ctx, s.Start.Issue)
		}
	}
	return err
}

// runs reads the newest run of every task.
func (j jobReader) runs(ctx context.Context, r *Reads) (err error) {
	r.Runs, err = j.recorded(ctx)
	r.Listed = true
	return err
}
