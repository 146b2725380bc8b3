package serve

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/bot"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

const (
	atOnce      = 100                   // deliveries that are decided between two looks at the database
	comesWith   = 50 * time.Millisecond // what is stored so soon after a delivery is decided together with it
	lookAgain   = 2 * time.Second       // some may be due that were postponed
	afterFailed = 5 * time.Second
	unlabeled   = "unlabeled" // an action of GitHub's
)

// outbox decides what has been stored. It may be killed anywhere: what is not decided then is decided by the next.
type outbox struct {
	*parts
	askers *askers
	wrote  func(login string) bool // someone is the App itself
	begin  func()                  // there are new runs
	back   func()                  // the database is there again
	woken  chan struct{}           // holds one
}

// wake has the outbox look now.
func (b *outbox) wake() {
	select {
	case b.woken <- struct{}{}:
	default:
	}
}

// run decides until ctx ends.
func (b *outbox) run(ctx context.Context) {
	away := false
	for wait := time.Duration(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-b.woken:
			time.Sleep(comesWith)
		case <-time.After(wait):
		}
		n, err := b.pass(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			b.o.Log.Error("deliveries wait: the database does not answer", "error", err)
			wait, away = afterFailed, true
		case away && err == nil:
			wait, away = 0, false
			b.back()
		case n == atOnce: // there may be more
			wait = 0
		default:
			wait = lookAgain
		}
	}
}

// pass decides what is there, atOnce of it at most, and says how many were. One that cannot be decided waits, and keeps
// no other waiting.
func (b *outbox) pass(ctx context.Context) (int, error) {
	list, err := b.s.Undecided(ctx, atOnce)
	if err != nil {
		return 0, err
	}
	var made []store.Decided
	runs := false
	for _, d := range list {
		v, err := b.decide(ctx, d)
		of := store.Decided{ID: d.ID, Decision: store.Decision{Step: v.step, Why: v.why, Subject: v.subject()}}
		if err == nil && v.asks() {
			run := v.run(d)
			run.ID, err = b.unused(ctx, d.ID)
			if of.Run, runs = &run, true; run.Kind == "" {
				of.Decision.Run = run.ID
			}
		}
		switch {
		case errors.Is(err, store.ErrUnavailable):
			return 0, err
		case err == nil:
			made = append(made, of)
			continue
		}
		b.o.Log.Error("a delivery could not be decided, and is tried again", "delivery", d.ID, "tries", d.Tries, "error", err)
		why := "it could not be decided, and is tried again: " + safetext.FirstRunes(safetext.OneLine(err.Error()), 300)
		err = b.s.Postpone(ctx, d.ID, b.o.Clock().Add(pauseAfter(d.Tries+1)), why)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return 0, err
		}
	}
	err = b.s.Decide(ctx, made...)
	if err == nil && runs {
		b.begin()
	}
	return len(list), err
}

// decide decides one delivery. What makes the decision panic is an error like others: the next start would find it
// again.
func (b *outbox) decide(ctx context.Context, d store.Delivery) (v decided, err error) {
	defer func() {
		if p := recover(); p != nil {
			b.o.Log.Error("a decision has panicked", "delivery", d.ID, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	v = decide(d, b.o.Rules, b.ours)
	if d.Action == unlabeled && v.asks() && b.wrote(d.Sender) {
		v.step, v.why = stepNothing, "ralph took the label off itself"
	}
	if v.asks() {
		at, read, err := b.askers.soon(ctx, d.Installation, v.event)
		switch {
		case err != nil: // the job asks again
		case at.Step == bot.Refuse:
			v.step, v.why = "refused", at.Why
		case at.Step == bot.DoNothing:
			v.step, v.why = stepNothing, at.Why
		default:
			v.permitted = read
		}
	}
	b.o.Log.Info("delivery", "delivery", d.ID, "event", d.Event, "repository", d.Repository, "subject", v.subject(),
		"step", v.step, "why", v.why)
	return v, nil
}

// again has a delivery decided again because a person requested it, once the run that came of it has ended.
func (b *outbox) again(ctx context.Context, id string) error {
	d, err := b.s.Delivery(ctx, id)
	switch {
	case err != nil:
		return err
	case d.Payload == nil:
		return &web.Refusal{Why: "The delivery was forgotten, as old ones are. Have GitHub deliver it again, on " +
			"the App's page."}
	case d.Decision.At.IsZero():
		return &web.Refusal{Why: "The delivery is not decided yet."}
	}
	if run, err := b.s.Run(ctx, d.Decision.Run); err == nil && slices.Contains(web.Active, run.State) {
		return &web.Refusal{Why: "Its run has not ended. Stop it first, or wait for it."}
	}
	defer b.wake()
	return b.s.Undecide(ctx, id)
}

// unused is the id of the next run of a delivery. One that is decided again has several.
func (b *outbox) unused(ctx context.Context, delivery string) (string, error) {
	for n, id := 2, delivery; ; n++ {
		_, err := b.s.Run(ctx, id)
		if errors.Is(err, store.ErrNotFound) {
			return id, nil
		}
		if err != nil {
			return "", err
		}
		id = fmt.Sprintf("%s-%d", delivery, n)
	}
}
