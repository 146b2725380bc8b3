// Package lease keeps others away from a task while a run works on it: the lease on the remote, and the heartbeat that
// keeps it.
package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// StoppedError is why a run's context ended: someone asked for it.
type StoppedError struct{ stop Stop }

func (e *StoppedError) Error() string { return fmt.Sprint(e.stop) }

// How often a held lease is examined, and how long that may take. It is renewed when a third of its time is over: a slow
// remote leaves time for several tries before it ends.
const (
	LookEvery = 15 * time.Second
	Patience  = 45 * time.Second
)

// leases is what a heartbeat needs of a Client.
type leases interface {
	Look(ctx context.Context, held Lease) (Lease, error)
	Extend(ctx context.Context, held Lease) (Lease, error)
	Release(ctx context.Context, held Lease) error
	Hints(ctx context.Context, task string) ([]Hint, error)
	ForgetHints(ctx context.Context, task string, heard []string) error
	Renew(token string)
	Close()
}

// Heartbeat keeps the lease of a run while the run continues, and hears what is said through it: that it shall stop, or
// that it is no longer ours. It runs beside everything else, through a door of its own. nil is the heartbeat of a run
// without a lease.
type Heartbeat struct {
	door   leases
	clock  func() time.Time
	token  func(context.Context) (string, error) // of now: an App's is renewed every hour
	log    func(format string, args ...any)
	end    context.CancelCauseFunc // ends the run
	rested context.CancelFunc      // ends listening
	still  sync.WaitGroup

	turn  sync.Mutex    // who looks, renews or releases
	lasts time.Duration // how long the lease does: the long one of a server is never looked at in between

	mu      sync.Mutex
	held    Lease
	run     string // its name, once it is known
	missing error  // a *LostError
	happened
}

// happened is what has come to pass with a heartbeat.
type happened struct {
	stopping bool // it was asked to stop, and knows
	troubled bool // the last look failed
	released bool
}

// NewHeartbeat makes the heartbeat of a lease that was just taken, and the context that the run continues in. Nothing beats yet.
func NewHeartbeat(
	ctx context.Context, door leases, held Lease, clock func() time.Time, token func(context.Context) (string, error),
	log func(string, ...any),
) (context.Context, *Heartbeat) {
	h := &Heartbeat{door: door, held: held, lasts: held.Until.Sub(clock()), clock: clock, token: token, log: log}
	running, end := context.WithCancelCause(ctx)
	h.end = end
	return running, h
}

// due reports whether it is time to renew a lease.
func (h *Heartbeat) due(held Lease) bool {
	return !h.clock().Before(held.Until.Add(h.lasts/3 - h.lasts))
}

// idle reports whether there is nothing to ask the remote now.
func (h *Heartbeat) idle() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lasts > Time && !h.troubled && h.missing == nil && !h.due(h.held)
}

// Listen looks at every beat, of which nil is one every LookEvery, in a goroutine, until rest: longer than the run, because
// its end must be reported too.
func (h *Heartbeat) Listen(ctx context.Context, beats <-chan time.Time) {
	if beats == nil {
		beats = time.Tick(LookEvery)
	}
	ctx, h.rested = context.WithCancel(context.WithoutCancel(ctx))
	h.still.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-beats:
				if !h.Beat(ctx) {
					return
				}
			}
		}
	})
}

// Beat looks at the lease, or renews it when it is time to. It reports whether the lease is still ours, as far as we
// know: what the network does wrong is logged once and tried again.
func (h *Heartbeat) Beat(ctx context.Context) bool {
	if h.idle() {
		return true
	}
	soon, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	err := h.Look(soon)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.missing != nil:
		return false
	case ctx.Err() != nil: // it was put to rest in the middle of it
	case err != nil && !h.troubled:
		h.troubled = true
		h.log("the run continues, and the remote is read again every %s: %v", LookEvery, err)
	case err == nil && h.troubled:
		h.troubled = false
		h.log("the remote answers again; the run is still ours")
	}
	return true
}

