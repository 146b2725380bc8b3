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

	"github.com/ralph-loop/ralph/internal/bot"
	"github.com/ralph-loop/ralph/internal/gateway"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/launch"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/queue"
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
	base     work.Order // what is the same for all jobs
	models   launch.Models
	public   string // the address of the pages
	later    func(ctx context.Context, j job, at time.Time) error
	m        *metrics
	clock    func() time.Time
	log      *slog.Logger

	mu      sync.Mutex
	running map[string]bool // ids of jobs
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
	app, _, err := w.in.current(ctx)
	if err != nil {
		return queue.Result{}, err
	}
	if order.GitHub.Login, err = app.Login(ctx); err != nil {
		return queue.Result{}, err
	}
	if order.Settings, err = organisation(ctx, app, j); err != nil {
		return w.refused(ctx, id, j, err)
	}
	row, err := w.begin(ctx, id, j)
	if err != nil {
		return queue.Result{}, err
	}
	recorder, err := w.record(ctx, row, j.silent() && j.Run == "")
	if err != nil {
		return queue.Result{}, err
	}
	defer w.log.Info("job", "job", id, "attempt", attempt, "repository", j.Repository)
	running, err := w.launcher.Start(context.WithoutCancel(ctx), launch.Job{Order: order,
		Tokens: appTokens{app, j.Installation, j.Repository}, Models: w.models, Hear: recorder})
	if err != nil {
		recorder.end(func(r *store.Run, _ *detail) { r.State, r.Reason = web.Queued, err.Error() })
		return queue.Result{}, err
	}
	w.note(id, true)
	defer w.note(id, false)
	w.attend(ctx, cmp.Or(j.Run, id), running)
	end, err := running.Wait()
	w.spent(ctx, row, running.Usage())
	return w.conclude(ctx, j, recorder, end, err)
}

// refused ends a job whose settings are wrong; where they could not be read, it is tried again.
func (w *worker) refused(ctx context.Context, id string, j job, err error) (queue.Result, error) {
	if !invalid.Is(err) {
		return queue.Result{}, err
	}
	row, found := w.s.Run(ctx, cmp.Or(j.Run, id))
	if found != nil { // it has none
		return queue.Result{Why: err.Error()}, nil //nolint:nilerr // said above
	}
	row.State, row.Reason, row.Times.Ended = string(loop.Invalid), err.Error(), w.clock()
	return queue.Result{Why: row.Reason}, w.s.PutRun(ctx, row)
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
	if row.Times.Started.IsZero() {
		row.Times.Started = w.clock()
	}
	if j.silent() && j.Run == "" {
		return row, nil
	}
	return row, w.s.PutRun(ctx, row)
}

// lookForWords is how often it is looked whether somebody has said something to a run.
const lookForWords = 2 * time.Second

// attend hands on what is said to a run while it works, until its process has ended.
func (w *worker) attend(ctx context.Context, id string, r *launch.Running) {
	over, end := context.WithCancel(context.Background())
	go func() {
		_, _ = r.Wait()
		end()
	}()
	go func() {
		tick := time.NewTicker(lookForWords)
		defer tick.Stop()
		after := int64(0)
		for {
			select {
			case <-over.Done():
				return
			case <-ctx.Done():
				if cancelled := (*queue.CancelledError)(nil); errors.As(context.Cause(ctx), &cancelled) {
					r.Stop("", cancelled.Why)
				} else {
					r.HandOn()
				}
				return
			case <-tick.C:
				after = w.pass(over, id, r, after)
			}
		}
	}()
}

// pass hands on the words that came after a number, and says which was the last.
func (w *worker) pass(ctx context.Context, id string, r *launch.Running, after int64) int64 {
	said, err := w.s.Words(ctx, id, after)
	if err != nil {
		return after // the next look tells the same
	}
	for _, word := range said {
		after = word.Number
		switch word.Kind {
		case web.Stop:
			r.Stop(word.Person, word.Text)
		case web.Hint:
			if err := r.Hint(bot.Hint{ID: wordID(word), By: word.Person, Text: word.Text}); err != nil {
				w.log.Warn("a hint is not handed on", "run", id, "error", err)
			}
		}
	}
	return after
}

// record begins to write down an attempt of a run.
func (w *worker) record(ctx context.Context, row store.Run, silent bool) (*recorder, error) {
	last, err := w.s.LastRecord(ctx, row.ID)
	if err != nil {
		return nil, err
	}
	return newRecorder(&recorder{s: w.s, log: w.log.With("run", row.ID), clock: w.clock, m: w.m}, row, last, silent), nil
}

// spent stores what an attempt has taken, by model.
func (w *worker) spent(ctx context.Context, row store.Run, usage []gateway.Usage) {
	ctx = context.WithoutCancel(ctx)
	for _, u := range usage {
		p := store.Spend{Installation: row.Installation, Repository: row.Repository, Person: row.Person, Model: u.Model,
			Took: store.Took{Turns: u.Requests, Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
				Output: u.Output, Cost: int64(u.Dollars * 1e6)}}
		if err := w.s.AddSpend(ctx, fmt.Sprintf("%s/%d/%s", row.ID, row.Attempt, u.Model), p); err != nil {
			w.log.Error("what a run has spent is not stored", "run", row.ID, "error", err)
		}
		w.s.Add(countTokens, "input", u.Input+u.CacheRead+u.CacheWrite)
		w.s.Add(countTokens, "output", u.Output)
		w.s.Add(countCost, "", p.Took.Cost)
	}
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
