package main

import (
	"context"
	"io"

	"github.com/ralph-loop/ralph/internal/doctor"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/session"
)

type doctorCommand struct {
	Agent  *string `placeholder:"NAME" setting:"agent.command" help:"The coding agent to ask about. Default: what the settings name."`
	GitHub bool    `name:"github" help:"Look at the repository on GitHub instead: token, permissions, labels, branch rules, Actions, secrets by name, workflow. The token is read from GITHUB_TOKEN or GH_TOKEN."`
	Repo   string  `placeholder:"OWNER/NAME" help:"With --github: the repository. Default: GITHUB_REPOSITORY, or where the clone came from."`
	JSON   bool    `name:"json" help:"Print what was found out as one JSON object."`
}

// Run implements ralph doctor. Its exit code is 0 when the agent can run and the settings are valid; with --github,
// when nothing on GitHub keeps ralph from working.
func (c *doctorCommand) Run(ctx context.Context, p process, s session.Session) error {
	switch {
	case c.GitHub && c.Agent != nil:
		return invalid.Errorf("flag --agent is about this machine, and --github about the repository on GitHub; pass one of them")
	case !c.GitHub && c.Repo != "":
		return invalid.Errorf("flag --repo goes with --github; without that, ralph doctor looks at this machine")
	}
	s.Flags = setBy(c, nil)
	d := &doctor.Doctor{Session: s, Marks: isTerminal(p.out) || s.Env.CI || s.Env.Actions, Width: columns(p.out)}
	var found any
	var text, todo string
	if c.GitHub {
		hub, err := d.ExamineHub(ctx, c.Repo)
		if err != nil {
			return invalid.Mark(err)
		}
		found, text, todo = hub, d.GitHubText(hub), hub.Todo
	} else {
		here := d.Examine(ctx)
		found, text, todo = here, d.Text(here), here.Todo
	}
	if c.JSON {
		text = string(plainJSON(found))
	}
	_, err := io.WriteString(p.out, text)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && todo != "" {
		return &endedError{loop.Invalid.ExitCode(), nil}
	}
	return err
}
