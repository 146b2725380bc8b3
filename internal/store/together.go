package store

import (
	"context"
	"errors"
)

const (
	storing      = "storing a delivery"
	mostTogether = 100 // deliveries of one write, so that each write ends in time
	mostArriving = 1000
)

// arrived is a delivery that is to be stored together with others.
type arrived struct {
	Delivery
	waits context.Context // of whoever waits for it
	fresh bool
	done  chan error // holds one
}

// together stores a delivery in one transaction with others that come while another one is written: a disk that is slow
// to sync makes them wait for one sync, and not for each other's.
func (s *Store) together(ctx context.Context, d Delivery) (fresh bool, err error) {
	own := &arrived{Delivery: d, waits: ctx, done: make(chan error, 1)}
	select {
	case s.arriving <- own:
	case <-ctx.Done():
	}
	select {
	case err = <-own.done:
		return own.fresh, err
	case <-ctx.Done():
		return false, failed(ctx, ctx.Err())
	case <-s.closed:
		return false, ErrUnavailable
	}
}

// storeArriving stores what comes, until the database is closed.
func (s *Store) storeArriving() {
	for {
		select {
		case first := <-s.arriving:
			s.storeSome([]*arrived{first})
		case <-s.closed:
			return
		}
	}
}

// storeSome stores deliveries with those that have come when it is their turn, and tells whoever waits for them.
func (s *Store) storeSome(some []*arrived) {
	ctx := context.Background()
	err := s.write(ctx, storing, func(t *transaction) error {
		for more := true; more && len(some) < mostTogether; {
			select {
			case next := <-s.arriving:
				some = append(some, next)
			default:
				more = false
			}
		}
		return t.deliverAll(some)
	})
	for _, a := range some {
		if err != nil && !errors.Is(err, ErrUnavailable) && len(some) > 1 { // one of them cannot be stored, for all that is known
			a.done <- s.write(ctx, storing, func(t *transaction) error { return t.deliverAll([]*arrived{a}) })
		} else {
			a.done <- err
		}
	}
}

// deliverAll stores deliveries that somebody waits for still.
func (t *transaction) deliverAll(all []*arrived) (err error) {
	for _, a := range all {
		if a.waits.Err() != nil {
			continue
		}
		if a.fresh, err = t.deliver(a.Delivery); err != nil {
			return err
		}
	}
	return nil
}
