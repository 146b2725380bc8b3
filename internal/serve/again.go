package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// again has a delivery decided once more because a person wants that. Where a run came of it, another one comes, with a
// row of its own.
func (o *outbox) again(ctx context.Context, id string) error {
	d, err := o.s.Delivery(ctx, id)
	if err != nil {
		return notFound(err)
	}
	if d.Payload == nil {
		return &web.Refusal{Why: "The delivery was forgotten, as old ones are. Have GitHub deliver it again, on " +
			"the App's page."}
	}
	if d.Decision == nil {
		return &web.Refusal{Why: "The delivery is not decided yet, or it is answered now."}
	}
	v := decide(d, o.rules, o.ours)
	if v.job == nil || v.job.Quick || !d.Decision.Queued {
		if err := o.s.Undecide(ctx, id); err != nil {
			return notFound(err)
		}
		o.wake()
		return nil
	}
	next, err := o.nextRun(ctx, id)
	if err != nil {
		return err
	}
	if err := o.s.PutRun(ctx, v.run(next, d)); err != nil && !errors.Is(err, store.ErrOutdated) {
		return err
	}
	if err := o.enqueue(ctx, next, *v.job, time.Time{}); err != nil {
		return err
	}
	decision := v.decision(v.step, "it was asked for again")
	decision.Detail, _ = json.Marshal(told{Run: next}) // a text
	return o.s.Decided(ctx, id, decision)
}

// told is what a decision holds for its page.
type told struct {
	Text   string `json:"text,omitempty"`
	Failed string `json:"failed,omitempty"`
	Run    string `json:"run,omitempty"` // the last one that came of it; empty: the one with the delivery's id
}

// nextRun is the id of another run of a delivery. While one works or waits there is none.
func (o *outbox) nextRun(ctx context.Context, delivery string) (string, error) {
	for n, id := 1, delivery; ; {
		run, err := o.s.Run(ctx, id)
		switch {
		case errors.Is(err, store.ErrNotFound) && n > 1:
			return id, nil
		case err != nil && n > 1, err != nil && !errors.Is(err, store.ErrNotFound):
			return "", err
		case err == nil && slices.Contains(activeStates, run.State):
			return "", &web.Refusal{Why: "The run that came of it has not ended. Stop it first, or wait for it."}
		}
		n++
		id = fmt.Sprintf("%s-%d", delivery, n)
	}
}
