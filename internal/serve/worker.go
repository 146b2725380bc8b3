package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/launch"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
	"github.com/ralph-loop/ralph/internal/work"
)

// States of a run's row besides web's and the outcomes of loop.
const (
	declined  = "declined"  // it came to nothing: someone may not ask, or the run stands otherwise by now
	continued = "continued" // it waited, and a later request continues with it
	failedRun = string(loop.Failed)
)

// What a job's row is before a run has begun.
const (
	answerJob = "answer" // of a command that is done in seconds
	sweepJob  = "sweep"
)

// jobOf is the id of the job that the next process of a run does, and the delivery that it is about; "": the repository is
// looked through for what continues.
func jobOf(row store.Run) (id, delivery string) {
	if later := detailOf(row).Job; later != "" {
		return later, ""
	}
	return row.ID, row.Delivery
}

// worker does jobs, each in a process of its own.
type worker struct {
	*parts
	askers   *askers
	launcher *launch.Process
	runners  *launch.Runners // nil: there are none
	base     work.Order      // what is the same for all jobs
	models   launch.Models
	room     func(least int64) error // says when fewer bytes than that are free for jobs
	m        *metrics
	notices  *notices
}

// run is pool.work: one attempt of a job, of which it stores what becomes.
func (w *worker) run(ctx context.Context, row store.Run) {
	id, _ := jobOf(row)
	defer w.o.Log.Info("job", "job", id, "attempt", row.Attempt, "repository", row.Repository)
	r := w.newRecorder(row)
	end, err := w.do(ctx, row, r)
	w.conclude(r, end, err)
	row = r.row
	if detailOf(row).Stops && row.State != web.Queued && row.State != string(loop.Refused) {
		if err := w.tellStop(ctx, row); err != nil {
			row = w.notBegun(row, err)
		}
	}
	if row.Kind != "" { // else the recorder has stored it
		w.insist(row.ID, func() error {
			if row.State != web.Queued { // it has become no run
				return w.s.Drop(context.Background(), row.ID)
			}
			return w.s.PutRun(context.Background(), row)
		})
	}
}

// tellStop stops the earlier runs of an issue.
func (w *worker) tellStop(ctx context.Context, row store.Run) error {
	active, err := w.s.Runs(ctx, store.Filter{Repositories: []string{row.Repository}, States: []string{web.Queued, web.Running}})
	if err != nil {
		return err
	}
	number := detailOf(row).Issue
	for _, run := range active {
		shown := detailOf(run)
		if number != 0 && run.Number < row.Number && (shown.Issue == number || shown.Pull == number) {
			err = errors.Join(err, stopRun(ctx, w.s, run, row.Person))
		}
	}
	return err
}

// do has a process do a job. The error says that it did not finish, or did not begin.
func (w *worker) do(ctx context.Context, row store.Run, r *recorder) (work.End, error) {
	order, ev, err := w.order(ctx, row)
	if err != nil {
		return work.End{}, err
	}
	if err := w.room(leastDisk); err != nil {
		return work.End{}, err
	}
	app, err := w.in.current(ctx)
	if err != nil {
		return work.End{}, err
	}
	if order.GitHub.Login, err = app.Login(ctx); err != nil {
		return work.End{}, err
	}
	_, delivery := jobOf(row)
	if delivery != "" {
		if order.Permissions, err = w.askers.again(ctx, row, ev); err != nil {
			return work.End{}, err
		}
	}
	if err := w.setPlace(ctx, app, row, ev, &order); err != nil {
		return work.End{}, err
	}
	last, err := w.s.LastRecord(ctx, row.ID)
	if err != nil {
		return work.End{}, err
	}
	r.next = last + 1
	models := w.models
	if delivery != "" || order.Inputs["issue"] != "" { // else there are several runs, each of which keeps to its budget
		models = models.Within(order.Allow)
	}
	running, err := w.launch(ctx, row, launch.Job{Order: order, Models: models, Hear: r,
		Tokens: appTokens{app, row.Installation, row.Repository, w.s, w.o.Log}}, r)
	if err != nil {
		return work.End{}, err
	}
	defer context.AfterFunc(ctx, running.HandOn)()
	return running.Wait()
}

