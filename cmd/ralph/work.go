package main

import (
	"context"
	"fmt"
	"os"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	jobs "github.com/ralph-loop/ralph/internal/work"
)

// workCLI is the grammar of what ralph serve starts for each job. No person calls it, so no help tells of it.
type workCLI struct {
	Work workCommand `cmd:""`
}

type workCommand struct {
	Socket string   `help:"Path of the server's socket, in a container."`
	Needs  []string `help:"Print which of these programs are not here, and do nothing else."`
}

// jobSocket is the descriptor of the connection to the server.
const jobSocket = 3

// Run implements ralph work. The server is told how the job ends, so the exit code says only whether it could be.
func (c *workCommand) Run(ctx context.Context, p process) error {
	for _, program := range c.Needs {
		if _, err := proc.LookPath(program, p.environ); err != nil {
			_, _ = fmt.Fprintln(p.out, program)
		}
	}
	if len(c.Needs) > 0 {
		return nil
	}
	at := jobs.Socket{Path: c.Socket}
	if at.Path == "" {
		at.File = os.NewFile(jobSocket, "the job's socket")
	}
	if err := jobs.Run(ctx, at, p.environ, now); err != nil {
		return &endedError{loop.Failed.ExitCode(), err}
	}
	return nil
}
