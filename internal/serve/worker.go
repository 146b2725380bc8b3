package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/launch"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/queue"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
	"github.com/ralph-loop/ralph/internal/work"
)

// States of a run's row besides web's and the outcomes of loop.
const (
	declined  = "declined"  // it came to nothing: somebody may not ask, or the run stands otherwise by now
	continued = "continued" // it waited, and a later request goes on with it
)

// worker does jobs, each in a process of its own.
type worker struct {
	s        *store.Store
	in       *installed
	launcher launch.Launcher
	// containers does the jobs whose settings ask for one
	containers *launch.Containers
	base       work.Order // what is the same for all jobs
	models     launch.Models
	allow      config.Allowances
	public     string                  // the address of the pages
	room       func(least int64) error // says when fewer bytes than that are free for jobs
	ofQueue
	m       *metrics
	notices *notices
	clock   func() time.Time
	log     *slog.Logger

	mu      sync.Mutex
	running map[string]bool // ids of jobs
}

// ofQueue is what a worker asks of the queue.
type ofQueue struct {
	later func(ctx context.Context, j job, at time.Time) error
	gotOn func(ctx context.Context, id string) error // a job has made progress
}

// do is queue.Options.Do.
func (w *worker) do(ctx context.Context, q queue.Job, attempt int) (queue.Result, error) {
	var j job
	if err := json.Unmarshal(q.Body, &j); err != nil {
		return queue.Result{Why: "the job cannot be read; it is of another version"}, nil
	}
	return w.work(ctx, q.ID, j, attempt)
}

// work does one attempt of a job.
func (w *worker) work(ctx context.Context, id string, j job, attempt int) (queue.Result, error) {
	order, err := w.order(ctx, id, j, attempt)
	if errors.Is(err, store.ErrNotFound) {
		return queue.Result{Why: "the delivery was forgotten"}, nil
	}
	if err != nil {
		return queue.Result{}, err
	}
	if err := w.room(leastDisk); err != nil {
		return w.postponed(ctx, id, j, attempt, err)
	}
	app, _, err := w.in.current(ctx)
	if err != nil {
		return queue.Result{}, err
	}
	if order.GitHub.Login, err = app.Login(ctx); err != nil {
		return w.postponed(ctx, id, j, attempt, err)
	}
	image, err := w.setPlace(ctx, app, j, &order)
	if err != nil {
		return w.postponed(ctx, id, j, attempt, err)
	}
	row, err := w.begin(ctx, id, j)
	if err != nil {
		return queue.Result{}, err
	}
	if j.Run == "" { // more than the queue knows of, when it comes from a backup
		order.Attempt = max(attempt, row.Attempt)
	}
	recorder, err := w.record(ctx, row, j.silent() && j.Run == "")
	if err != nil {
		return queue.Result{}, err
	}
	defer w.log.Info("job", "job", id, "attempt", attempt, "repository", j.Repository)
	tokens := appTokens{app, j.Installation, j.Repository, order.Workflow != ""}
	running, err := w.launcherOf(image).Start(context.WithoutCancel(ctx), launch.Job{Order: order, Tokens: tokens,
		Models: w.modelsOf(j, order), Hear: recorder, Image: image})
	if err != nil {
		recorder.end(func(r *store.Run, _ *detail) { r.State = web.Queued })
		return w.postponed(ctx, id, j, attempt, err)
	}
	w.note(id, true)
	defer w.note(id, false)
	recorder.attach(running.Metered(), running.Usage)
	w.attend(ctx, cmp.Or(j.Run, id), running, recorder)
	end, err := running.Wait()
	return w.conclude(ctx, j, recorder, end, err)
}

func (w *worker) launcherOf(image string) launch.Launcher {
	if image == "" {
		return w.launcher
	}
	return w.containers
}

const (
	waitForOthers = 24 * time.Hour // from when a run was asked for until it has begun, while GitHub does not answer
	longestPause  = 5 * time.Minute
)

// postponed has a job wait that could not begin, since GitHub or this machine did not do its part: that is not the
// job's fault, and does not count as its failure before a day is over.
func (w *worker) postponed(ctx context.Context, id string, j job, attempt int, failed error) (queue.Result, error) {
	row, err := w.s.Run(ctx, cmp.Or(j.Run, id))
	if err != nil || ctx.Err() != nil || w.clock().Sub(row.Times.Created) > waitForOthers {
		return queue.Result{}, failed
	}
	at := w.clock().Add(min(afterFailed<<min(attempt-1, 10), longestPause))
	row.State = web.Queued
	row.Reason = fmt.Sprintf("it could not begin, and is tried again at %s UTC: %s", at.UTC().Format("15:04"),
		safetext.FirstRunes(safetext.OneLine(failed.Error()), 500))
	w.log.Warn("a job could not begin and is tried again", "job", id, "attempt", attempt, "error", failed)
	if err := w.s.PutRun(ctx, row); err != nil && !errors.Is(err, store.ErrOutdated) {
		return queue.Result{}, errors.Join(failed, err)
	}
	return queue.Result{Again: at, Why: row.Reason}, nil
}

