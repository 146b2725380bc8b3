package main

import (
	"context"
	"errors"

	"github.com/ralph-loop/ralph/internal/doctor"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
)

type doctorCommand struct {
	Agent  *string `placeholder:"NAME" help:"The coding agent to ask about. Default: what the settings name."`
	GitHub bool    `name:"github" help:"Look at the repository on GitHub instead: token, permissions, labels, branch rules, Actions, secrets by name, workflow. The token is read from GITHUB_TOKEN or GH_TOKEN."`
	Repo   string  `placeholder:"OWNER/NAME" help:"With --github: the repository. Default: GITHUB_REPOSITORY, or where the clone came from."`
	JSON   bool    `name:"json" help:"Print what was found out as one JSON object."`
}

// Run implements ralph doctor. Its exit code is 0 when the agent can run and the settings are valid; with --github,
// when nothing on GitHub keeps ralph from working.
func (c *doctorCommand) Run(ctx context.Context, p process) error {
	env, err := config.ReadEnvironment(environment(p.environ))
	if err == nil {
		err = c.mixed()
	}
	if err != nil {
		return &endedError{loop.Invalid.ExitCode(), err}
	}
	flags := runCommand{Agent: c.Agent}
	d := &doctor.Doctor{Env: env, Parent: p.environ, Dir: p.dir, Out: p.out, Flags: flags.layer(),
		Marks: isTerminal(p.out) || env.CI || env.Actions, Width: columns(p.out)}
	var found any
	var ready bool
	var tell func() error
	if c.GitHub {
		hub, err := d.ExamineHub(ctx, c.Repo)
		if err != nil {
			return &endedError{loop.Invalid.ExitCode(), err}
		}
		found, ready, tell = hub, hub.Ready, func() error { return d.PrintGitHub(hub) }
	} else {
		here := d.Examine(ctx)
		found, ready, tell = here, here.Ready, func() error { return d.Print(here) }
	}
	if c.JSON {
		_, err = p.out.Write(plainJSON(found))
	} else {
		err = tell()
	}
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return &endedError{loop.Interrupted.ExitCode(), nil}
	case !ready:
		return &endedError{loop.Invalid.ExitCode(), nil}
	}
	return nil
}

// mixed is what does not go together on the command line.
func (c *doctorCommand) mixed() error {
	switch {
	case c.GitHub && c.Agent != nil:
		return errors.New("flag --agent is about this machine, and --github about the repository on GitHub; give one of them")
	case !c.GitHub && c.Repo != "":
		return errors.New("flag --repo goes with --github; without that, ralph doctor looks at this machine")
	}
	return nil
}
