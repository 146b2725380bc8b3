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
	wrote  func(login string) bool // somebody is the App itself
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
			b.gather(ctx)
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

// gather waits for what comes with the first of several deliveries: each look at the database costs it a write.
func (b *outbox) gather(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(comesWith):
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
		switch {
		case err != nil:
			b.o.Log.Error("a delivery could not be decided, and is tried again", "delivery", d.ID, "tries", d.Tries, "error", err)
			why := "it could not be decided, and is tried again: " + safetext.FirstRunes(safetext.OneLine(err.Error()), 300)
			err = b.s.Postpone(ctx, d.ID, b.o.Clock().Add(pauseAfter(d.Tries+1)), why)
		default:
			of := store.Decided{ID: d.ID, Decision: v.decision(v.step, v.why, "")}
			if v.asks {
				run := v.run(d.ID, d)
				of.Run, runs = &run, true
				if !v.quick {
					of.Decision.Run = run.ID
				}
			}
			made = append(made, of)
		}
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
	if d.Action == unlabeled && v.asks && b.wrote(d.Sender) {
		v.drop(stepNothing, "ralph took the label off itself")
	}
	if v.asks {
		at, read, err := b.askers.soon(ctx, v.installation, v.event)
		switch {
		case err != nil: // the job asks again
		case at.Step == bot.Refuse:
			v.drop("refused", at.Why)
		case at.Step == bot.DoNothing:
			v.drop(stepNothing, at.Why)
		default:
			v.permitted = read
		}
	}
	b.o.Log.Info("delivery", "delivery", d.ID, "event", d.Event, "repository", v.repository, "number", v.subject,
		"step", v.step, "why", v.why)
	return v, nil
}

// again has a delivery decided again because a person requested it. Where a run came of it, another one comes, with a
// row of its own.
func (b *outbox) again(ctx context.Context, id string) error {
	d, err := b.s.Delivery(ctx, id)
	if err != nil {
		return err
	}
	if d.Payload == nil {
		return &web.Refusal{Why: "The delivery was forgotten, as old ones are. Have GitHub deliver it again, on " +
			"the App's page."}
	}
	if d.Decision.At.IsZero() {
		return &web.Refusal{Why: "The delivery is not decided yet."}
	}
	v := decide(d, b.o.Rules, b.ours)
	if !v.asks || v.quick || d.Decision.Run == "" {
		if err := b.s.Undecide(ctx, id); err != nil {
			return err
		}
		b.wake()
		return nil
	}
	next, err := b.nextRun(ctx, id)
	if err != nil {
		return err
	}
	run := v.run(next, d)
	err = b.s.Decide(ctx, store.Decided{ID: id, Decision: v.decision(v.step, "it was requested again", next), Run: &run})
	b.begin()
	return err
}

// nextRun is the id of another run of a delivery. While one works or waits there is none.
func (b *outbox) nextRun(ctx context.Context, delivery string) (string, error) {
	for n, id := 1, delivery; ; {
		run, err := b.s.Run(ctx, id)
		switch {
		case errors.Is(err, store.ErrNotFound) && n > 1:
			return id, nil
		case err != nil && n > 1, err != nil && !errors.Is(err, store.ErrNotFound):
			return "", err
		case err == nil && slices.Contains(web.Active, run.State):
			return "", &web.Refusal{Why: "Its run has not ended. Stop it first, or wait for it."}
		}
		n++
		id = fmt.Sprintf("%s-%d", delivery, n)
	}
}