// Look reads the lease from the remote, or renews it when it is time to, and says to the run what it hears. The error
// is a *LostError when the lease is no longer ours.
func (h *Heartbeat) Look(ctx context.Context) error {
	h.turn.Lock()
	defer h.turn.Unlock()
	held, err := h.Lease()
	if err != nil {
		return err
	}
	if err := h.freshToken(ctx); err != nil {
		return err
	}
	if h.due(held) {
		held, err = h.door.Extend(ctx, held)
	} else {
		held, err = h.door.Look(ctx, held)
	}
	return h.handleReply(held, err)
}

func (h *Heartbeat) freshToken(ctx context.Context) error {
	token, err := h.token(ctx)
	if err == nil {
		h.door.Renew(token)
	}
	return err
}

// handleReply takes in what the remote said, and ends the run when it has to.
func (h *Heartbeat) handleReply(held Lease, err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var lost *LostError
	switch {
	case errors.As(err, &lost):
		h.missing = lost
		h.log("%v", lost)
		h.end(lost)
		return lost
	case err != nil:
		return err
	}
	h.held = held
	if held.Stop != nil {
		h.stop(*held.Stop)
	}
	return nil
}

// Stop tells the run to stop, as a wish in its lease does: a server says so to its process by itself.
func (h *Heartbeat) Stop(wish Stop) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stop(wish)
}

// stop says once to the run that it shall stop. The caller holds the lock.
func (h *Heartbeat) stop(wish Stop) {
	if h.stopping {
		return
	}
	h.stopping = true
	stop := &StoppedError{wish}
	h.log("%v; the run stops", stop)
	h.end(stop)
}

// Hints are what people have said to the run, oldest first, those that it has heard among them.
func (h *Heartbeat) Hints(ctx context.Context) ([]Hint, error) {
	held, err := h.Lease()
	if err == nil {
		err = h.freshToken(ctx)
	}
	if err != nil {
		return nil, err
	}
	return h.door.Hints(ctx, held.Task)
}

// ForgetHints removes from the remote what the run has heard, by its IDs. A dry run has no lease, and heard nothing.
func (h *Heartbeat) ForgetHints(ctx context.Context, heard []string) error {
	if h == nil {
		return nil
	}
	held, err := h.Lease()
	if err != nil || len(heard) == 0 {
		return nil //nolint:nilerr // what is not ours any more is left alone
	}
	return h.door.ForgetHints(ctx, held.Task, heard)
}

// Lease is the lease as we know it, or why it is no longer ours.
func (h *Heartbeat) Lease() (Lease, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	held := h.held
	if h.run != "" {
		held.Run = h.run
	}
	return held, h.missing
}

// Of tells which run the lease is for; the next renewal tells everyone.
func (h *Heartbeat) Of(run string) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.run = run
}

// Lost is a *LostError when the lease is known to be no longer ours, otherwise nil. Then nothing more may be pushed or
// published.
func (h *Heartbeat) Lost() error {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.missing
}

// StopRenewing ends looking and renewing; what is being asked of the remote is broken off. The lease stays ours until it is
// over.
func (h *Heartbeat) StopRenewing() {
	if h != nil && h.rested != nil {
		h.rested()
		h.still.Wait()
	}
}

// Release gives the lease back, once. One that is not ours any more is left alone.
func (h *Heartbeat) Release(ctx context.Context) error {
	if h == nil {
		return nil
	}
	h.StopRenewing()
	h.turn.Lock()
	defer h.turn.Unlock()
	held, err := h.Lease()
	if err != nil || h.Given() {
		return nil //nolint:nilerr // whoever asks lost hears of it
	}
	if err := h.freshToken(ctx); err != nil {
		return err
	}
	err = h.door.Release(ctx, held)
	var lost *LostError
	if err == nil || errors.As(err, &lost) {
		h.MarkReleased()
	}
	return err
}

// MarkReleased says that the lease has been given back.
func (h *Heartbeat) MarkReleased() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.released = true
}

// Given reports whether the lease has been given back.
func (h *Heartbeat) Given() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.released
}

// Close gives the lease back, unless it has been, and leaves nothing behind.
func (h *Heartbeat) Close(ctx context.Context) {
	if h == nil {
		return
	}
	if err := h.Release(ctx); err != nil {
		h.log("%v", err)
	}
	h.end(nil)
	h.door.Close()
}
