package engine

import (
	"context"
	"errors"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/lease"
)

// send pushes. The last push gives the lease back in the same step, so that the run is never without a holder and
// without an outcome. When the record turns out to be somebody else's, the error says whose.
func (l *Journal) send(ctx context.Context, last bool, push func() error) error {
	if last && l.Heartbeat != nil && !l.Heartbeat.Given() {
		return l.sendLast(ctx, push)
	}
	err := push()
	var taken *git.TakenError
	if errors.As(err, &taken) && l.Heartbeat != nil {
		var lost *lease.LostError
		if looked := l.Heartbeat.Look(ctx); errors.As(looked, &lost) {
			return lost
		}
	}
	return err
}

// sendLast gives the lease back with a push. One that moves under it, as somebody asks the run to stop, is looked at
// again.
func (l *Journal) sendLast(ctx context.Context, push func() error) (err error) {
	l.Heartbeat.StopRenewing()
	defer l.Tree.DeleteWithRecord(git.RemoteRef{})
	for range 3 {
		held, lost := l.Heartbeat.Lease()
		if lost != nil {
			return lost
		}
		l.Tree.DeleteWithRecord(held.Ref())
		err = push()
		var moved *git.RefMovedError
		if err == nil {
			l.Heartbeat.MarkReleased()
		}
		if !errors.As(err, &moved) {
			return err
		}
		if err := l.Heartbeat.Look(ctx); err != nil {
			return err
		}
	}
	return err
}
