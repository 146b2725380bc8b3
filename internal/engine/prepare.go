package engine

import (
	"context"
	"path/filepath"
	"slices"
)

// setup makes the tree of the checks ready: by the setting's setup command, or where no setting names one and the
// checks are detected, by what installs the dependencies. Each tree has an installation of its own, which points at
// itself: the agent's gets one too where it has none.
func (run *Run) setup(ctx context.Context) error {
	if run.judging == nil {
		return nil
	}
	steps, err := run.setupJudging(ctx)
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
	_, err = run.setupJudging(ctx)
	return run.closeJudging, err
}

func (run *Run) closeJudging() {
	if err := run.judging.Close(); err != nil {
		run.Log("warning: %v", err)
	}
}

// setupJudging makes the tree of the checks ready, and remembers what the setup has made there.
func (run *Run) setupJudging(ctx context.Context) ([]setupStep, error) {
	steps, err := run.setupSteps(ctx)
	if err != nil {
		return nil, err
	}
	if len(steps) == 0 {
		return nil, run.judging.box.KeepHome()
	}
	for _, step := range steps {
		run.Log("setup: %s", step)
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

// setupForAgent makes the agent's tree ready, too: the bot's always, a user's clone where something is missing that the
// setup makes.
func (run *Run) setupForAgent(ctx context.Context, steps []setupStep) error {
	missing := slices.IndexFunc(
		run.judging.own,
		func(name string) bool { return !Exists(filepath.Join(run.Workspace.Dir(), filepath.FromSlash(name))) },
	)
	if !run.InJob && missing < 0 {
		return nil
	}
	for _, step := range steps {
		run.Log("setup, in the agent's tree: %s", step.command)
		if err := run.firstSetup(ctx, run.workdir(), step); err != nil {
			return err
		}
	}
	return run.Workspace.Restore(ctx)
}
