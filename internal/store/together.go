package store

import (
	"context"
	"errors"
)

const storing = "storing a delivery"

// arrived is a delivery that is to be stored together with others.
type arrived struct {
	Delivery
	fresh bool
	err   error
	done  chan struct{}
}

// together stores a delivery in one transaction with all that come while another one is written: a disk that is slow
// to sync makes them wait for one sync, and not for each other's. The first to come writes for all.
func (s *Store) together(ctx context.Context, d Delivery) (fresh bool, err error) {
	own, first := &arrived{Delivery: d, done: make(chan struct{})}, false
	s.arrived.do(func(all *[]*arrived) {
		first = len(*all) == 0
		*all = append(*all, own)
	})
	if first {
		s.storeArrived(context.WithoutCancel(ctx)) // whoever leaves does not leave the others behind
	}
	select {
	case <-own.done:
		return own.fresh, own.err
	case <-ctx.Done():
		return false, failed(ctx, ctx.Err())
	}
}

// storeArrived stores what has come when its turn to write comes, and tells whoever waits.
func (s *Store) storeArrived(ctx context.Context) {
	var all []*arrived
	take := func() {
		s.arrived.do(func(list *[]*arrived) { all, *list = append(all, *list...), nil })
	}
	err := s.write(ctx, storing, func(t *transaction) error {
		if all == nil { // else it is tried again
			take()
		}
		return t.deliverAll(all)
	})
	if all == nil { // the turn never came
		take()
	}
	if err != nil && !errors.Is(err, ErrUnavailable) && len(all) > 1 { // one of them, for all that is known
		for _, a := range all {
			a.err = s.write(ctx, storing, func(t *transaction) error { return t.deliverAll([]*arrived{a}) })
		}
		err = nil
	}
	for _, a := range all {
		a.err = errors.Join(a.err, err)
		close(a.done)
	}
}

func (t *transaction) deliverAll(all []*arrived) error {
	for _, a := range all {
		n, err := t.exec(insertDelivery, a.row()...)
		if err != nil {
			return err
		}
		a.fresh = n == 1
	}
	return nil
}