// order is what the process of a job is told, and the event that asked for it.
func (w *worker) order(ctx context.Context, row store.Run) (o work.Order, ev event.Event, err error) {
	o = w.base
	var delivery string
	o.Job, delivery = jobOf(row)
	o.Attempt, o.Repository = row.Attempt, row.Repository
	o.Allow = w.o.Allow.Of(accountOf(o.Repository))
	o.Page = w.o.Public.String() + "/runs/" + row.ID
	o.Inputs = maps.Clone(w.base.Inputs)
	if delivery == "" {
		o.Event, o.Payload = "schedule", json.RawMessage("{}")
		if issue := detailOf(row).Issue; issue != 0 {
			o.Inputs["issue"] = fmt.Sprint(issue)
		}
		return o, event.Event{Kind: event.Scheduled, Repo: repositoryOf(o.Repository)}, nil
	}
	d, err := w.s.Delivery(ctx, delivery)
	if err == nil && d.Payload == nil {
		err = store.ErrNotFound
	}
	if err != nil {
		return o, ev, err
	}
	o.Event, o.Payload = d.Event, d.Payload
	ev, err = eventOf(d)
	return o, ev, err
}

// settledError is why a job needs no process: what it came to is known.
type settledError struct{ state, why string }

func (e *settledError) Error() string { return e.why }

const (
	waitForOthers = 24 * time.Hour // from when a run was asked for until it has begun, while GitHub does not answer
	longestPause  = 5 * time.Minute
)

// notBegun has a job wait that could not begin, since GitHub or this machine did not do its part: that counts as a kill
// only when a day is over.
func (w *worker) notBegun(row store.Run, failed error) store.Run {
	now := w.o.Clock()
	if known := (*settledError)(nil); errors.As(failed, &known) {
		row.State, row.Reason, row.Times.Ended = known.state, known.why, now
		return row
	}
	w.o.Log.Warn("a job could not start", "run", row.ID, "attempt", row.Attempt, "error", failed)
	why := safetext.FirstRunes(safetext.OneLine(failed.Error()), 500)
	switch {
	case errors.Is(failed, store.ErrNotFound):
		row.State, row.Times.Ended, row.Reason = failedRun, now, "the delivery that asked for it was forgotten"
		return row
	case !row.Times.Created.IsZero() && now.Sub(row.Times.Created) > waitForOthers:
		killed(&row, why, now)
	default:
		row.State = web.Queued
	}
	if row.State == web.Queued {
		row.Times.Resume = now.Add(pauseAfter(row.Attempt))
		row.Reason = fmt.Sprintf("it could not start, and is tried again at %s UTC: %s",
			row.Times.Resume.UTC().Format("15:04"), why)
	}
	return row
}

// pauseAfter is how long what was tried n times in vain waits.
func pauseAfter(n int) time.Duration {
	return min(afterFailed<<min(max(n-1, 0), 10), longestPause)
}

// insist stores something of a run that no one else writes now, however long the database is away.
func (w *worker) insist(run string, write func() error) {
	err := write()
	for ; errors.Is(err, store.ErrUnavailable); err = write() {
		w.o.Log.Warn("the outcome of a run waits for the database", "run", run, "error", err)
		time.Sleep(storeAgain)
	}
	if err != nil {
		w.o.Log.Error("the outcome of a run is not stored", "run", run, "error", err)
	}
}

const storeAgain = time.Second

// conclude stores how an attempt has ended.
func (w *worker) conclude(r *recorder, end work.End, err error) {
	now, died := w.o.Clock(), (*launch.DiedError)(nil)
	r.end(func(row *store.Run, d *detail) {
		switch {
		case errors.As(err, &died):
			killed(row, died.How, now)
		case err != nil:
			*row = w.notBegun(*row, err)
		case end.HandedOn:
			row.State, row.Reason = web.Queued, "it continues in another process"
		default:
			row.State, row.Reason, row.Times.Ended = cmp.Or(string(end.Outcome), declined), cmp.Or(end.Problem, end.Reason), now
			d.Pull, d.Branch = cmp.Or(end.Pull, d.Pull), cmp.Or(end.Branch, d.Branch)
		}
		if end.Outcome == loop.Waiting {
			row.Times.Ended, row.Times.Resume = time.Time{}, end.Until
			if !end.Until.IsZero() { // then the repository is searched for this issue alone
				d.Job = fmt.Sprintf("%s-%d", row.ID, end.Until.Unix())
				row.Key = keyOf(row.Repository, d.Issue)
			}
		}
		if r.begun && (!row.Times.Ended.IsZero() || row.State == web.Waiting) {
			r.fresh.Counts = append(r.fresh.Counts, store.Counter{Name: countRuns, Label: row.State, Value: 1})
		}
	})
}
