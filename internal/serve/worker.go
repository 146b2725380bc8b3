package serve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/launch"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
	"github.com/ralph-loop/ralph/internal/work"
)

// worker does jobs, each in a process of its own.
type worker struct {
	recording
	askers   *askers
	launcher *launch.Process
	runners  *launch.Runners // nil: no runners
	base     work.Order      // what is the same for all jobs
	models   launch.Models
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
	if row.Kind != "" { // otherwise the recorder has stored it
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

// order is the order for the process of a job, and the event that asked for the job.
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

// waitForOthers is how long a requested run waits to start while GitHub does not answer.
const waitForOthers = 24 * time.Hour

// notBegun has a job wait that could not begin, since GitHub or this machine did not do its part: that counts as a kill
// only when a day is over.
func (w *worker) notBegun(row store.Run, failed error) store.Run {
	now := w.o.Clock()
	if known, ok := errors.AsType[*settledError](failed); ok {
		row.State, row.Reason, row.Times.Ended = known.state, known.why, now
		return row
	}
	w.o.Log.Warn("a job could not start", "run", row.ID, "attempt", row.Attempt, "error", failed)
	why := brief(failed, 500)
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

// conclude stores how an attempt has ended.
func (w *worker) conclude(r *recorder, end work.End, err error) {
	now := w.o.Clock()
	died, ok := errors.AsType[*launch.DiedError](err)
	r.end(func(row *store.Run, d *detail) {
		switch {
		case ok:
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
		r.fresh.Ended = r.begun && (!row.Times.Ended.IsZero() || row.State == web.Waiting)
	})
}

// appTokens makes the tokens of one job.
type appTokens struct {
	app          *github.App
	installation int64
	repository   string
	s            *store.Store
	log          *slog.Logger
}

// sealedToken begins the names of tokens that are not revoked yet, among the database's secrets: the next start revokes
// those of jobs that were killed with their server.
const sealedToken = "token "

func tokenName(value string) string {
	return fmt.Sprintf("%s%x", sealedToken, sha256.Sum256([]byte(value)))
}

// Make implements launch.Tokens.
func (t appTokens) Make(ctx context.Context) (work.Token, error) {
	made, err := t.app.Token(ctx, t.installation, t.repository, github.Needed(false, false))
	if err == nil {
		if failed := t.s.Seal(ctx, tokenName(made.Value), []byte(made.Value)); failed != nil {
			t.log.Warn("a token ends only by itself if this server is killed", "error", failed)
		}
	}
	return work.Token{Value: made.Value, Ends: made.Ends}, err
}

// Revoke implements launch.Tokens.
func (t appTokens) Revoke(ctx context.Context, token string) error {
	return errors.Join(t.app.Revoke(ctx, github.Token{Value: token}), t.s.Remove(ctx, tokenName(token)))
}

// setPlace says in an order where a job is worked on, by the settings of its repository as they are now. A process that
// starts no run reports errors in them, and what is not allowed, to the requester. A mistake in the repository's own
// file may not be in the commit that the run begins at: where this server may do the run, its process looks there.
func (w *worker) setPlace(ctx context.Context, app *github.App, row store.Run, ev event.Event, o *work.Order) (err error) {
	if row.Kind == answerJob { // no settings matter to an answer
		return nil
	}
	read, err := w.settingsOf(ctx, app, row.Installation, row.Repository)
	if err != nil {
		return err
	}
	o.Settings = read.shared // the process reads the repository's of the base commit
	if read.mistake != nil {
		if !read.own || !o.Allow.Allows(config.OnServer) {
			o.Mistake = read.mistake.Error()
		}
		return nil
	}
	gated := read.CIGate == config.WaitForCI
	switch {
	case ev.Kind == event.Built && !gated:
		return &settledError{declined, "the setting ciGate is off, so what other workflows find changes nothing"}
	case gated: // the process decides before it reads the settings
		o.Inputs["ci_gate"] = config.WaitForCI
	}
	if read.Dispatch != config.InWorkflow {
		return nil
	}
	err = dispatch(ctx, app, row.Installation, ev, read.Workflow)
	if refused, ok := errors.AsType[*github.DispatchError](err); ok {
		o.Mistake = refused.Why
		return nil
	}
	return err
}

// dispatch has the repository's workflow do what was decided. It gets the request or the event by name, and reads and
// authorizes it. The error is a *settledError once it was started.
func dispatch(ctx context.Context, app *github.App, installation int64, ev event.Event, workflow string) error {
	from, ok := event.OriginOf(ev)
	if !ok {
		return &settledError{declined, "this is for the triggers of the workflow " + workflow + " itself"}
	}
	err := app.Dispatch(ctx, installation, ev.Repo, workflow, map[string]any{"request": from.String()})
	if err != nil {
		return err
	}
	if ev.Issue != nil { // what was started shows on the run's page as well
		_ = app.In(installation, ev.Repo).React(ctx, ev, "rocket")
	}
	return &settledError{web.Dispatched, "handed to the workflow " + workflow}
}

// sealedRunners is the name of the key of runners among the database's secrets.
const sealedRunners = "runners"

// launch starts a job: on a runner where there are any, and here what is no run.
func (w *worker) launch(ctx context.Context, row store.Run, to launch.Job, r *recorder) (*launch.Running, error) {
	if w.runners != nil && row.Kind != answerJob && to.Order.Mistake == "" {
		to.Claim = detailOf(row).Claim
		to.Claim.Keep = r.keep
		waiting, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		go w.untilStopped(waiting, row.ID, stop)
		running, err := w.runners.Start(waiting, to)
		switch refused, ok := errors.AsType[*github.DispatchError](err); {
		case ok:
			to.Order.Mistake = "No run can start. " + refused.Why
		case !errors.Is(err, launch.ErrUnwanted):
			return running, err
		case detailOf(row).Journal == "":
			return nil, &settledError{string(loop.Interrupted), err.Error()}
		} // a run that has begun ends in a process of this machine, which gets the stop before anything else
	}
	return w.launcher.Start(ctx, to)
}

// lookForWords is how often it is looked whether someone has stopped a run that waits for a runner.
const lookForWords = 2 * time.Second

// untilStopped ends the wait for a runner when the run is stopped.
func (w *worker) untilStopped(ctx context.Context, run string, stop context.CancelCauseFunc) {
	tick := time.NewTicker(lookForWords)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		said, _ := w.s.Words(ctx, run, 0) // the next look tells the same
		for _, word := range said {
			if word.Kind == web.Stop {
				stop(unwantedError{word.Person})
			}
		}
	}
}
