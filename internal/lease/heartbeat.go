// Package lease keeps the lease of a run while the run goes on.
package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// StoppedError is why a run's context ended: somebody asked for it.
type StoppedError struct{ stop Stop }

func (e *StoppedError) Error() string { return fmt.Sprint(e.stop) }

// How often a held lease is looked at, from when on it is renewed, and how long that may take: a slow remote leaves time for several
// tries before a lease is over.
const (
	LookEvery  = 15 * time.Second
	renewAfter = Time / 3
	Patience   = 45 * time.Second
)

// Beats beats for a pulse; it ends with the process.
func Beats() <-chan time.Time { return time.Tick(LookEvery) }

// leases is what a heartbeat needs of a Client.
type leases interface {
	Look(ctx context.Context, held Lease) (Lease, error)
	Extend(ctx context.Context, held Lease) (Lease, error)
	Release(ctx context.Context, held Lease) error
	Renew(token string)
	Close() error
}

// Heartbeat keeps the lease of a run while the run goes on, and hears what is said through it: that it shall stop, or that it is not ours any
// more. It runs beside everything else, through a door of its own. nil is the pulse of a run without a lease.
type Heartbeat struct {
	door   leases
	clock  func() time.Time
	token  func(context.Context) (string, error) // of now: an App's is renewed every hour
	log    func(format string, args ...any)
	end    context.CancelCauseFunc // ends the run
	rested context.CancelFunc      // ends listening
	still  sync.WaitGroup

	turn sync.Mutex // who looks, renews or releases

	mu       sync.Mutex
	held     Lease
	run      string // its name, once it is known
	missing  error  // a *LostError
	stopping bool   // it was asked to stop, and has been told
	troubled bool   // the last look came to nothing
	released bool
}

// Begin makes the pulse of a lease that was just taken, and the context that the run goes on in. Nothing beats yet.
func Begin(ctx context.Context, door leases, held Lease, clock func() time.Time, token func(context.Context) (string, error), log func(string, ...any)) (context.Context, *Heartbeat) {
	p := &Heartbeat{door: door, held: held, clock: clock, token: token, log: log}
	running, end := context.WithCancelCause(ctx)
	p.end = end
	return running, p
}

// Listen looks at every beat, in a goroutine, until rest: longer than the run, whose end has to be told of too.
func (p *Heartbeat) Listen(ctx context.Context, beats <-chan time.Time) {
	ctx, p.rested = context.WithCancel(context.WithoutCancel(ctx))
	p.still.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-beats:
				if !p.Beat(ctx) {
					return
				}
			}
		}
	})
}

// Beat looks at the lease, or renews it when it is time to. It reports whether the lease is still ours, as far as we know: what the
// network does wrong is logged once and tried again.
func (p *Heartbeat) Beat(ctx context.Context) bool {
	soon, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	err := p.Look(soon)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.missing != nil:
		return false
	case ctx.Err() != nil: // it was put to rest in the middle of it
	case err != nil && !p.troubled:
		p.troubled = true
		p.log("the run goes on, and the remote is asked again every %s: %v", LookEvery, err)
	case err == nil && p.troubled:
		p.troubled = false
		p.log("the remote answers again; the run is still ours")
	}
	return true
}

// Look reads the lease from the remote, or renews it when it is time to, and says to the run what it hears. The error is a *LostError
// when the lease is not ours any more.
func (p *Heartbeat) Look(ctx context.Context) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	held, err := p.Lease()
	if err != nil {
		return err
	}
	if err := p.freshToken(ctx); err != nil {
		return err
	}
	if p.clock().Before(held.Until.Add(renewAfter - Time)) {
		held, err = p.door.Look(ctx, held)
	} else {
		held, err = p.door.Extend(ctx, held)
	}
	return p.hear(held, err)
}

func (p *Heartbeat) freshToken(ctx context.Context) error {
	token, err := p.token(ctx)
	if err == nil {
		p.door.Renew(token)
	}
	return err
}

// hear takes in what the remote said, and ends the run when it has to.
func (p *Heartbeat) hear(held Lease, err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var lost *LostError
	switch {
	case errors.As(err, &lost):
		p.missing = lost
		p.log("%v", lost)
		p.end(lost)
		return lost
	case err != nil:
		return err
	}
	p.held = held
	if held.Stop != nil && !p.stopping {
		p.stopping = true
		stop := &StoppedError{*held.Stop}
		p.log("%v; the run stops", stop)
		p.end(stop)
	}
	return nil
}

// Lease is the lease as we know it, or why it is not ours any more.
func (p *Heartbeat) Lease() (Lease, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	held := p.held
	if p.run != "" {
		held.Run = p.run
	}
	return held, p.missing
}

// Of tells which run the lease is for; the next renewal tells everybody.
func (p *Heartbeat) Of(run string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.run = run
}

// Lost is a *LostError when the lease is known not to be ours any more, else nil. Then nothing more may be pushed or published.
func (p *Heartbeat) Lost() error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.missing
}

// Rest ends looking and renewing; what is being asked of the remote is broken off. The lease stays ours until it is over.
func (p *Heartbeat) Rest() {
	if p != nil && p.rested != nil {
		p.rested()
		p.still.Wait()
	}
}

// Release gives the lease back, once. One that is not ours any more is left alone.
func (p *Heartbeat) Release(ctx context.Context) error {
	if p == nil {
		return nil
	}
	p.Rest()
	p.turn.Lock()
	defer p.turn.Unlock()
	held, err := p.Lease()
	if err != nil || p.Given() {
		return nil //nolint:nilerr // whoever asks lost hears of it
	}
	if err := p.freshToken(ctx); err != nil {
		return err
	}
	err = p.door.Release(ctx, held)
	var lost *LostError
	if err == nil || errors.As(err, &lost) {
		p.Gone()
	}
	return err
}

// Gone says that the lease has been given back.
func (p *Heartbeat) Gone() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.released = true
}

func (p *Heartbeat) Given() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.released
}

// Close gives the lease back, unless it has been, and leaves nothing behind.
func (p *Heartbeat) Close(ctx context.Context) {
	if p == nil {
		return
	}
	if err := p.Release(ctx); err != nil {
		p.log("%v", err)
	}
	p.end(nil)
	if err := p.door.Close(); err != nil {
		p.log("closing the repository of leases: %v", err)
	}
}
