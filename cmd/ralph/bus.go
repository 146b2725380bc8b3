package main

import (
	"cmp"
	"context"
	"os"
	"time"

	"github.com/ralph-loop/ralph/internal/supervise"
)

type busCommand struct {
	TaskDir string         `placeholder:"DIR" help:"The task directory. Default: $TASK_FOLDER, otherwise the current directory."`
	Post    busPostCommand `cmd:"" help:"Send a message: ralph bus post wait_without_restart 'which database?'"`
	Read    busReadCommand `cmd:"" help:"Show what was said, a line each, oldest first."`
}

type busPostCommand struct {
	Type string `arg:"" help:"What kind of message, one word. wait_without_restart and fatal_error stop ralph supervise."`
	Text string `arg:"" optional:"" help:"Text of the message."`
}

type busReadCommand struct {
	Follow bool `short:"f" help:"Follow new messages until interrupted."`
	JSON   bool `name:"json" help:"Show the lines as they are kept, in JSON."`
}

// followEvery is how often a followed bus is examined.
const followEvery = time.Second

func (c *busCommand) of(p process) supervise.Bus {
	return supervise.Bus{Dir: p.dir, TaskDir: cmp.Or(c.TaskDir, environment(p.environ)["TASK_FOLDER"]), Clock: now}
}

// Run implements ralph bus post. The message comes from our parent, which runs this: we are gone before it is read.
func (c *busPostCommand) Run(bus *busCommand, p process) error {
	return bus.of(p).Post(c.Type, c.Text, os.Getppid())
}

// Run implements ralph bus read.
func (c *busReadCommand) Run(ctx context.Context, bus *busCommand, p process) error {
	poll := time.Duration(0)
	if c.Follow {
		poll = followEvery
	}
	return bus.of(p).Read(ctx, p.out, c.JSON, poll)
}
