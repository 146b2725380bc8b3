package serve

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/launch"
	"github.com/ralph-loop/ralph/internal/work"
)

// setPlace says in an order where a job is worked on, by the settings of its repository as they are now. Mistakes in
// them, and what is not allowed, are told to whoever asked, by a process that begins no run. A mistake in the
// repository's own file may not be in the commit that the run begins at: where this server may do the run, its process
// looks there.
// The image is of a container that the run is to have, and ready; "": it has none.
func (w *worker) setPlace(ctx context.Context, app *github.App, j job, o *work.Order) (image string, err error) {
	if j.Quick { // no settings matter to an answer
		return "", nil
	}
	if o.Settings, err = organisation(ctx, app, j); invalid.Is(err) {
		o.Mistake = err.Error()
		return "", nil
	}
	if err != nil {
		return "", err
	}
	read, err := asked(ctx, app, j, o.Settings)
	mistake := (*config.Error)(nil)
	if errors.As(err, &mistake) && o.Allow.Allows(config.OnServer) {
		return "", nil
	}
	if err == nil {
		read, _, err = o.Allow.Apply(read)
	}
	if errors.As(err, &mistake) {
		o.Mistake = err.Error()
		return "", nil
	}
	if err != nil {
		return "", err
	}
	switch read.Settings.Dispatch {
	case config.InWorkflow:
		o.Workflow = read.Settings.Workflow
	case config.InContainer:
		return w.container(ctx, read.Settings, o)
	}
	return "", nil
}

// container looks whether a run can have the container that its settings ask for. What is wrong with the image is told
// to whoever asked, as a mistake in the settings is.
func (w *worker) container(ctx context.Context, s config.Settings, o *work.Order) (image string, err error) {
	err = w.containers.Ready(ctx, s.Image, needed(s)...)
	if unfit := (*launch.UnfitError)(nil); errors.As(err, &unfit) {
		o.Mistake = unfit.Why
		return "", nil
	}
	return s.Image, err
}

// needed are the programs that a run starts by name. What it starts by path is the repository's own, or is missed by the
// run.
func needed(s config.Settings) []string {
	if filepath.Base(s.Agent.Command) != s.Agent.Command {
		return nil
	}
	return []string{s.Agent.Command}
}
