package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/queue"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

const (
	atOnce      = 100                   // deliveries that are decided between two looks at the database
	answersHere = 4                     // quick jobs at once
	mostTries   = 15                    // of a quick job: an hour
	comesWith   = 50 * time.Millisecond // what is stored so soon after a delivery is decided together with it
	lookAgain   = 2 * time.Second       // another server may have stored some, or ours may have died in between
	afterFailed = 5 * time.Second
	holdTime    = 45 * time.Second // after which what this process has taken is taken by another
	unlabeled   = "unlabeled"      // an action of GitHub's
	holdAgain   = holdTime / 3     // a quick job that is done is held on to
)

// outbox decides what has been stored, one delivery after the other. It may die anywhere and run beside others: a job
// has its delivery's id, so it is enqueued once.
type outbox struct {
	s       *store.Store
	enqueue func(ctx context.Context, id string, j job, at time.Time) error
	answer  func(ctx context.Context, id string, j job, attempt int) (queue.Result, error)
	rules   event.Rules
	ours    func(repository, branch string) bool
	wrote   func(login string) bool // somebody is the App itself
	back    func()                  // the database is there again
	woken   chan struct{}           // holds one
	log     *slog.Logger
	clock   func() time.Time
	answers chan struct{} // holds one for each answer that is given now
	busy    sync.WaitGroup
}

// wake has the outbox look now.
func (o *outbox) wake() {
	select {
	case o.woken <- struct{}{}:
	default:
	}
}

// run decides until ctx ends, and what it answers then has been left.
func (o *outbox) run(ctx context.Context) {
	defer o.busy.Wait()
	away := false
	for wait := time.Duration(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-o.woken:
			o.gather(ctx)
		case <-time.After(wait):
		}
		n, err := o.pass(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			o.log.Error("deliveries wait: the database does not answer", "error", err)
			wait, away = afterFailed, true
		case away && err == nil:
			wait, away = 0, false
			o.back()
		case n == atOnce: // there may be more
			wait = 0
		default:
			wait = lookAgain
		}
	}
}

// gather waits for what comes with the first of several deliveries: each look at the database costs it a write or two.
func (o *outbox) gather(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(comesWith):
	}
}

// pass decides what is there, atOnce of it at most. One that cannot be decided waits, and keeps no other waiting; an
// error says that the database has not taken that either.
func (o *outbox) pass(ctx context.Context) (int, error) {
	list, err := o.s.Undecided(ctx, atOnce, holdTime)
	if err != nil {
		return 0, err
	}
	nothing := map[string]store.Decision{}
	for _, d := range list {
		failed := o.one(ctx, d, nothing)
		if failed == nil {
			continue
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		why := "it could not be decided, and is tried again: " + safetext.FirstRunes(safetext.OneLine(failed.Error()), 300)
		err := o.s.Postpone(ctx, d.ID, o.clock().Add(pauseAfter(d.Tries)), why)
		if err != nil && !errors.Is(err, store.ErrNotFound) { // another server has decided it meanwhile
			return 0, errors.Join(failed, err)
		}
		o.log.Error("a delivery could not be decided, and is tried again", "delivery", d.ID, "tries", d.Tries, "error", failed)
	}
	return len(list), o.s.DecidedTogether(ctx, nothing)
}

// pauseAfter is how long a delivery waits that was tried n times in vain.
func pauseAfter(n int) time.Duration {
	return min(afterFailed<<min(max(n-1, 0), 10), store.LongestHold/2)
}

// one decides one delivery; that nothing is done for it goes into nothing, to be stored with others. What makes the
// decision panic is an error like others: the next start would find it again.
func (o *outbox) one(ctx context.Context, d store.Delivery, nothing map[string]store.Decision) (err error) {
	defer func() {
		if p := recover(); p != nil {
			o.log.Error("a decision has panicked", "delivery", d.ID, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	v := decide(d, o.rules, o.ours)
	if d.Action == unlabeled && v.job != nil && o.wrote != nil && o.wrote(d.Sender) {
		v.step, v.why, v.job = stepNothing, "ralph took the label off itself", nil
	}
	o.log.Info("delivery", "delivery", d.ID, "event", d.Event, "repository", v.repository, "number", v.subject,
		"step", v.step, "why", v.why)
	switch {
	case v.job == nil:
		nothing[d.ID] = v.decision(v.step, v.why)
		return nil
	case v.job.Quick:
		return o.quickly(ctx, d, v)
	}
	return o.settle(ctx, d, v)
}

// settle makes a job of a delivery and stores what was decided.
func (o *outbox) settle(ctx context.Context, d store.Delivery, v decided) error {
	// one that works already was made of this delivery before
	if err := o.s.PutRun(ctx, v.run(d.ID, d)); err != nil && !errors.Is(err, store.ErrOutdated) {
		return err
	}
	if err := o.enqueue(ctx, d.ID, *v.job, time.Time{}); err != nil {
		return err
	}
	return o.s.Decided(ctx, d.ID, v.decision(v.step, v.why))
}

// run is the row of the run that a delivery asks for.
func (v decided) run(id string, d store.Delivery) store.Run {
	shown := detail{Issue: v.subject}
	return store.Run{ID: id, Delivery: d.ID, Installation: v.installation, Repository: v.repository,
		Subject: v.subjectName(), Title: v.title, Person: v.person, State: web.Queued, Detail: shown.text()}
}

func (v decided) subjectName() string {
	if v.subject == 0 {
		return ""
	}
	return fmt.Sprintf("#%d", v.subject)
}

func (v decided) decision(step, why string) store.Decision {
	return store.Decision{Step: step, Why: why, Subject: v.subjectName(), Queued: v.job != nil && !v.job.Quick}
}