// modelsOf are the models of a job. A sweep does several runs, each of which keeps to its budget by itself.
func (w *worker) modelsOf(j job, o work.Order) launch.Models {
	if j.Delivery == "" && j.Run == "" {
		return w.models
	}
	return w.models.Within(o.Allow)
}

func (w *worker) note(id string, runs bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if runs {
		w.running[id] = true
	} else {
		delete(w.running, id)
	}
}

// count is how many jobs this process does now.
func (w *worker) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.running)
}

// order is what the process of a job is told.
func (w *worker) order(ctx context.Context, id string, j job, attempt int) (work.Order, error) {
	o := w.base
	o.Job, o.Attempt, o.Repository = id, attempt, j.Repository
	o.Allow = w.allow.Of(accountOf(j.Repository))
	o.Page = w.public + "/runs/" + cmp.Or(j.Run, id)
	o.Inputs = map[string]string{}
	for name, value := range w.base.Inputs {
		o.Inputs[name] = value
	}
	if j.Delivery == "" {
		o.Event, o.Payload = "schedule", json.RawMessage("{}")
		if j.Issue != 0 {
			o.Inputs["issue"] = fmt.Sprint(j.Issue)
		}
		return o, nil
	}
	d, err := w.s.Delivery(ctx, j.Delivery)
	if err == nil && d.Payload == nil {
		err = store.ErrNotFound
	}
	o.Event, o.Payload = d.Event, d.Payload
	return o, err
}

// begin stores that an attempt begins.
func (w *worker) begin(ctx context.Context, id string, j job) (store.Run, error) {
	row, err := w.s.Run(ctx, cmp.Or(j.Run, id))
	if errors.Is(err, store.ErrNotFound) { // a quick one, or a sweep: it has a row only if it comes to something
		row, err = store.Run{ID: cmp.Or(j.Run, id), Delivery: j.Delivery, Installation: j.Installation,
			Repository: j.Repository}, nil
	}
	if err != nil {
		return row, err
	}
	row.State, row.Reason, row.Times.Resume = web.Running, "", time.Time{}
	row.Attempt += 1
	var d detail
	_ = json.Unmarshal(row.Detail, &d)
	d.Job = id
	row.Detail = d.text()
	if row.Times.Started.IsZero() {
		row.Times.Started = w.clock()
	}
	if j.silent() && j.Run == "" {
		return row, nil
	}
	return row, w.s.PutRun(ctx, row)
}

// record begins to write down an attempt of a run.
func (w *worker) record(ctx context.Context, row store.Run, silent bool) (*recorder, error) {
	last, err := w.s.LastRecord(ctx, row.ID)
	if err != nil {
		return nil, err
	}
	return newRecorder(&recorder{s: w.s, log: w.log.With("run", row.ID), clock: w.clock, m: w.m, gotOn: w.gotOn,
		notices: w.notices}, row, last, silent), nil
}

// conclude stores how an attempt has ended, and says what becomes of the job.
func (w *worker) conclude(ctx context.Context, j job, r *recorder, end work.End, err error) (queue.Result, error) {
	var died *launch.DiedError
	switch {
	case errors.As(err, &died):
		r.end(func(row *store.Run, _ *detail) { row.State, row.Reason = web.Queued, died.How })
		return queue.Result{Killed: true, Why: died.How}, nil
	case err != nil:
		r.end(func(row *store.Run, _ *detail) { row.State, row.Reason = web.Queued, err.Error() })
		return queue.Result{}, err
	case end.HandedOn:
		r.end(func(row *store.Run, _ *detail) { row.State, row.Reason = web.Queued, "it goes on in another process" })
		return queue.Result{Killed: true, Why: "handed on"}, nil
	}
	waits := end.Outcome == loop.Waiting && !end.Until.IsZero()
	if waits {
		next := j
		next.Delivery, next.Run, next.Issue = "", r.row.ID, r.detail.Issue
		if err := w.later(context.WithoutCancel(ctx), next, end.Until); err != nil {
			return queue.Result{}, err
		}
	}
	state := cmp.Or(string(end.Outcome), declined)
	if end.Workflow != "" {
		state = web.Dispatched
	}
	if r.begun {
		w.s.Count(countRuns, state)
	}
	r.end(func(row *store.Run, d *detail) {
		row.State, row.Reason = state, cmp.Or(end.Problem, end.Reason)
		row.Times.Ended = w.clock()
		if waits {
			row.Times.Resume, row.Times.Ended = end.Until, time.Time{}
		}
		if end.Outcome == loop.Waiting {
			row.Times.Ended = time.Time{}
		}
		d.Pull, d.Branch = cmp.Or(end.Pull, d.Pull), cmp.Or(end.Branch, d.Branch)
	})
	return queue.Result{Why: state}, nil
}
