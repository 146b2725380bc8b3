package main

import (
	"context"
	"os"

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
	if err := jobs.Run(ctx, os.NewFile(jobSocket, "the job's socket"), p.environ, now); err != nil {
		return &endedError{loop.Failed.ExitCode(), err}
	}
	return nil
}
