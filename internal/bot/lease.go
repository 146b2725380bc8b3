package bot

import (
	"context"
	"errors"

	"github.com/ralph-loop/ralph/internal/lease"
)

// holdLease takes the lease of a task, so that no one else works on it, and keeps it until the pulse is released. It
// comes before the run record is read, which may have moved while someone else held the task. The run continues in the
// context that comes back: it ends with a *lease.StoppedError as its cause when someone asks for that, and with a
// *lease.LostError when someone else has the task. A *heldError says who has it now. A dry run only looks: its pulse
// is nil, which all methods of a pulse take.
func (a *Action) holdLease(ctx context.Context, id, root string) (context.Context, *lease.Heartbeat, error) {
	door, err := a.leaseDoor(ctx, root)
	if err != nil {
		return ctx, nil, err
	}
	if a.Server != nil {
		door.OfJob(a.Server.Job)
	}
	held, err := door.Take(ctx, lease.Lease{Task: id, Owner: a.owner(), RunURL: a.runURL()})
	if err != nil || a.Inputs.DryRun {
		door.Close()
		var taken *lease.HeldError
		if errors.As(err, &taken) {
			err = &heldError{taken.Error() + ". This request was dropped; ask again when it has ended"}
		}
		return ctx, nil, err
	}
	running, p := lease.NewHeartbeat(ctx, door, held, a.Clock, a.github.Token, a.log)
	if a.Server != nil {
		go a.Server.watchStop(running, p)
	}
	p.Listen(ctx, a.beat)
	return running, p, nil
}

// askStop requests that the process that works on a task stops. by is a login; why goes before it: "asked to stop",
// "issue closed". heard is false when no one works on it.
func (a *Action) askStop(ctx context.Context, id, by, why string) (heard bool, err error) {
	door, err := a.leaseDoor(ctx, "")
	if err != nil {
		return false, err
	}
	defer door.Close()
	return door.AskStop(ctx, id, lease.Stop{By: by, Why: a.redact(why), At: a.Clock()})
}

// leaseDoor opens the way to the leases below a directory, or in a temporary one.
func (a *Action) leaseDoor(ctx context.Context, root string) (*lease.Client, error) {
	o, err := a.gitOptions(ctx, "")
	if err != nil {
		return nil, err
	}
	o.Root = root
	return lease.Open(ctx, o, a.Clock)
}
