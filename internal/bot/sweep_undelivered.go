package bot

import (
	"context"
	"errors"
	"iter"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/loop"
)

// errStillWaits says that a run which waits for its pull request continues waiting.
var errStillWaits = errors.New("the pull request cannot be opened yet")

// deliverLate opens the pull request that a run waits for, and tells that it is done. When GitHub does not open it now
// either, nothing is told again.
func (a *Action) deliverLate(ctx context.Context, r event.Request, s loop.State) (loop.Result, error) {
	result, err := a.revisit(ctx, r, s, func(ctx context.Context, work *job) error {
		s := work.Journal.State()
		post, err := work.publisher.deliver(ctx, s)
		if err != nil || post == nil {
			return errors.Join(errStillWaits, err)
		}
		if s, err = work.Journal.Posted(ctx, post); err != nil {
			return err
		}
		end := &loop.End{Outcome: loop.Done, Reason: s.DoneReason()}
		_, err = work.Journal.Append(ctx, loop.Record{Type: loop.Ended, At: a.Clock(), End: end})
		return err
	})
	if errors.Is(err, errStillWaits) {
		a.log("%s is skipped: %v", s.Start.Task, err)
		return loop.Result{}, nil
	}
	return result, err
}

// undelivered are the runs that wait for their pull request. They come last: one that cannot be opened must not keep
// others waiting.
func (a *Action) undelivered(ctx context.Context, ev event.Event, runs []loop.State,
	held map[string]bool) iter.Seq2[pending, error] {
	return func(yield func(pending, error) bool) {
		for _, s := range runs {
			if s.End == nil || !s.End.ForPull || held[s.Start.Task] || ctx.Err() != nil {
				continue
			}
			p, ok := a.toTell(ctx, ev, s)
			if !ok {
				continue
			}
			p.undelivered, p.why = &s, "its run "+s.Start.Run+" waits for its pull request"
			if !yield(p, nil) {
				return
			}
		}
	}
}
