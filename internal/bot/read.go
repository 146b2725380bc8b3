package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
)

// reader reads what a decision asks for.
type reader interface {
	facts(ctx context.Context, r *Reads) error
	run(ctx context.Context, r *Reads, request event.Request) error
	runs(ctx context.Context, r *Reads) error
	work(ctx context.Context, r *Reads, d Decision)
}

// decide reads of GitHub and the remote what the decision needs, and no more.
func (a *Action) decide(ctx context.Context, from reader, r Reads) (Decision, error) {
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
		case ReadWork:
			from.work(ctx, &r, d)
		default:
			return d, nil
		}
		if err != nil {
			return d, err
		}
	}
}

// unread is what is known of an event before anything is read.
func (a *Action) unread(ev event.Event) Reads {
	return Reads{Event: ev, Rules: a.rules,
		Job: Job{Attempt: int64(a.Env.RunAttempt), URL: a.runURL(), Owner: a.owner(), Now: a.Clock(),
			Served: a.Server != nil}}
}

// jobReader reads what a job reads.
type jobReader struct{ *Action }

// facts connects to GitHub and reads every fact about the event, once.
func (j jobReader) facts(ctx context.Context, r *Reads) error {
	var err error
	if j.github == nil { // else the event was read with it
		if j.github, err = j.connect(ctx, r.Event); err != nil {
			return err
		}
	}
	if request, _, _ := event.Read(r.Event, r.Rules); request.Verb == event.Approve {
		j.github.Reserve(3) // who may edit the plan, and what is said of it
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

// work reads nothing: a job reads what is wanted when it works on it.
func (j jobReader) work(_ context.Context, r *Reads, _ Decision) { r.Looked = true }

// Elsewhere is what a server found in the settings of the repository before it gave the job to a process: that somebody
// else does what it decides, or that nobody does.
type Elsewhere struct {
	Workflow string // "ralph.yml": the repository's own workflow does it; "": this process does
	Mistake  error  // why no run may begin; nil: one may
	// Dispatched is the workflow that was started, once Run has come back; "" for none.
	Dispatched string
}

// worked are the steps that take turns of an agent.
var worked = []Step{Work, TakeUp, GoOnPlan, DerivePlan, Fix, Builds, Sweep}

// elsewhere reports whether a decision is not for this process to do, and has it done or refused then.
func (a *Action) elsewhere(ctx context.Context, d Decision) (handed bool, result loop.Result, err error) {
	if a.Server == nil || !slices.Contains(worked, d.Step) {
		return false, result, nil
	}
	ev := d.Request.Event
	switch at := &a.Server.Elsewhere; {
	case at.Mistake != nil && (d.Step == Sweep || d.Step == Builds): // nobody has asked
		a.log("nothing is taken up: %v", at.Mistake)
		return true, loop.Result{Outcome: loop.Invalid, Reason: at.Mistake.Error()}, nil
	case at.Mistake != nil:
		result, err = a.reject(ctx, ev, invalid.Mark(at.Mistake))
		return true, result, err
	case at.Workflow != "":
		result, err = a.dispatch(ctx, ev, at)
		return true, result, err
	}
	return false, result, nil
}

// dispatch has the repository's workflow do what was decided. It is told what somebody asked with, and reads and
// authorizes that itself.
func (a *Action) dispatch(ctx context.Context, ev event.Event, at *Elsewhere) (loop.Result, error) {
	from, ok := event.OriginOf(ev)
	if !ok {
		a.log("nothing to do: %s is for the triggers of the workflow %s itself", ev, at.Workflow)
		return loop.Result{}, nil
	}
	err := a.github.Dispatch(ctx, at.Workflow, ev.Repo.DefaultBranch, map[string]any{"request": from.String()})
	if refused := (*github.DispatchError)(nil); errors.As(err, &refused) {
		return a.reject(ctx, ev, invalid.Mark(err))
	}
	if err != nil {
		return a.notOpened(ctx, ev, err)
	}
	at.Dispatched = at.Workflow
	a.log("the workflow %s works on %s", at.Workflow, from)
	a.warn("reacting", a.react(ctx, ev, "rocket"))
	return loop.Result{Reason: "handed to the workflow " + at.Workflow}, nil
}
