package engine

import (
	"context"
	"path/filepath"
	"slices"
)

// setup makes the tree of the checks ready: by the setting's setup command, or where no setting names one and the checks are detected, by what
// installs the dependencies. Each tree has an installation of its own, which points at itself: the agent's gets one too where it has none.
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
