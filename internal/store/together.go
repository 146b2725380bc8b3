package store

import (
	"context"
	"errors"
)

const (
	storing      = "storing a delivery"
	mostTogether = 100 // deliveries of one write, so that each write ends in time
)

// arrivals are the deliveries that wait to be stored, the oldest first.
type arrivals struct {
	waiting []*arrived
	storing bool // somebody stores them
}

// arrived is a delivery that is to be stored together with others.
type arrived struct {
	Delivery
	gone  func() bool // nobody waits for it any more
	fresh bool
	err   error
	done  chan struct{}
}

// together stores a delivery in one transaction with others that come while another one is written: a disk that is slow
// to sync makes them wait for one sync, and not for each other's.
func (s *Store) together(ctx context.Context, d Delivery) (fresh bool, err error) {
	own := &arrived{Delivery: d, gone: func() bool { return ctx.Err() != nil }, done: make(chan struct{})}
	first := false
	s.arrived.do(func(a *arrivals) {
		first, a.storing = !a.storing, true
		a.waiting = append(a.waiting, own)
	})
	if first { // whoever leaves does not leave the others behind
		go s.storeArrived(context.WithoutCancel(ctx))
	}
	select {
	case <-own.done:
		return own.fresh, own.err
	case <-ctx.Done():
		return false, failed(ctx, ctx.Err())
	}
}

// storeArrived stores what has come until nothing waits, and tells whoever does.
func (s *Store) storeArrived(ctx context.Context) {
	for s.someWait() {
		var some []*arrived
		err := s.write(ctx, storing, func(t *transaction) error {
			if some == nil { // else it is tried again
				some = s.take()
			}
			return t.deliverAll(some)
		})
		if some == nil { // the turn never came
			some = s.take()
		}
		if err != nil && !errors.Is(err, ErrUnavailable) { // one of them cannot be stored, for all that is known
			for _, a := range some {
				a.err = s.write(ctx, storing, func(t *transaction) error { return t.deliverAll([]*arrived{a}) })
			}
			err = nil
		}
		for _, a := range some {
			a.err = errors.Join(a.err, err)
			close(a.done)
		}
	}
}

// someWait reports whether there is more to store; if not, the next to come begins anew.
func (s *Store) someWait() (some bool) {
	s.arrived.do(func(a *arrivals) {
		some = len(a.waiting) > 0
		a.storing = some
	})
	return some
}

// take takes the oldest that somebody waits for; never nil.
func (s *Store) take() []*arrived {
	some := make([]*arrived, 0, mostTogether)
	s.arrived.do(func(a *arrivals) {
		for len(a.waiting) > 0 && len(some) < mostTogether {
			if !a.waiting[0].gone() {
				some = append(some, a.waiting[0])
			}
			a.waiting = a.waiting[1:]
		}
	})
	return some
}

func (t *transaction) deliverAll(all []*arrived) error {
	for _, a := range all {
		var err error
		if a.fresh, err = t.deliver(a.Delivery); err != nil {
			return err
		}
	}
	return nil
}
