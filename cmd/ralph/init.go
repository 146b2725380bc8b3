package main

import (
	"context"
	"errors"

	"github.com/ralph-loop/ralph/internal/doctor"
	"github.com/ralph-loop/ralph/internal/session"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
)

type initCommand struct {
	GitHub bool   `name:"github" help:"Put into the repository on GitHub what ralph needs there instead: its labels, and by a pull request its workflow. The token is read from GITHUB_TOKEN or GH_TOKEN."`
	Repo   string `placeholder:"OWNER/NAME" help:"With --github: the repository. Default: GITHUB_REPOSITORY, or where the clone came from."`
	Yes    bool   `short:"y" help:"With --github: do it without asking."`
}

// Run implements ralph init. Whatever keeps the settings from being written is exit code 2, but 130 when the answers
// end early.
func (c initCommand) Run(ctx context.Context, p process) error {
	terminal := p.in != nil && term.IsTerminal(int(p.in.Fd()))
	if err := c.possible(terminal); err != nil {
		return &endedError{loop.Invalid.ExitCode(), err}
	}
	env, err := config.ReadEnvironment(environment(p.environ))
	if err != nil {
		return &endedError{loop.Invalid.ExitCode(), err}
	}
	switch err := c.begin(ctx, env, p); {
	case errors.Is(err, session.ErrAborted), err != nil && ctx.Err() != nil:
		return &endedError{loop.Interrupted.ExitCode(), err}
	case err != nil:
		return &endedError{loop.Invalid.ExitCode(), err}
	}
	return nil
}

// possible says what keeps it from beginning.
func (c initCommand) possible(terminal bool) error {
	switch {
	case !c.GitHub && (c.Repo != "" || c.Yes):
		return errors.New("flags --repo and --yes go with --github; without that, ralph init asks for the settings of this " +
			"directory")
	case c.GitHub && !c.Yes && !terminal:
		return errors.New("ralph init --github asks before it writes, and standard input is not a terminal; run it in one, " +
			"or say --yes")
	case !c.GitHub && !terminal:
		return errors.New("ralph init asks questions, and standard input is not a terminal; " +
			"run it in one, or write " + config.SettingsFile + " yourself (ralph settings schema prints what may stand in it)")
	}
	return nil
}

func (c initCommand) begin(ctx context.Context, env config.Environment, p process) error {
	if !c.GitHub {
		return (&doctor.Init{Env: env, Parent: p.environ, Dir: p.dir, In: p.in, Out: p.out}).Run(ctx)
	}
	i := &doctor.GitHubInit{Env: env, Parent: p.environ, Dir: p.dir, Repo: c.Repo, Out: p.out}
	if !c.Yes {
		i.In = p.in
	}
	return i.Run(ctx)
}
