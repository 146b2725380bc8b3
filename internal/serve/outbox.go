package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/queue"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

const (
	atOnce      = 100             // deliveries that are decided between two looks at the database
	answersHere = 4               // quick jobs at once
	mostTries   = 5               // of a quick job
	lookAgain   = 2 * time.Second // another server may have stored some, or ours may have died in between
	afterFailed = 5 * time.Second
	holdTime    = 2 * time.Minute  // after which what this process has taken is taken by another
	answerTime  = 10 * time.Minute // the same for a quick job
)

// outbox decides what has been stored, one delivery after the other. It may die anywhere and run beside others: a job
// has its delivery's id, so it is enqueued once.
type outbox struct {
	s       *store.Store
	enqueue func(ctx context.Context, id string, j job, at time.Time) error
	answer  func(ctx context.Context, id string, j job, attempt int) (queue.Result, error)
	rules   event.Rules
	ours    func(repository, branch string) bool
	woken   chan struct{} // holds one
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
	for wait := time.Duration(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-o.woken:
		case <-time.After(wait):
		}
		n, err := o.pass(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			o.log.Error("deliveries wait: the database does not answer", "error", err)
			wait = afterFailed
		case n == atOnce: // there may be more
			wait = 0
		default:
			wait = lookAgain
		}
	}
}

// pass decides what is there, atOnce of it at most.
func (o *outbox) pass(ctx context.Context) (int, error) {
	list, err := o.s.Undecided(ctx, atOnce, holdTime)
	if err != nil {
		return 0, err
	}
	for _, d := range list {
		v := decide(d, o.rules, o.ours)
		o.log.Info("delivery", "delivery", d.ID, "event", d.Event, "repository", v.repository, "number", v.subject,
			"step", v.step, "why", v.why)
		if v.job != nil && v.job.Quick {
			err = o.quickly(ctx, d, v)
		} else {
			err = o.settle(ctx, d, v)
		}
		if err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

// settle makes a job of a delivery, if one is to be made, and stores what was decided.
func (o *outbox) settle(ctx context.Context, d store.Delivery, v decided) error {
	if v.job != nil {
		// one that works already was made of this delivery before
		if err := o.s.PutRun(ctx, v.run(d)); err != nil && !errors.Is(err, store.ErrOutdated) {
			return err
		}
		if err := o.enqueue(ctx, d.ID, *v.job, time.Time{}); err != nil {
			return err
		}
	}
	return o.s.Decided(ctx, d.ID, v.decision(v.step, v.why))
}

// run is the row of the run that a delivery asks for.
func (v decided) run(d store.Delivery) store.Run {
	shown := detail{Issue: v.subject}
	return store.Run{ID: d.ID, Delivery: d.ID, Installation: v.installation, Repository: v.repository,
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

// quickly does a job beside everything else. Until it is done the delivery counts as undecided, so that it is done
// again if this process dies.
func (o *outbox) quickly(ctx context.Context, d store.Delivery, v decided) error {
	if d.Tries > mostTries {
		return o.s.Decided(ctx, d.ID, v.decision("failed", fmt.Sprintf("it was tried %d times", mostTries)))
	}
	if err := o.s.Postpone(ctx, d.ID, o.clock().Add(answerTime), "it is answered now"); err != nil {
		return err
	}
	o.busy.Go(func() {
		select {
		case o.answers <- struct{}{}:
		case <-ctx.Done():
			return
		case <-time.After(answerTime / 2): // long before another takes it
			return
		}
		defer func() { <-o.answers }()
		result, err := o.answer(ctx, d.ID, *v.job, d.Tries)
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTime)
		defer cancel()
		if err != nil || result.Killed {
			o.log.Error("an answer was not given", "delivery", d.ID, "error", err, "why", result.Why)
			err = o.s.Postpone(late, d.ID, o.clock().Add(time.Minute), "it could not be answered, and is tried again")
		} else {
			err = o.s.Decided(late, d.ID, v.decision("answered", result.Why))
		}
		if err != nil {
			o.log.Error("what became of a delivery is not stored", "delivery", d.ID, "error", err)
		}
	})
	return nil
}
