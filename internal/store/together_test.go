package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

// TestDeliverTogether: deliveries that come while something else is written are stored together, each once, also when
// the first of them has hung up meanwhile.
func TestDeliverTogether(t *testing.T) {
	s := got[*Store](t)(Open(within(t), Options{Dir: t.TempDir()}))
	defer s.Close()
	ok(t, s.turn.Acquire(within(t), 1))
	first, hangUp := context.WithCancel(within(t))
	var all sync.WaitGroup
	var mu sync.Mutex
	fresh, failed := map[string]int{}, []error{}
	deliver := func(ctx context.Context, id string) {
		all.Go(func() {
			is, err := s.Deliver(ctx, delivery(id))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = append(failed, err)
			}
			if is {
				fresh[id]++
			}
		})
	}
	deliver(first, "first")
	for n := range 3 * mostTogether { // more than are written at once
		deliver(within(t), fmt.Sprint(n/3)) // each three times
	}
	for late := time.Now().Add(time.Minute); len(s.arriving) != 3*mostTogether+1; time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("%d wait", len(s.arriving))
		}
	}
	hangUp()
	s.turn.Release(1)
	all.Wait()
	stored := got[[]Delivery](t)(s.Deliveries(within(t), Filter{Limit: 200}))
	if len(stored) != mostTogether { // and not what nobody waits for
		t.Errorf("%d are stored", len(stored))
	}
	for _, d := range stored {
		if n := fresh[d.ID]; n != 1 || d.ID == "first" {
			t.Errorf("%s was fresh %d times", d.ID, n)
		}
	}
	for _, err := range failed {
		if !errors.Is(err, context.Canceled) && !errors.Is(err, ErrUnavailable) || len(failed) > 1 {
			t.Errorf("one has failed: %v", err)
		}
	}
}
