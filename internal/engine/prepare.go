package engine

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/detect"
)

// setup makes the tree of the checks ready: by the setting's setup command, or where no setting names one and the
// checks are detected, by what installs the dependencies. Each tree has an installation of its own, which points at
// itself: the agent's gets one too where it has none.
func (run *Run) setup(ctx context.Context) error {
	if run.judging == nil {
		return nil
	}
	steps, err := run.setupJudging(ctx, run.Journal.State().Start.Base)
	if err != nil || len(steps) == 0 {
		return err
	}
	return run.setupForAgent(ctx, steps)
}

// OpenJudging makes a tree for the checks at a commit, ready for them. closeTree is never nil.
func (run *Run) OpenJudging(ctx context.Context, commit string) (closeTree func(), err error) {
	box, err := run.openSandbox(ctx)
	if err != nil {
		return func() {}, err
	}
	if err := run.judging.Open(ctx, box, commit); err != nil {
		return func() {}, err
	}
	_, err = run.setupJudging(ctx, commit)
	return run.closeJudging, err
}

func (run *Run) closeJudging() {
	if err := run.judging.Close(); err != nil {
		run.Log("warning: %v", err)
	}
}

// setupJudging makes the tree of the checks ready, and remembers what the setup has made there. base is the commit that
// the run began from.
func (run *Run) setupJudging(ctx context.Context, base string) ([]detect.Step, error) {
	steps, err := run.setupSteps(ctx)
	if err != nil {
		return nil, err
	}
	head := run.judging.tree.Commit()
	later := run.Boxed() && base != "" && base != head
	switch {
	case later && len(steps) > 0:
		err = run.setupOnBase(ctx, steps, base, head)
	case later:
		err = run.judging.box.SealCaches()
	}
	if err != nil {
		return nil, err
	}
	if len(steps) == 0 {
		return nil, run.judging.sealHome()
	}
	for _, step := range steps {
		shown := step.Command
		if step.Why != "" {
			shown += " (" + step.Why + ")"
		}
		run.Log("setup: %s", shown)
		if err := run.firstSetup(ctx, run.judging.workdir(), step); err != nil {
			return nil, err
		}
	}
	if err := run.judging.noteSetup(ctx, run.judging.tree.Commit()); err != nil {
		return nil, err
	}
	run.judging.home = run.guardHome(run.judging.box) // as the setup has left it
	return steps, nil
}

// setupOnBase runs the setup on the commit that the run began from, when the run continues from a later one: what homes
// begin with, that of a reviewer too, is nothing that the run's own work had a hand in.
func (run *Run) setupOnBase(ctx context.Context, steps []detect.Step, base, head string) error {
	j := run.judging
	if _, err := j.tree.Use(ctx, base); err != nil {
		return err
	}
	for _, step := range steps {
		run.Log("setup, on the commit that the run began from: %s", step.Command)
		err := run.setupCommand(ctx, j.workdir(), step.Command)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			run.Log("warning: the homes of agents begin without it: %v", err)
			break
		}
	}
	err := errors.Join(j.sealHome(), j.box.SealCaches())
	if err == nil {
		_, err = j.tree.Wipe(ctx, j.sharedPaths())
	}
	if err == nil {
		j.lacking, err = j.tree.Use(ctx, head)
	}
	return errors.Join(err, j.box.RenewHome())
}

// setupForAgent makes the agent's tree ready, too: the bot's always, a user's clone where something is missing that the
// setup makes, there or in a home.
func (run *Run) setupForAgent(ctx context.Context, steps []detect.Step) error {
	missing := slices.IndexFunc(
		run.judging.own,
		func(name string) bool { return !Exists(filepath.Join(run.Workspace.Dir(), filepath.FromSlash(name))) },
	)
	if !run.InJob && missing < 0 && !run.judging.bare {
		return nil
	}
	for _, step := range steps {
		run.Log("setup, in the agent's tree: %s", step.Command)
		if err := run.firstSetup(ctx, run.workdir(), step); err != nil {
			return err
		}
	}
	return run.Workspace.Restore(ctx)
}
