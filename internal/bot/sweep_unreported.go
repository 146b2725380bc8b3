package bot

import (
	"context"
	"iter"
	"reflect"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/loop"
)

// untoldFor is how long it is tried to report a run's end, when its process died meanwhile or GitHub would not take a
// part of it.
const untoldFor = 3 * 24 * time.Hour

// untold are the runs that have ended without everyone being able to see it.
func (a *Action) untold(ctx context.Context, ev event.Event, runs []loop.State) iter.Seq2[pending, error] {
	return func(yield func(pending, error) bool) {
		for _, s := range runs {
			now := a.Clock()
			if s.End == nil || s.Post.Finished || now.Before(s.Lease) || now.Sub(s.At) > untoldFor ||
				reflect.ValueOf(s.Post).IsZero() || ctx.Err() != nil {
				continue
			}
			p, ok := a.toTell(ctx, ev, s)
			if !ok {
				continue
			}
			p.untold, p.why = &s, "its run "+s.Start.Run+" has ended, and that was not reported everywhere"
			if !yield(p, nil) {
				return
			}
		}
	}
}

// toTell is the request to report a run that has ended, if this sweep is for it.
func (a *Action) toTell(ctx context.Context, ev event.Event, s loop.State) (pending, bool) {
	p := pending{request: planRequest(ev, "")}
	switch {
	case s.Start.Issue != 0 && a.wants(s.Start.Issue):
		issue, err := a.github.Issue(ctx, s.Start.Issue)
		if err != nil {
			a.log("%s is skipped: %v", s.Start.Task, err)
			return p, false
		}
		p.request.Event.Issue = issue
	case s.Start.Issue != 0 || s.Start.Plan == nil || !a.wantsPlan(s.Start.Plan.File):
		return p, false
	default:
		p.request.PlanFile = s.Start.Plan.File
	}
	return p, true
}
