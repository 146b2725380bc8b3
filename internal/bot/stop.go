package bot

import (
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/loop"
)

// stop ends a run: the lease asks the process that works on it to stop; a run without a process is marked as stopped,
// so that nothing resumes it.
func (a *Action) stop(ctx context.Context, r event.Request, s loop.State, d event.Decision) (loop.Result, error) {
	by, why := whoStops(r.Event)
	if d.Do == event.Halt {
		heard, err := a.askStop(ctx, s.Start.Task, by, why)
		if err != nil {
			return loop.Result{Outcome: loop.Failed, Reason: err.Error()}, err
		}
		if heard {
			a.warn("reacting", a.to(r.Event).react(ctx, "+1"))
			a.Runner.Notice(a.redact(fmt.Sprintf("stopping the run of %s: %s by %s", s.Start.Task, why, by)))
			return loop.Result{}, nil
		}
		d.Do = event.Close // it has just died
	}
	if d.Do == event.Tidy {
		return a.tidy(ctx, r.Event, d)
	}
	a.warn("reacting", a.to(r.Event).react(ctx, "+1"))
	end := &loop.End{Outcome: loop.Interrupted, Reason: fmt.Sprintf("%s by %s", why, by)}
	return a.revisit(ctx, r, s, func(ctx context.Context, j *job) error {
		_, err := j.Journal.Append(ctx, loop.Record{Type: loop.Ended, At: a.Clock(), End: end})
		return err
	})
}

// tidy takes the labels off an issue that show how its run stands: what is closed or merged waits for no one.
func (a *Action) tidy(ctx context.Context, ev event.Event, d event.Decision) (loop.Result, error) {
	a.log("%s", d.Why)
	for _, label := range labels(ev) {
		if outdated(a.rules, label, "") {
			a.warn("changing labels", a.github.RemoveLabel(ctx, ev.Issue.Number, label))
		}
	}
	return loop.Result{}, nil
}

// whoStops says who wants a run to stop, and by what.
func whoStops(ev event.Event) (by, why string) {
	why = "asked to stop"
	switch {
	case ev.Kind == event.Closed && (ev.On != 0 || ev.Issue != nil && ev.Issue.Pull):
		why = "pull request closed"
	case ev.Kind == event.Closed:
		why = "issue closed"
	case ev.Kind == event.Unlabeled:
		why = takenOff(ev.Label)
	}
	return ev.Sender.Login, why
}
