package serve

import (
	"context"
	"errors"
	"strings"
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

// setPlace says in an order where a job is worked on, by the settings of its repository as they are now. Mistakes in
// them, and what is not allowed, are told to whoever asked, by a process that begins no run. A mistake in the
// repository's own file may not be in the commit that the run begins at: where this server may do the run, its process
// looks there.
func (w *worker) setPlace(ctx context.Context, app *github.App, row store.Run, ev event.Event, o *work.Order) (err error) {
	if row.Kind == answerJob { // no settings matter to an answer
		return nil
	}
	owner := accountOf(row.Repository)
	shared, err := app.File(ctx, row.Installation, event.Repo{Owner: owner, Name: config.OrganisationRepository},
		config.OrganisationFile)
	if err != nil {
		return err
	}
	own, err := app.File(ctx, row.Installation, repositoryOf(row.Repository), config.SettingsFile)
	if err != nil {
		return err
	}
	layers, err := layersOf(owner, shared, own)
	if err != nil {
		o.Mistake = err.Error()
		return nil
	}
	if o.Settings = layers; own != nil { // which the process reads of the base commit
		o.Settings = layers[:len(layers)-1]
	}
	read, err := config.Explain(layers...)
	mistake := (*config.Error)(nil)
	if errors.As(err, &mistake) && o.Allow.Allows(config.OnServer) {
		return nil
	}
	if err == nil {
		read, _, err = o.Allow.Apply(read)
	}
	if errors.As(err, &mistake) {
		o.Mistake = err.Error()
		return nil
	}
	gated := read.Settings.CIGate == config.WaitForCI
	switch {
	case err != nil:
		return err
	case ev.Kind == event.Built && !gated:
		return &settledError{declined, "the setting ciGate is off, so what other workflows find changes nothing"}
	case gated: // the process decides before it reads the settings
		o.Inputs["ci_gate"] = config.WaitForCI
	}
	if read.Settings.Dispatch != config.InWorkflow {
		return nil
	}
	err = dispatch(ctx, app, row.Installation, ev, read.Settings.Workflow)
	if refused := (*github.DispatchError)(nil); errors.As(err, &refused) {
		o.Mistake = refused.Why
		return nil
	}
	return err
}

// dispatch has the repository's workflow do what was decided. It is told what someone asked with, or what has happened,
// and reads and authorizes that itself. The error is a *settledError once it was started.
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
		_ = app.React(ctx, installation, ev, "rocket")
	}
	return &settledError{web.Dispatched, "handed to the workflow " + workflow}
}

// accountOf is whose a repository is.
func accountOf(repository string) string {
	return repositoryOf(repository).Owner
}

// repositoryOf is a repository by its "owner/name".
func repositoryOf(name string) event.Repo {
	owner, short, _ := strings.Cut(name, "/")
	return event.Repo{Owner: owner, Name: short}
}

// layersOf are the files of an account and, last, of its repository; nil is one that does not exist.
func layersOf(owner string, shared, own []byte) (layers []config.Layer, err error) {
	if shared != nil {
		layer, err := config.Organisation(owner, shared)
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer)
	}
	if own != nil {
		layers = append(layers, config.Layer{Name: config.SettingsFile, JSON: own})
	}
	return layers, nil
}

// runnerFile is the workflow of the runner repository.
const runnerFile = "runner.yml"

// sealedRunners is the name of the key of runners among the database's secrets.
const sealedRunners = "runners"

// examineRunner says whether runners can do the jobs, for the setup page.
func (sv *Server) examineRunner(ctx context.Context, app *github.App, self github.Self) (findings []web.Finding) {
	if sv.worker.runners == nil {
		return nil
	}
	for _, f := range sv.worker.runners.Workflow.Examine(ctx, app, self) {
		findings = append(findings, finding(f, sv.o.GitHub.Web()))
	}
	return findings
}

// launch starts a job: on a runner where there are any, and here what is no run.
func (w *worker) launch(ctx context.Context, row store.Run, to launch.Job, r *recorder) (*launch.Running, error) {
	if w.runners != nil && row.Kind != answerJob && to.Order.Mistake == "" {
		to.Claim = detailOf(row).Claim
		to.Claim.Keep = r.keep
		waiting, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		go w.untilStopped(waiting, row.ID, stop)
		running, err := w.runners.Start(waiting, to)
		refused := (*github.DispatchError)(nil)
		switch {
		case errors.As(err, &refused):
			to.Order.Mistake = "No run can start. " + refused.Why
		case !errors.Is(err, launch.ErrUnwanted):
			return running, err
		case detailOf(row).Run == "":
			return nil, &settledError{string(loop.Interrupted), err.Error()}
		} // a run that has begun ends in a process of this machine, which is told to stop before anything else
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

// unwantedError is of a run that was stopped before it started.
type unwantedError struct{ by string }

func (e unwantedError) Error() string { return "stopped by " + e.by + " before it started" }

// Is implements what errors.Is asks.
func (e unwantedError) Is(target error) bool { return target == launch.ErrUnwanted }

// keep stores which runner does the job, as far as the run has a row.
func (r *recorder) keep(c launch.Claim) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.detail.Claim = c; r.row.Kind != "" {
		return nil
	}
	if c.Nonce != "" && c.Name == "" {
		r.detail.Doing = "waits for a runner"
	}
	row := r.row
	row.Detail = r.detail.text()
	return r.w.s.PutRun(context.Background(), row)
}
