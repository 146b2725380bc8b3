package main

import (
	"context"
	"fmt"
	"io"

	"github.com/ralph-loop/ralph/internal/bot"

	"github.com/ralph-loop/ralph/internal/actions"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

type sweepCommand struct {
	List bool `required:"" help:"Print the work of a sweep as a matrix of a workflow's jobs, in JSON, and start nothing. Each job then runs ralph action with the input issue."`
}

// Run implements ralph sweep --list. Standard output is the matrix alone; the log goes to standard error.
func (sweepCommand) Run(ctx context.Context, p process, stderr io.Writer) error {
	environ := environment(p.environ)
	env, err := config.ReadEnvironment(environ)
	if err != nil {
		return &endedError{loop.Invalid.ExitCode(), err}
	}
	inputs, err := config.ReadInputs(environ)
	if err != nil {
		return &endedError{loop.Invalid.ExitCode(), err}
	}
	runner := actions.New(func(name string) string { return environ[name] }, safetext.Raw(stderr))
	a := &bot.Action{Env: env, Inputs: inputs, Parent: p.environ, Runner: runner, Clock: now}
	matrix, err := a.List(ctx)
	if err != nil {
		code := loop.Failed.ExitCode()
		if invalid.Is(err) {
			code = loop.Invalid.ExitCode()
		}
		return &endedError{code, err}
	}
	_, err = fmt.Fprintf(p.out, "%s\n", matrix)
	return err
}
