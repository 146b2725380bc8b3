package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/local"
	"github.com/ralph-loop/ralph/internal/report/status"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
)

// commandGroups are what ralph --help lists commands under.
var commandGroups = []kong.Group{
	{Key: "run", Title: "Run"}, {Key: "look", Title: "Look"}, {Key: "prepare", Title: "Prepare"},
	{Key: "github", Title: "GitHub"}, {Key: "tools", Title: "Tools"},
}

// overview prints the commands, a line each: what each can do is in its own help.
func overview(ctx *kong.Context) error {
	var b strings.Builder
	b.WriteString("Usage: ralph COMMAND [flags]\n       ralph \"PROMPT\" [flags]\n\n" +
		"Runs a coding agent again and again until checks that ralph runs say that the\nwork is done.\n")
	for _, group := range commandGroups {
		fmt.Fprintf(&b, "\n%s\n", group.Title)
		for _, c := range ctx.Model.Children {
			if !c.Hidden && c.Group != nil && c.Group.Key == group.Key {
				fmt.Fprintf(&b, "  %-10s  %s\n", c.Name, brief(c.Help))
			}
		}
	}
	b.WriteString("\nralph COMMAND --help shows more; ralph --version prints the version.\n")
	_, err := io.WriteString(ctx.Stdout, b.String())
	return err
}

// brief is the first clause of what a command's help says.
func brief(help string) string {
	for _, end := range []string{": ", "; ", ". "} {
		help, _, _ = strings.Cut(help, end)
	}
	return strings.TrimSuffix(help, ".")
}

// beginnings are the commands that one begins with.
const beginnings = `ralph runs a coding agent again and again until checks that it runs itself say
that the work is done.

  ralph doctor                    what is here: agents, checks, sandbox
  ralph init                      write the settings of this repository
  ralph "fix the failing test"    work here until the checks pass
  ralph run --issue issue.md      work on an issue, on a branch of its own
  ralph status                    how the newest run stands

`

// firstScreen is what ralph says that is told nothing: what it is, what to begin with, and where one is.
func firstScreen(ctx context.Context, p process) error {
	top := session.Top(ctx, p.dir, p.environ)
	said := beginnings + "Directory  " + safetext.OneLine(top) + "\n"
	if layers, err := session.SettingsFiles(top, p.environ); err != nil {
		said += "Settings   " + safetext.OneLine(err.Error()) + "\n"
	} else if len(layers) > 0 {
		names := safetext.Map(layers, func(l config.Layer) string { return l.Name })
		said += "Settings   " + safetext.OneLine(strings.Join(names, ", ")) + "\n"
	}
	if st, err := newestRun(ctx, p); err == nil && st.State != "none" {
		said += "Newest run " + safetext.Inert(st.Line()) + "\n"
	}
	_, err := io.WriteString(p.out, said+"\nEverything else: ralph --help\n")
	return err
}

// newestRun is how the newest run here stands.
func newestRun(ctx context.Context, p process) (status.RunStatus, error) {
	env, err := config.ReadEnvironment(environment(p.environ))
	if err != nil {
		return status.RunStatus{}, err
	}
	look := &local.Status{Session: session.Session{Env: env, Parent: p.environ, Dir: p.dir, Out: p.out, Clock: now}}
	return look.Look(ctx)
}
