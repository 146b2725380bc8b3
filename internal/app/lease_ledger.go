package app

import (
	"context"
	"errors"

	"github.com/ralph-loop/ralph/internal/git"
)

// send pushes. The last push gives the lease back in the same step, so that the run is never without a holder and without an outcome.
// When the record turns out to be somebody else's, the error says whose.
func (l *ledger) send(ctx context.Context, last bool, push func() error) error {
	if last && l.pulse != nil && !l.pulse.given() {
		return l.sendLast(ctx, push)
	}
	err := push()
	var taken *git.TakenError
	if errors.As(err, &taken) && l.pulse != nil {
		var lost *git.LostError
		if looked := l.pulse.look(ctx); errors.As(looked, &lost) {
			return lost
		}
	}
	return err
}

// sendLast gives the lease back with a push. One that moves under it, as somebody asks the run to stop, is looked at again.
func (l *ledger) sendLast(ctx context.Context, push func() error) (err error) {
	l.pulse.rest()
	defer l.tree.GiveBack(git.Lease{})
	for range 3 {
		held, lost := l.pulse.lease()
		if lost != nil {
			return lost
		}
		l.tree.GiveBack(held)
		err = push()
		var moved *git.LeaseMovedError
		if err == nil {
			l.pulse.gone()
		}
		if !errors.As(err, &moved) {
			return err
		}
		if err := l.pulse.look(ctx); err != nil {
			return err
		}
	}
	return err
}

// hurry makes the push of the outcome the last one: a job that was cancelled may have no time for another.
func (l *ledger) hurry() { l.last = true }

// finish pushes what the run record on the remote still lacks and gives the lease back: in one step when there is something to push.
func (l *ledger) finish(ctx context.Context) error {
	if l.pulse == nil || l.pulse.given() {
		return l.share(ctx)
	}
	if err := l.lost(); err != nil {
		return err
	}
	if l.remote && l.State().Records != l.saved {
		err := l.ready(ctx)
		if err == nil {
			err = l.save(ctx)
		}
		if err == nil {
			err = l.pushRecord(ctx, true, l.State().Records)
		}
		if err == nil || l.lost() != nil {
			return err
		}
		return errors.Join(err, l.pulse.release(ctx))
	}
	return l.pulse.release(ctx)
}
