package serve

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/queue"
	"github.com/ralph-loop/ralph/internal/store"
)

// quickly does a job beside everything else. Until it is done the delivery counts as undecided, so that it is done
// again soon if this process dies.
func (o *outbox) quickly(ctx context.Context, d store.Delivery, v decided) error {
	if d.Tries > mostTries {
		return o.s.Decided(ctx, d.ID, v.decision("failed", fmt.Sprintf("it was tried %d times", mostTries)))
	}
	if err := o.hold(ctx, d.ID); err != nil {
		return err
	}
	o.busy.Go(func() {
		over := make(chan struct{})
		defer close(over)
		go o.keep(ctx, d.ID, over)
		select {
		case o.answers <- struct{}{}:
		case <-ctx.Done():
			return
		}
		defer func() { <-o.answers }()
		result, err := o.answer(ctx, d.ID, *v.job, d.Tries)
		o.answered(ctx, d, v, result, err)
	})
	return nil
}

// hold keeps others from taking a delivery for a while.
func (o *outbox) hold(ctx context.Context, id string) error {
	return o.s.Postpone(ctx, id, o.clock().Add(holdTime), "it is answered now")
}

// keep holds a delivery until its answer is over.
func (o *outbox) keep(ctx context.Context, id string, over <-chan struct{}) {
	tick := time.NewTicker(holdAgain)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case <-tick.C:
			if err := o.hold(context.WithoutCancel(ctx), id); err != nil && !errors.Is(err, store.ErrNotFound) {
				o.log.Warn("another server may answer a delivery, too", "delivery", id, "error", err)
			}
		}
	}
}

// answered stores what became of an answer.
func (o *outbox) answered(ctx context.Context, d store.Delivery, v decided, result queue.Result, err error) {
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTime)
	defer cancel()
	if err != nil || result.Killed || !result.Again.IsZero() {
		o.log.Error("an answer was not given", "delivery", d.ID, "error", err, "why", result.Why)
		err = o.s.Postpone(late, d.ID, o.clock().Add(pauseAfter(d.Tries)), "it could not be answered, and is tried again")
	} else {
		err = o.s.Decided(late, d.ID, v.decision("answered", result.Why))
	}
	if err != nil {
		o.log.Error("what became of a delivery is not stored", "delivery", d.ID, "error", err)
	}
}
