package main

import (
	"context"
	"errors"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/doctor"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/session"
)

type initCommand struct {
	Agent     string   `placeholder:"NAME" help:"The coding agent to write. Default: one that is installed here and logged in."`
	Check     []string `placeholder:"COMMAND" sep:"none" help:"A command that judges the work, in place of what is found here. Repeatable."`
	Setup     *string  `placeholder:"COMMAND" help:"What installs the dependencies, in place of what is found here; empty for nothing."`
	Yes       bool     `short:"y" help:"Ask nothing: write what is found here. With --github: do it without asking."`
	Overwrite bool     `help:"Replace existing settings without asking."`
	GitHub    bool     `name:"github" help:"Put into the repository on GitHub what ralph needs there instead: its labels, and by a pull request its workflow. The token is read from GITHUB_TOKEN or GH_TOKEN."`
	Repo      string   `placeholder:"OWNER/NAME" help:"With --github: the repository. Default: GITHUB_REPOSITORY, or where the clone came from."`
}

// Run implements ralph init. Its exit code is 2 if anything keeps the settings from being written, but 130 when the
// answers end early.
func (c initCommand) Run(ctx context.Context, p process, s session.Session) error {
	err := c.possible(p.terminal())
	switch {
	case err != nil:
	case c.GitHub:
		i := &doctor.GitHubInit{Session: s, Repo: c.Repo}
		if !c.Yes {
			i.In = p.in
		}
		err = i.Run(ctx)
	default:
		err = (&doctor.Init{Session: s, In: p.in, Yes: c.Yes, Overwrite: c.Overwrite,
			Given: doctor.Given{Agent: c.Agent, Checks: c.Check, Setup: c.Setup}}).Run(ctx)
	}
	if err != nil && ctx.Err() != nil {
		return &endedError{loop.Interrupted.ExitCode(), err}
	}
	return invalid.Mark(err)
}

// possible says what keeps it from beginning.
func (c initCommand) possible(terminal bool) error {
	switch {
	case !c.GitHub && c.Repo != "":
		return errors.New("flag --repo goes with --github; without that, ralph init writes the settings of this directory")
	case c.GitHub && (c.Agent != "" || len(c.Check) > 0 || c.Setup != nil || c.Overwrite):
		return errors.New("flags --agent, --check, --setup and --overwrite are for the settings of this directory, and " +
			"--github is for the repository on GitHub; run ralph init twice")
	case c.GitHub && !c.Yes && !terminal:
		return errors.New("ralph init --github asks before it writes, and standard input is not a terminal; run it in one, or pass --yes")
	case !c.GitHub && !c.Yes && !terminal:
		return errors.New("ralph init asks questions, and standard input is not a terminal; run it in one, pass --yes to write what is found here, or write " + config.SettingsFile +
			" yourself (ralph settings schema prints its schema)")
	}
	return nil
}
