package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/ralph-loop/ralph/internal/actions"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
	jobs "github.com/ralph-loop/ralph/internal/work"
)

// workCLI is the grammar of what ralph serve starts for each job. No person calls it, so no help tells of it.
type workCLI struct {
	Work workCommand `cmd:""`
}

type workCommand struct{}

// jobSocket is the descriptor of the connection to the server.
const jobSocket = 3

// Run implements ralph work. The server is told how the job ends, so the exit code says only whether it could be.
func (*workCommand) Run(ctx context.Context, p process) error {
	socket := os.NewFile(jobSocket, "the job's socket")
	conn, err := net.FileConn(socket) // a copy that no process of ours inherits
	_ = socket.Close()
	if err != nil {
		return &endedError{loop.Failed.ExitCode(), fmt.Errorf("finding the server: %w; ralph serve starts this command, "+
			"nobody else", err)}
	}
	defer conn.Close()
	if err := jobs.Run(ctx, conn, p.environ, now); err != nil {
		return &endedError{loop.Failed.ExitCode(), err}
	}
	return nil
}

// workOnRunner does a job of a server in a job of GitHub Actions. The log says nothing of it: whoever reads the log may
// be somebody who cannot read the repository that the job is for.
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
