package serve

import (
	"context"
	"errors"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/work"
)

// setPlace says in an order where a job is worked on, by the settings of its repository as they are now. Mistakes in
// them, and what is not allowed, are told to whoever asked, by a process that begins no run. A mistake in the
// repository's own file may not be in the commit that the run begins at: where this server may do the run, its process
// looks there.
func setPlace(ctx context.Context, app *github.App, j job, o *work.Order) (err error) {
	if j.Quick { // no settings matter to an answer
		return nil
	}
	if o.Settings, err = organisation(ctx, app, j); invalid.Is(err) {
		o.Mistake = err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	read, err := asked(ctx, app, j, o.Settings)
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
	if err == nil && read.Settings.Dispatch == config.InWorkflow {
		o.Workflow = read.Settings.Workflow
	}
	return err
}
