package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/detect"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
)

// runSetup runs the setup again, in a directory. A command that fails is an *unpreparedError.
func (run *Run) runSetup(ctx context.Context, dir string) error {
	steps, err := run.setupSteps(ctx)
	if err != nil {
		return err
	}
	for _, step := range steps {
		if err := run.setupCommand(ctx, dir, step.Command); err != nil {
			return err
		}
	}
	return nil
}

// setupError is a setup that did not end well.
type setupError struct {
	command, how, output string // how it ended: "failed with exit code 1", "was stopped (timeout)"
	exit                 int
	unreached            string // the host that it could not reach from the sandbox, in a sentence; empty: none
}

func (e *setupError) Error() string {
	return fmt.Sprintf("%s; its output ends:\n%s", e.summary(), e.output)
}

// summary is one line without the output.
func (e *setupError) summary() string {
	text := fmt.Sprintf("the setup command %q %s", e.command, e.how)
	if e.unreached != "" {
		text += "; " + e.unreached
	}
	return text
}

// firstSetup runs a command of the setup before the first turn. What fails there is a mistake in the settings, unless
// no one has asked for it: then a program that does not exist is no reason to stop, since maybe the checks need nothing
// of it, and if they do, they say so. On a branch that has been worked on, neither is a failure: what was done there
// may be the cause.
func (run *Run) firstSetup(ctx context.Context, dir string, step detect.Step) error {
	err := run.setupCommand(ctx, dir, step.Command)
	failed, ok := errors.AsType[*setupError](err)
	if !ok {
		return err
	}
	if step.Why == "" {
		return invalid.Mark(failed)
	}
	program, _, _ := strings.Cut(step.Command, " ")
	if failed.exit == notFound && detect.MissingTool(step.Command, failed.output) == program {
		run.Log("warning: the setup continues without it: %s", detect.InstallAdvice(program, run.site("")))
		return nil
	}
	if run.Tree.Resumed() {
		run.Log("warning: the setup continues without it: %v", failed)
		return nil
	}
	return invalid.Errorf(
		"%w\nIt was detected: %s. Set setup to what installs the dependencies here, or to true to install nothing",
		failed, step.Why,
	)
}

// setupCommand runs a command of the setup in a directory: of the agent's tree, or that of the checks.
func (run *Run) setupCommand(ctx context.Context, dir, command string) error {
	stray, env, use := run.CheckWorkingDir, run.environment(run.inTree), sandbox.SetupForAgent
	if dir == run.checkDir() {
		use = run.judging.setupUse()
		stray, env, command = run.mayCheck, run.checkEnvironment(), run.judging.inCheckout(command)
	}
	if err := stray(); err != nil {
		return invalid.Mark(err)
	}
	kept := proc.NewTail(0, 2<<10)
	defer loop.BeginStep(ctx, "the setup command "+command, run.Settings.Scaled(setupLimit))()
	r, err := proc.Run(ctx, proc.Spec{
		Argv: append(
			check.Shell(runtime.GOOS), command,
		),
		Dir: dir, Env: env, As: run.User, Box: run.box(use), Timeout: run.Settings.Scaled(setupLimit),
		Limits: run.limits(), Stdout: kept, Stderr: kept,
	})
	if err != nil {
		return fmt.Errorf("running the setup: %w", err)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if r.Class != proc.Exited || r.Exit != 0 {
		output, how := run.shown(kept.String()), fmt.Sprintf("failed with exit code %d", r.Exit)
		if r.Class != proc.Exited {
			how = cmp.Or(r.Why, "was stopped ("+string(r.Class)+")")
		}
		return &setupError{command, how, output, r.Exit, unreached(run.boxes.sandbox.Refused(sandbox.Checks), command, output)}
	}
	return nil
}

// setupUse is what a setup in the tree of the checks is run as.
func (j *judgingTree) setupUse() sandbox.Use {
	if j.base != "" {
		return sandbox.Checks
	}
	return sandbox.Setup
}
