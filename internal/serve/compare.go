package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/queue"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// compare holds the runs that have not ended against the queue. A run whose job has ended was left so by a process that
// died just then. One whose job is not there came with a backup of another database, and is enqueued.
func (sv *Server) compare(ctx context.Context) error {
	var failed error
	for before := int64(0); ; {
		runs, err := sv.s.Runs(ctx, store.RunFilter{States: activeStates, Before: before, Limit: 1000})
		if err != nil {
			return errors.Join(failed, err)
		}
		for _, run := range runs {
			before = run.Number
			if err := sv.compareRun(ctx, run); err != nil && ctx.Err() == nil {
				sv.o.Log.Warn("a run could not be held against the queue", "run", run.ID, "error", err)
				failed = errors.Join(failed, err)
			}
		}
		if len(runs) < 1000 || ctx.Err() != nil {
			return failed
		}
	}
}

// compareRun looks at one run.
func (sv *Server) compareRun(ctx context.Context, run store.Run) error {
	id := jobOf(run)
	if id == "" {
		return nil
	}
	info, err := sv.q.Job(ctx, id)
	switch {
	case errors.Is(err, queue.ErrUnknown):
		return sv.enqueueAnew(ctx, run)
	case err != nil || info.Ended.IsZero():
		return err
	}
	return sv.end(ctx, run, info.State, info.Why)
}

// jobOf is the id of the job that works on a run, or will when its time comes; empty: it waits for a person.
func jobOf(run store.Run) string {
	var d detail
	_ = json.Unmarshal(run.Detail, &d)
	switch {
	case run.State != web.Waiting:
		return cmp.Or(d.Job, run.ID)
	case run.Times.Resume.IsZero():
		return ""
	}
	return laterID(run.ID, run.Times.Resume)
}

// laterID is the id of the job that goes on with a run at a time.
func laterID(run string, at time.Time) string { return fmt.Sprintf("%s-%d", run, at.Unix()) }

// enqueueAnew enqueues a run that the queue does not know.
func (sv *Server) enqueueAnew(ctx context.Context, run store.Run) error {
	var d detail
	_ = json.Unmarshal(run.Detail, &d)
	if run.State == web.Waiting || d.Job != "" && d.Job != run.ID {
		at := run.Times.Resume
		if at.IsZero() {
			at = sv.o.Clock()
		}
		return sv.later(ctx, job{Repository: run.Repository, Installation: run.Installation, Run: run.ID, Issue: d.Issue}, at)
	}
	delivery, err := sv.s.Delivery(ctx, run.Delivery)
	if err == nil && delivery.Payload == nil {
		err = store.ErrNotFound
	}
	if errors.Is(err, store.ErrNotFound) {
		return sv.end(ctx, run, queue.Failed, "the delivery that asked for it was forgotten")
	}
	if err != nil {
		return err
	}
	v := decide(delivery, sv.o.Rules, sv.ours)
	switch {
	case v.job == nil:
		return sv.end(ctx, run, queue.Failed, v.why)
	case v.job.Quick && delivery.Decision == nil: // it is answered now, or soon
		return nil
	case v.job.Quick:
		return sv.end(ctx, run, queue.Cancelled, delivery.Decision.Why)
	}
	sv.o.Log.Info("a run that the queue does not know is enqueued", "run", run.ID)
	return sv.enqueue(ctx, run.ID, *v.job, time.Time{})
}

// end shows a run as ended whose job has.
func (sv *Server) end(ctx context.Context, seen store.Run, state queue.State, why string) error {
	run, err := sv.s.Run(ctx, seen.ID) // its end may have been stored since we looked
	if err != nil || !slices.Contains(activeStates, run.State) || jobOf(run) != jobOf(seen) {
		return err
	}
	run.State, run.Times.Ended, run.Times.Resume = string(loop.Failed), sv.o.Clock(), time.Time{}
	if state == queue.Cancelled {
		run.State = string(loop.Interrupted)
	}
	run.Reason = why
	if state == queue.Failed {
		run.Reason = "its process was ended again and again; what it has done is on its branch. " + why
	}
	err = sv.s.PutRun(ctx, run)
	if errors.Is(err, store.ErrOutdated) { // it goes on after all
		return nil
	}
	return err
}

// gaveUp shows a job that was killed too often.
func (sv *Server) gaveUp(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), readTime)
	defer cancel()
	info, err := sv.q.Job(ctx, id)
	var j job
	if err != nil || json.Unmarshal(info.Body, &j) != nil {
		return // the next comparison finds it
	}
	run, err := sv.s.Run(ctx, cmp.Or(j.Run, id))
	if err == nil {
		err = sv.end(ctx, run, queue.Failed, run.Reason)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) { // it has none
		sv.o.Log.Error("a run that was given up is shown as it was", "run", id, "error", err)
	}
}
