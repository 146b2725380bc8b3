package main

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/ralph-loop/ralph/internal/supervise"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

type superviseCommand struct {
	MaxRestarts  int           `default:"100" placeholder:"N" help:"How many attempts there may be. Default: 100; 10 to 50 is sensible."`
	RestartDelay time.Duration `default:"1s" placeholder:"TIME" help:"How long to wait between two attempts. Default: 1s."`
	WaitTimeout  time.Duration `default:"5m" placeholder:"TIME" help:"Time that ralph runs started by the command have after DONE. Default: 5m."`
	PollInterval time.Duration `default:"1s" placeholder:"TIME" help:"How often to look whether they have ended. Default: 1s."`
	Timeout      time.Duration `default:"0s" placeholder:"TIME" help:"How long one attempt may take; then it is ended and counts as failed. Default: no limit."`
	TaskDir      string        `default:"." placeholder:"DIR" help:"Directory with DONE, logs and messages. Default: the current directory."`
	Command      []string      `arg:"" passthrough:"partial" placeholder:"COMMAND" help:"The command to run and its arguments, after two dashes."`
}

// Help is the long help of ralph supervise.
func (superviseCommand) Help() string {
	return "Runs a command again and again until it leaves a file DONE in the task directory ($TASK_FOLDER for the " +
		"command). Exit code 0 alone does not stop it; exit code 42, a file WAIT_WITHOUT_RESTART or ralph bus post " +
		"wait_without_restart does, without an error."
}

// Run implements ralph supervise.
func (c *superviseCommand) Run(ctx context.Context, hard hardContext, p process, stderr io.Writer) error {
	argv := c.Command
	if len(argv) > 0 && argv[0] == "--" {
		argv = argv[1:]
	}
	self, err := os.Executable()
	if err != nil {
		self = "" // then its exit codes are those of any program
	}
	defer keepOutput()()
	s := &supervise.Supervisor{
		Argv: argv, Dir: p.dir, TaskDir: c.TaskDir, Parent: p.environ, Self: self, Out: safetext.Raw(p.out),
		Err: safetext.Raw(stderr), Clock: now,
		Grace:       proc.GraceOf(hard),
		MaxRestarts: c.MaxRestarts, RestartDelay: c.RestartDelay, WaitTimeout: c.WaitTimeout, PollInterval: c.PollInterval,
		Timeout: c.Timeout,
	}
	outcome, err := s.Run(ctx, hard)
	if err == nil && outcome == loop.Done {
		return nil
	}
	return &endedError{outcome.ExitCode(), err}
}
