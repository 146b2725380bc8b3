package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/ralph-loop/ralph/internal/actions"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
	jobs "github.com/ralph-loop/ralph/internal/work"
)

// workCLI is the grammar of what ralph serve starts for each job. No person calls it, so no help reports it.
type workCLI struct {
	Work workCommand `cmd:""`
}

type workCommand struct{}

// Run implements ralph work. The server is told how the job ends, so the exit code says only whether it could be.
func (*workCommand) Run(ctx context.Context, p process) error {
	if err := jobs.Run(ctx, p.in, p.environ, now); err != nil {
		return &endedError{loop.Failed.ExitCode(), err}
	}
	return nil
}

// workOnRunner does a job of a server in a job of GitHub Actions. The log says nothing of it: whoever reads the log may
// be someone who cannot read the repository that the job is for.
func workOnRunner(ctx context.Context, in config.Inputs, runner *actions.Runner, environ []string) error {
	runner.Mask(in.Request)
	_, _ = fmt.Fprintf(runner, "This job works for %s, whose pages show what it does.\n", in.Server)
	err := jobs.Runner{Server: in.Server, Request: in.Request, Token: runner.IDToken}.Run(ctx, environ, now)
	switch {
	case errors.Is(err, jobs.ErrGone):
		runner.Notice("There is nothing to do: " + err.Error())
	case err != nil:
		return &endedError{loop.Failed.ExitCode(), logged(runner, err)}
	}
	return nil
}
