package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/lease"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// passHint stores a hint from a comment where the run looks before its next turn, in a job or on a server.
func (a *Action) passHint(ctx context.Context, r event.Request, s loop.State) (loop.Result, error) {
	door, err := a.leaseDoor(ctx, "")
	if err != nil {
		return loop.Result{Outcome: loop.Failed, Reason: err.Error()}, err
	}
	defer door.Close()
	err = door.AddHint(ctx, lease.Hint{ID: hintID(r.Event), Task: s.Start.Task, By: r.Event.Sender.Login,
		Text: a.redact(safetext.FirstBytes(safetext.Sanitise(r.Hint), engine.MaxHint)), At: a.Clock()})
	if err != nil {
		return loop.Result{Outcome: loop.Failed, Reason: err.Error()}, err
	}
	if over := a.overMeanwhile(ctx, r, s); over.Why != "" {
		return a.to(r.Event).decline(ctx, over)
	}
	a.warn("reacting", a.to(r.Event).react(ctx, "+1"))
	a.Runner.Notice(a.redact(fmt.Sprintf("%s reads what %s said before it ends", s.Start.Task, r.Event.Sender.Login)))
	return loop.Result{}, nil
}

// overMeanwhile is the answer to a hint whose run has ended meanwhile, so that no turn reads it. A run reads its hints once
// more after it has recorded its end, so that no hint is lost between the two.
func (a *Action) overMeanwhile(ctx context.Context, r event.Request, s loop.State) event.Decision {
	all, err := jobReader{a}.recorded(ctx)
	a.warn("looking whether the run has ended", err)
	for _, now := range all {
		if of := event.Decide(r, runStatus(now, true, a.owner(), a.Clock()), a.rules); now.Start.Run == s.Start.Run &&
			slices.Contains(idle, of.Do) {
			return of
		}
	}
	return event.Decision{}
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

// lookAtIssue stops a run if its issue was closed or its running label was removed, because not every workflow starts a
// job then. It reads the issue once per iteration; a failed read never stops the run. A server gets these events itself.
func (j *job) lookAtIssue(ctx context.Context, s loop.State) {
	if j.Server != nil || j.Inputs.DryRun || s.Start.Issue == 0 || s.Turning != nil || len(s.Iterations) == 0 || s.End != nil {
		return
	}
	switch issue, err := j.github.Issue(ctx, s.Start.Issue); {
	case err != nil:
	case issue.Closed:
		j.Heartbeat.Stop(lease.Stop{By: issue.ClosedBy, Why: "issue closed", At: j.Clock()})
	case j.publisher.shows(issue.Labels, github.LabelRunning):
		j.publisher.running = true
	case j.publisher.running:
		j.stopUnlabeled(ctx, s)
	}
}

// stopUnlabeled stops a run if someone with write access removed its running label after the run was requested. A label
// that was renamed or deleted stops no run.
func (j *job) stopUnlabeled(ctx context.Context, s loop.State) {
	label := j.rules.StatusLabel(github.LabelRunning)
	who, at, err := j.github.LabelChanged(ctx, s.Start.Issue, event.Unlabeled, label)
	switch {
	case err != nil || begunSince(s, at.Add(time.Second)): // GitHub tells times in whole seconds
		j.warn("looking for who took the label "+label+" off", err)
	case strings.EqualFold(who, j.github.Self()) || !j.github.CanWrite(ctx, &event.Facts{Permissions: map[string]event.Permission{}}, who):
		j.publisher.running = false
	default:
		j.Heartbeat.Stop(lease.Stop{By: who, Why: takenOff(label), At: at})
	}
}

// hints are what people have said to a run: in comments, and on the page of a server.
func (j *job) hints(ctx context.Context, s loop.State) []loop.Hint {
	j.lookAtIssue(ctx, s)
	var said []loop.Hint
	if j.Server != nil && j.Server.Hints != nil {
		said = j.Server.Hints()
	}
	if j.Heartbeat != nil {
		left, err := j.Heartbeat.Hints(ctx)
		j.warn("looking for hints", err)
		for _, h := range left {
			if !h.At.Before(s.StartedAt) { // an earlier run was meant
				said = append(said, loop.Hint{ID: h.ID, By: h.By, Text: h.Text})
			}
		}
	}
	return said
}

func takenOff(label string) string { return "label " + label + " taken off" }
