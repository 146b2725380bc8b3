package engine

import (
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
func (w *Run) runSetup(ctx context.Context, dir string) error {
	steps, err := w.setupSteps(ctx)
	if err != nil {
		return err
	}
	for _, step := range steps {
		if err := w.prepare(ctx, dir, step.command); err != nil {
			return err
		}
	}
	return nil
}

// unpreparedError is a setup that did not end well.
type unpreparedError struct {
	command, how, output string // how it ended: "failed with exit code 1"
	exit                 int
}

func (e *unpreparedError) Error() string {
	return fmt.Sprintf("%s; its output ends:\n%s", e.summary(), e.output)
}

// summary is one line without the output.
func (e *unpreparedError) summary() string {
	if e.how != string(proc.Exited) {
		return fmt.Sprintf("the setup command %q was stopped (%s)", e.command, e.how)
	}
	return fmt.Sprintf("the setup command %q failed with exit code %d", e.command, e.exit)
}

// prepareFirst runs a command of the setup before the first turn. What fails there is a mistake in the settings, unless nobody has asked for it:
// then a program that is not there is no reason to stop, since maybe the checks need nothing of it, and if they do, they say so. On a branch that
// has been worked on, neither is a failure: what was done there may be the cause.
func (w *Run) prepareFirst(ctx context.Context, dir string, step setupStep) error {
	err := w.prepare(ctx, dir, step.command)
	var failed *unpreparedError
	if !errors.As(err, &failed) {
		return err
	}
	if step.why == "" {
		return invalid.Mark(failed)
	}
	program, _, _ := strings.Cut(step.command, " ")
	if failed.exit == notFound && detect.MissingTool(step.command, failed.output) == program {
		w.Log("warning: the setup goes on without it: %s", detect.InstallAdvice(program, ""))
		return nil
	}
	if w.Tree.Resumed() {
		w.Log("warning: the setup goes on without it: %v", failed)
		return nil
	}
	return invalid.Errorf("%w\nIt was detected: %s. Set setup to what installs the dependencies here, or to true to install nothing", failed, step.why)
}

// prepare runs a command of the setup in a directory: of the agent's tree, or that of the checks.
func (w *Run) prepare(ctx context.Context, dir, command string) error {
	stray, env := w.Stray, w.environment(w.Workspace.Env())
	if dir == w.checkDir() {
		stray, env, command = w.strayCheck, w.checkEnvironment(), w.judging.led(command)
	}
	if err := stray(); err != nil {
		return invalid.Mark(err)
	}
	kept := proc.NewTail(0, 2<<10)
	defer loop.BeginStep(ctx, "the setup command "+command, w.Settings.Scaled(setupLimit))()
	r, err := proc.Run(ctx, proc.Spec{
		Argv: append(check.Shell(runtime.GOOS), command), Dir: dir, Env: env, As: w.User, Box: w.box(sandbox.Checks), Timeout: w.Settings.Scaled(setupLimit), Stdout: kept, Stderr: kept,
	})
	if err != nil {
		return fmt.Errorf("running the setup: %w", err)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if r.Class != proc.Exited || r.Exit != 0 {
		return &unpreparedError{command, string(r.Class), w.shown(kept.String()), r.Exit}
	}
	return nil
}
