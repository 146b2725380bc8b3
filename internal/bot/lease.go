package bot

import (
	"context"
	"errors"
	"time"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/lease"
	"github.com/ralph-loop/ralph/internal/loop"
)

// holdLease takes the lease of a task, so that nobody else works on it, and keeps it until the pulse is released (B-26). It comes before
// the run record is read, which may have moved while somebody else held the task. The run goes on in the context that comes back: it ends
// with a *stoppedError as its cause when somebody asks for that (B-09), and with a *git.LostError when somebody else has the task. A
// *heldError says who has it now. A dry run only looks: its pulse is nil, which all methods of a pulse take.
func (a *Action) holdLease(ctx context.Context, id, root string) (context.Context, *lease.Heartbeat, error) {
	door, err := a.leaseDoor(ctx, root)
	if err != nil {
		return ctx, nil, err
	}
	held, err := door.Take(ctx, git.Lease{Task: id, Owner: a.owner(), RunURL: a.Env.RunURL()})
	if err != nil || a.Inputs.DryRun {
		a.warn("closing the repository of leases", door.Close())
		var taken *git.HeldError
		if errors.As(err, &taken) {
			err = &heldError{taken.Error() + ". This request was dropped; ask again when it has ended"}
		}
		return ctx, nil, err
	}
	running, p := lease.Begin(ctx, door, held, a.Clock, a.github.Token, a.log)
	p.Listen(ctx, a.beats())
	return running, p, nil
}

// beats are when a held lease is looked at.
func (a *Action) beats() <-chan time.Time {
	if a.beat != nil {
		return a.beat
	}
	return lease.Beats()
}

// askStop asks whoever works on a task to stop (B-09). by is a login; why goes before it: "asked to stop", "issue closed". heard
// is false when nobody works on it.
func (a *Action) askStop(ctx context.Context, id, by, why string) (heard bool, err error) {
	door, err := a.leaseDoor(ctx, "")
	if err != nil {
		return false, err
	}
	defer func() { a.warn("closing the repository of leases", door.Close()) }()
	heard, _, err = door.AskStop(ctx, id, git.Stop{By: by, Why: a.mask(why), At: a.Clock()})
	return heard, err
}

// leaseDoor opens the way to the leases below a directory, or in a temporary one.
func (a *Action) leaseDoor(ctx context.Context, root string) (*git.Leases, error) {
	o, err := a.gitOptions(ctx, "")
	if err != nil {
		return nil, err
	}
	o.Root = root
	return git.OpenLeases(ctx, o, a.Clock)
}

// withLease is what a run record tells, with who holds the run now; the zero lease is nobody. Records of the bot do not tell that
// themselves. A run without an end that nobody holds has been left by its process.
func withLease(s loop.State, held git.Lease) loop.State {
	switch {
	case held.Task != "":
		s.Lease, s.Owner = held.Ends(), held.Who()
		if held.RunURL != "" {
			s.RunURL = held.RunURL
		}
	case s.End == nil && s.Lease.IsZero():
		s.Lease = s.At
	}
	return s
}
