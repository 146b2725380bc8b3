package main

import (
	"context"

	"github.com/ralph-loop/ralph/internal/app"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
)

type doctorCommand struct {
	Agent *string `placeholder:"NAME" help:"The coding agent to ask about. Default: what the settings name."`
	JSON  bool    `name:"json" help:"Print what was found out as one JSON object."`
}

// Run implements ralph doctor. Its exit code is 0 when the agent can run and the settings are valid.
func (c *doctorCommand) Run(ctx context.Context, p process) error {
	env, err := config.ReadEnvironment(environment(p.environ))
	if err != nil {
		return &endedError{loop.Invalid.ExitCode(), err}
	}
	flags := runCommand{Agent: c.Agent}
	d := &app.Doctor{Env: env, Parent: p.environ, Dir: p.dir, Out: p.out, Flags: flags.layer(), Marks: isTerminal(p.out) || env.CI || env.Actions}
	found := d.Examine(ctx)
	if c.JSON {
		_, err = p.out.Write(plainJSON(found))
	} else {
		err = d.Tell(found)
	}
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return &endedError{loop.Interrupted.ExitCode(), nil}
	case !found.Ready:
		return &endedError{loop.Invalid.ExitCode(), nil}
	}
	return nil
}
