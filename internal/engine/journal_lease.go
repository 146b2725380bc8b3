package engine

import (
	"context"
	"errors"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/lease"
)

// send pushes. The last push gives the lease back in the same step, so that the run is never without a holder and without an outcome.
// When the record turns out to be somebody else's, the error says whose.
func (l *Journal) send(ctx context.Context, last bool, push func() error) error {
	if last && l.Pulse != nil && !l.Pulse.Given() {
		return l.sendLast(ctx, push)
	}
	err := push()
	var taken *git.TakenError
	if errors.As(err, &taken) && l.Pulse != nil {
		var lost *lease.LostError
		if looked := l.Pulse.Look(ctx); errors.As(looked, &lost) {
			return lost
		}
	}
	return err
}

// sendLast gives the lease back with a push. One that moves under it, as somebody asks the run to stop, is looked at again.
func (l *Journal) sendLast(ctx context.Context, push func() error) (err error) {
	l.Pulse.Rest()
	defer l.Tree.DeleteWithRecord(git.RemoteRef{})
	for range 3 {
		held, lost := l.Pulse.Lease()
		if lost != nil {
			return lost
		}
		l.Tree.DeleteWithRecord(held.Ref())
		err = push()
		var moved *git.RefMovedError
		if err == nil {
			l.Pulse.Gone()
		}
		if !errors.As(err, &moved) {
			return err
		}
		if err := l.Pulse.Look(ctx); err != nil {
			return err
		}
	}
	return err
}

// EndWithNextPush makes the push of the outcome the last one: a job that was cancelled may have no time for another.
func (l *Journal) EndWithNextPush() { l.last = true }

// Finish pushes what the run record on the remote still lacks and gives the lease back: in one step when there is something to push.
func (l *Journal) Finish(ctx context.Context) error {
	if l.Pulse == nil || l.Pulse.Given() {
		return l.share(ctx)
	}
	if err := l.Lost(); err != nil {
		return err
	}
	if l.Remote && l.State().Records != l.saved {
		err := l.ready(ctx)
		if err == nil {
			err = l.save(ctx)
		}
		if err == nil {
			err = l.pushRecord(ctx, true, l.State().Records)
		}
		if err == nil || l.Lost() != nil {
			return err
		}
		return errors.Join(err, l.Pulse.Release(ctx))
	}
	return l.Pulse.Release(ctx)
}
