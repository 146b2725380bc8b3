package queue

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// turn is one attempt at a job, claimed by this executor.
type turn struct {
	job     Job
	attempt int
	kills   int
}

// active is a turn that this process has claimed and not settled.
type active struct {
	turn
	ctx    context.Context // Do's
	cancel context.CancelCauseFunc
}

// work claims jobs whenever a slot is free and something may have come, until ctx ends.
func (q *Queue) work(ctx context.Context) {
	poll := time.NewTicker(q.Poll)
	defer poll.Stop()
	for ctx.Err() == nil {
		if err := q.fill(ctx); err != nil && ctx.Err() == nil {
			q.unsure.Store(true) // the claim may have been stored nevertheless
			q.Log.Warn("no job could be claimed; trying again", "error", err)
			wait(ctx, q.Poll)
		}
		select {
		case <-ctx.Done():
		case <-q.wake:
		case <-poll.C:
		}
	}
}

// fill claims as many jobs as there are free slots and starts them.
func (q *Queue) fill(ctx context.Context) error {
	q.claiming.Lock()
	defer q.claiming.Unlock()
	free := q.Slots - q.runs()
	if free <= 0 || q.draining.Load() || !q.sure() {
		return nil
	}
	due := false
	err := q.db.query(ctx, func(row) error { due = true; return nil },
		`SELECT 1 FROM ralph_queue_jobs WHERE state = 'waiting'
		AND (due <= $1 OR kills > 0 AND due > $1 + 600000) LIMIT 1`, millis(q.clock()))
	if err != nil || !due {
		return err
	}
	taken, err := q.claim(ctx, free)
	if errors.Is(err, ErrOvertaken) {
		return nil // the heartbeat finds that out, too
	}
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, t := range taken {
		a := &active{turn: t}
		a.ctx, a.cancel = context.WithCancelCause(q.root)
		q.active[t.job.ID] = a
		q.turns.Add(1)
		go q.run(a)
	}
	return nil
}

// run has one turn done and stores what became of it. Its slot is free again after that.
func (q *Queue) run(a *active) {
	defer q.turns.Done()
	q.perform(a)
	a.cancel(nil)
	q.mu.Lock()
	delete(q.active, a.job.ID)
	q.mu.Unlock()
	q.nudge()
}

// perform has Do run within a workflow of DBOS, and stores what became of the job before DBOS writes anything about it:
// every moment between the end of Do and its record is one in which a kill has the work done again. A database that is
// away for a while delays the beginning; what Do returns counts.
func (q *Queue) perform(a *active) {
	var once sync.Once
	var why string
	over := make(chan struct{})
	do := func(run bool) {
		once.Do(func() {
			defer close(over)
			result, err := Result{Killed: true, Why: "not begun"}, error(nil)
			if run && q.sure() && a.ctx.Err() == nil {
				result, err = q.call(a)
			}
			why = result.Why
			q.settle(a, result, err)
		})
	}
	id := fmt.Sprintf("%s/%d@%s", a.job.ID, a.attempt, q.executor)
	go func() {
		failed := q.workflows.run(id, func() string { do(true); return why })
		if failed != nil {
			q.Log.Warn("an attempt is not recorded as a workflow", "job", a.job.ID, "error", failed)
		}
		do(true)
	}()
	select {
	case <-over:
	case <-a.ctx.Done():
		do(false) // returns when Do has, or keeps it from beginning
	}
}

// call is Do; a panic is an error.
func (q *Queue) call(a *active) (result Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			q.Log.Error("a job has panicked", "job", a.job.ID, "panic", p, "stack", string(debug.Stack()))
			result, err = Result{}, fmt.Errorf("panic: %v", p)
		}
	}()
	return q.Do(a.ctx, a.job, a.attempt)
}

// settle stores what became of a turn, as long as the turn is still ours. It tries until the database has it or this
// process ends; others take over the job then.
func (q *Queue) settle(a *active, result Result, err error) {
	end := q.ending(a, result, err)
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		ours, err := q.store(a, end)
		if err == nil {
			if ours && end.state == Failed {
				q.gaveUp(a.job.ID)
			}
			return
		}
		q.Log.Warn("the end of a job could not be stored; trying again", "job", a.job.ID, "error", err)
		if !wait(q.stopped, pause) {
			return
		}
	}
}

// ending is what a turn leaves of its job.
type ending struct {
	state State
	due   int64
	kills int
	why   string
}

// ending decides what becomes of a job after a turn.
func (q *Queue) ending(a *active, result Result, err error) ending {
	now := q.clock()
	end := ending{state: Done, why: short(result.Why)}
	if err != nil {
		end.why = short(err.Error())
	}
	var cancelled *CancelledError
	cause := context.Cause(a.ctx)
	unfinished, before := err != nil || result.Killed, q.killedBefore(a)
	switch {
	case errors.As(cause, &cancelled):
		end.state = Cancelled
		if end.why == "" {
			end.why = short(cancelled.Why)
		}
	case unfinished && (errors.Is(cause, ErrHandedOn) || errors.Is(cause, ErrOvertaken)):
		end.state, end.kills = Waiting, before // it is not the job's fault
	case unfinished:
		end.state, end.kills = Waiting, before+1
		switch pause := respite(end.kills); {
		case err != nil:
			end.due = millis(now.Add(backoff(end.kills)))
		case pause > 0:
			end.due = millis(now.Add(pause))
		}
		if end.kills >= q.Kills {
			end.state = Failed
		}
	case !result.Again.IsZero():
		end.state, end.due = Waiting, millis(result.Again)
	}
	return end
}

// store writes an ending; ours is false if the turn has been taken over. A Cancel that came while the turn ended wins
// over waiting once more.
func (q *Queue) store(a *active, end ending) (ours bool, err error) {
	ctx, cancel := context.WithTimeout(q.stopped, 10*time.Second)
	defer cancel()
	over := int64(0)
	if end.state != Waiting {
		over = millis(q.clock())
	}
	n, err := q.db.exec(ctx, `UPDATE ralph_queue_jobs SET executor = '', due = $4, kills = $5, why = $6,
		ended = CASE WHEN $3 = 'waiting' AND cancel <> '' THEN CAST($8 AS BIGINT) ELSE CAST($7 AS BIGINT) END,
		state = CASE WHEN $3 = 'waiting' AND cancel <> '' THEN 'cancelled' ELSE $3 END
		WHERE id = $1 AND attempt = $2 AND state = 'running' AND executor = $9`,
		a.job.ID, a.attempt, string(end.state), end.due, end.kills, end.why, over, millis(q.clock()), q.executor)
	return n > 0, err
}

// backoff is how long a job waits after its nth error in a row.
func backoff(n int) time.Duration { return min(time.Second<<min(n-1, 10), 5*time.Minute) }

// short bounds what is stored of a reason.
func short(why string) string {
	if len(why) > 2000 {
		why = why[:2000]
	}
	return why
}
