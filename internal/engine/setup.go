package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/detect"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
)

// setup makes the tree of the checks ready: by the setting's setup command, or where no setting names one and the checks are detected, by what
// installs the dependencies (B-25). Each tree has an installation of its own, which points at itself: the agent's gets one too where it has none.
func (w *Run) setup(ctx context.Context) error {
	if w.judging == nil {
		return nil
	}
	steps, err := w.setupJudging(ctx)
	if err != nil || len(steps) == 0 {
		return err
	}
	return w.setupForAgent(ctx, steps)
}

// OpenJudging makes a tree for the checks at a commit, ready for them. closeTree is never nil.
func (w *Run) OpenJudging(ctx context.Context, commit string) (closeTree func(), err error) {
	box, err := w.OpenSandbox(ctx)
	if err != nil {
		return func() {}, err
	}
	if err := w.judging.Open(ctx, box, commit); err != nil {
		return func() {}, err
	}
	_, err = w.setupJudging(ctx)
	return w.closeJudging, err
}

func (w *Run) closeJudging() {
	if err := w.judging.Close(); err != nil {
		w.Log("warning: %v", err)
	}
}

// setupJudging makes the tree of the checks ready, and remembers what the setup has made there.
func (w *Run) setupJudging(ctx context.Context) ([]setupStep, error) {
	steps, err := w.setupSteps(ctx)
	if err != nil {
		return nil, err
	}
	if len(steps) == 0 {
		return nil, w.judging.box.KeepHome()
	}
	for _, step := range steps {
		w.Log("setup: %s", step)
		if err := w.prepareFirst(ctx, w.judging.workdir(), step); err != nil {
			return nil, err
		}
	}
	if err := w.judging.noteSetup(ctx, w.judging.tree.Commit()); err != nil {
		return nil, err
	}
	w.judging.home = w.guardHome(w.judging.box) // as the setup has left it
	return steps, nil
}

// setupStep is one command of the setup. why says what has shown it; empty: the settings name it.
type setupStep struct{ command, why string }

func (s setupStep) String() string {
	if s.why == "" {
		return s.command
	}
	return s.command + " (" + s.why + ")"
}

// setupSteps are the commands that make a fresh checkout ready.
func (w *Spec) setupSteps(ctx context.Context) (steps []setupStep, err error) {
	if w.Settings.Setup != "" {
		return []setupStep{{command: w.Settings.Setup}}, nil
	}
	if !w.preparesItself() {
		return nil, nil
	}
	found, err := w.detect(ctx)
	for _, step := range found.Setup {
		steps = append(steps, setupStep{step.Command, step.Why})
	}
	return steps, err
}

// setupForAgent makes the agent's tree ready, too: the bot's always, a user's clone where something is missing that the setup makes.
func (w *Run) setupForAgent(ctx context.Context, steps []setupStep) error {
	missing := slices.IndexFunc(w.judging.own, func(name string) bool { return !Exists(filepath.Join(w.Workspace.Dir(), filepath.FromSlash(name))) })
	if !w.InJob && missing < 0 {
		return nil
	}
	for _, step := range steps {
		w.Log("setup, in the agent's tree: %s", step.command)
		if err := w.prepareFirst(ctx, w.workdir(), step); err != nil {
			return err
		}
	}
	return w.Workspace.Restore(ctx)
}

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

// preparesItself reports whether the setup is detected, as the checks are.
func (w *Spec) preparesItself() bool {
	return w.Settings.Setup == "" && w.Settings.GuardrailsFrom == "" && w.Detected != "" && w.Tree != nil
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

// detectIn is what a directory shows.
func detectIn(dir string) detect.Result {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return detect.Result{}
	}
	var names []string
	regular := map[string]bool{}
	for _, e := range entries {
		names = append(names, e.Name())
		regular[e.Name()] = e.Type().IsRegular() // of the entry itself, not of what a link leads to
	}
	files, err := detect.Read(names, func(name string, _ int) ([]byte, error) {
		if !regular[name] {
			return nil, nil
		}
		content, _ := files.Read(filepath.Join(dir, name)) // what cannot be read shows nothing
		return content, nil
	})
	if err != nil {
		return detect.Result{}
	}
	return detect.Repository(files)
}

// unshown is an error for a repository that shows nothing to check it by.
func (w *Spec) unshown(ctx context.Context, base string, notes []string) error {
	text := ""
	for _, note := range notes {
		text += "; " + note
	}
	entries, err := w.Tree.Files(ctx, base)
	if err != nil {
		return fmt.Errorf("looking for checks: %w", err)
	}
	var paths []string
	where := "the repository"
	for _, e := range entries {
		if w.Settings.WorkingDirectory == "" {
			paths = append(paths, e.Path)
		} else if rest, ok := strings.CutPrefix(e.Path, w.below("")+"/"); ok {
			paths = append(paths, rest)
		}
	}
	if w.Settings.WorkingDirectory != "" {
		where = fmt.Sprintf("the working directory %q", w.below(""))
	}
	if below := detect.Below(paths); len(below) > 0 {
		text += fmt.Sprintf("; below its top there is %s, which ralph does not guess from", strings.Join(below, ", "))
	}
	return invalid.Errorf("no checks: %s names no guardrails and nothing in %s shows how it is tested%s; name a command under guardrails there, or in the input checks", config.SettingsFile, where, text)
}

// Detected are the checks that the files of a directory show.
func Detected(dir string) []string {
	commands := []string{}
	for _, found := range detectIn(dir).Checks {
		commands = append(commands, found.Command)
	}
	return commands
}
