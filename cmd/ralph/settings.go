package main

import (
	"context"

	"github.com/ralph-loop/ralph/internal/session"

	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
)

type settingsCommand struct {
	Show   settingsShow   `cmd:"" help:"Print what the settings files add up to, and where each value comes from. Secrets are left out."`
	Schema settingsSchema `cmd:"" help:"Print the JSON schema of a settings file."`
	Usage  settingsUsage  `cmd:"" default:"1" hidden:""`
}

type settingsShow struct {
	JSON bool `name:"json" help:"Print JSON for programs: {\"settings\": {…}, \"from\": {\"agent.command\": \"…\"}}."`
}

// Run implements ralph settings show.
func (c *settingsShow) Run(ctx context.Context, p process) error {
	env, err := config.ReadEnvironment(environment(p.environ))
	if err != nil {
		return &endedError{loop.Invalid.ExitCode(), err}
	}
	s := &session.Settings{Env: env, Parent: p.environ, Dir: p.dir, Out: p.out, JSON: c.JSON}
	if err := s.Show(ctx); err != nil {
		return &endedError{loop.Invalid.ExitCode(), err}
	}
	return nil
}

type settingsSchema struct{}

// Run implements ralph settings schema.
func (settingsSchema) Run(p process) error {
	schema, err := config.Schema()
	if err == nil {
		_, err = p.out.Write(schema)
	}
	return err
}

type settingsUsage struct{}

// Run shows the help of ralph settings, which alone does nothing.
func (settingsUsage) Run(k *kong.Kong) error {
	c, err := kong.Trace(k, []string{"settings"})
	if err != nil {
		return err
	}
	c.Path = c.Path[:2] // ralph, settings; without the default below
	return c.PrintUsage(false)
}
