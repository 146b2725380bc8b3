package main

import (
	"context"

	"github.com/ralph-loop/ralph/internal/actions"
	"github.com/ralph-loop/ralph/internal/app"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
)

type actionCommand struct{}

// Run implements ralph action. In a job, waiting and refusals are no failures: the exit code is 0 for them (C20).
func (actionCommand) Run(ctx context.Context, p process) error {
	environ := environment(p.environ)
	runner := actions.New(func(name string) string { return environ[name] }, p.out)
	env, err := config.ReadEnvironment(environ)
	if err != nil {
		return &endedError{loop.Invalid.ExitCode(), err}
	}
	inputs, err := config.ReadInputs(environ)
	if err != nil {
		runner.Error(err.Error())
		return &endedError{loop.Invalid.ExitCode(), nil}
	}
	a := &app.Action{Env: env, Inputs: inputs, Parent: p.environ, Runner: runner, Clock: now}
	result, err := a.Run(ctx)
	switch {
	case err != nil && (result.Outcome == "" || result.Outcome == loop.Done || app.Invalid(err) && result.Outcome == loop.Failed):
		code := loop.Failed.ExitCode()
		if app.Invalid(err) {
			code = loop.Invalid.ExitCode()
		}
		return &endedError{code, err}
	case result.Outcome == "", result.Outcome == loop.Waiting, result.Outcome == loop.Refused:
		return nil
	}
	return &endedError{result.Outcome.ExitCode(), err}
}
