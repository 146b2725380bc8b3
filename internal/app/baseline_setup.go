package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
)

// setup runs the setting's setup command, once a process, before the checks run on the base commit; where no setting names one and the
// checks are detected, what installs the dependencies (B-25).
func (w *workshop) setup(ctx context.Context) error {
	if w.settings.Setup != "" {
		w.log("setup: %s", w.settings.Setup)
		return w.prepare(ctx, w.settings.Setup)
	}
	if !w.preparesItself() {
		return nil
	}
	found, err := w.detect(ctx)
	if err != nil {
		return err
	}
	for _, step := range found.Setup {
		w.log("setup: %s (%s)", step.Command, step.Why)
		if err := w.prepareDetected(ctx, step); err != nil {
			return err
		}
	}
	return nil
}

// preparesItself reports whether the setup is detected, as the checks are.
func (w *workshop) preparesItself() bool {
	return w.settings.Setup == "" && w.settings.GuardrailsFrom == "" && w.detected != "" && w.tree != nil
}

// unpreparedError is a setup that did not end well.
type unpreparedError struct {
	command, how, output string
	exit                 int
}

func (e *unpreparedError) Error() string {
	return fmt.Sprintf("the setup command %q ended with %s, exit code %d; its output ends:\n%s", e.command, e.how, e.exit, e.output)
}

// prepareDetected runs what nobody has asked for. A program that is not there is no reason to stop: maybe the checks need nothing of
// it, and if they do, they say so. On a branch that has been worked on, neither is a failure: what was done there may be the cause.
func (w *workshop) prepareDetected(ctx context.Context, step config.Step) error {
	err := w.prepare(ctx, step.Command)
	var failed *unpreparedError
	if !errors.As(err, &failed) {
		return err
	}
	program, _, _ := strings.Cut(step.Command, " ")
	if failed.exit == notFound && config.MissingTool(step.Command, failed.output) == program {
		w.log("warning: the setup goes on without it: %s", config.InstallAdvice(program, ""))
		return nil
	}
	if w.tree.Resumed() {
		w.log("warning: the setup goes on without it: %v", failed)
		return nil
	}
	return invalid("%w\nIt was detected: %s. Set setup to what installs the dependencies here, or to true to install nothing", failed, step.Why)
}

// prepare runs a setup command.
func (w *workshop) prepare(ctx context.Context, command string) error {
	if err := w.stray(); err != nil {
		return &invalidError{err}
	}
	kept := proc.NewTail(0, 2<<10)
	r, err := proc.Run(ctx, proc.Spec{
		Argv: append(check.Shell(runtime.GOOS), command), Dir: w.workdir(), Env: w.environment(), As: w.as, Box: w.box(sandbox.Checks), Timeout: w.settings.Scaled(setupLimit), Stdout: kept, Stderr: kept,
	})
	if err != nil {
		return fmt.Errorf("running the setup: %w", err)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if r.Class != proc.Exited || r.Exit != 0 {
		return &invalidError{&unpreparedError{command, string(r.Class), kept.String(), r.Exit}}
	}
	return w.place.Restore(ctx)
}

// detectIn is what a directory shows.
func detectIn(dir string) config.Detection {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return config.Detection{}
	}
	var names []string
	regular := map[string]bool{}
	for _, e := range entries {
		names = append(names, e.Name())
		regular[e.Name()] = e.Type().IsRegular() // of the entry itself, not of what a link leads to
	}
	files, err := config.Shown(names, func(name string, _ int) ([]byte, error) {
		if !regular[name] {
			return nil, nil
		}
		content, _ := readSome(filepath.Join(dir, name)) // what cannot be read shows nothing
		return content, nil
	})
	if err != nil {
		return config.Detection{}
	}
	return config.Detect(files)
}

// unshown is an error for a repository that shows nothing to check it by.
func (w *workshop) unshown(ctx context.Context, base string, notes []string) error {
	text := ""
	for _, note := range notes {
		text += "; " + note
	}
	entries, err := w.tree.Files(ctx, base)
	if err != nil {
		return fmt.Errorf("looking for checks: %w", err)
	}
	var paths []string
	where := "the repository"
	for _, e := range entries {
		if w.settings.WorkingDirectory == "" {
			paths = append(paths, e.Path)
		} else if rest, ok := strings.CutPrefix(e.Path, w.below("")+"/"); ok {
			paths = append(paths, rest)
		}
	}
	if w.settings.WorkingDirectory != "" {
		where = fmt.Sprintf("the working directory %q", w.below(""))
	}
	if below := config.Below(paths); len(below) > 0 {
		text += fmt.Sprintf("; below its top there is %s, which ralph does not guess from", strings.Join(below, ", "))
	}
	return invalid("no checks: %s names no guardrails and nothing in %s shows how it is tested%s; name a command under guardrails there, or in the input checks", config.SettingsFile, where, text)
}
