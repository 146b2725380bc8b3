package local

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/session"
)

// scmTime bounds one source control task: a push may be large.
const scmTime = 30 * time.Minute

func (p *PromptRun) scmEnvironment() []string {
	return proc.Environment(p.Parent, slices.Concat(proc.Allowed, session.ScmKnows))
}

// scm makes the check of the setting scm.
func (p *PromptRun) scm(
	ctx context.Context, run *engine.Run, scm config.SCM, clone *git.Clone, inClone bool,
) (check.Check, error) {
	isGit := filepath.Base(scm.Command) == "git"
	if isGit && !inClone {
		return nil, invalid.Errorf(
			"the setting scm wants git %s, but %s is in no git repository: run git init, or take scm out",
			strings.Join(scm.Tasks, ", "), p.Dir,
		)
	}
	if isGit && slices.Contains(scm.Tasks, "commit") {
		if known, err := clone.Identify(ctx, p.Parent); err != nil || !known {
			return nil, errors.Join(
				err,
				invalid.Errorf(
					"git does not know who commits, which --commit and the setting scm need: run git config user.name NAME and git "+
						"config user.email ADDRESS",
				),
			)
		}
	}
	c := &check.SCM{Tasks: scm.Tasks, Ask: func(ctx context.Context) (loop.Turn, error) {
		coder, _, err := run.Agents(nil)
		if err == nil {
			err = run.CheckWorkingDir()
		}
		if err != nil {
			return loop.Turn{}, err
		}
		coder.Options.Console = nil
		return run.Turn(ctx, coder.Options, check.MessagePrompt)
	}}
	if !isGit {
		c.Changed = func(context.Context) (bool, error) { return true, nil }
		c.Do = func(ctx context.Context, task, message string) (string, bool, error) {
			args := append([]string{scm.Command}, strings.Fields(task)...)
			if task == "commit" {
				args = append(args, "-am", message)
			}
			return p.other(ctx, args)
		}
		return c, nil
	}
	c.Changed = clone.Changed
	c.Do = func(ctx context.Context, task, message string) (string, bool, error) {
		if task == "commit" {
			return clone.Commit(ctx, message)
		}
		return clone.Run(ctx, strings.Fields(task))
	}
	return c, nil
}

// other runs a source control program that is not git.
func (p *PromptRun) other(ctx context.Context, argv []string) (output string, done bool, err error) {
	kept := proc.NewTail(32<<10, 32<<10)
	r, err := proc.Run(
		ctx, proc.Spec{Argv: argv, Dir: p.Dir, Env: p.scmEnvironment(), Timeout: scmTime, Stdout: kept, Stderr: kept},
	)
	return p.Redact(kept.String()), r.Class == proc.Exited && r.Exit == 0, err
}
