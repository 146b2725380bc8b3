package engine

import (
	"path"
	"runtime"
	"slices"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/proc"
)

// CheckTree is the tree that the checks run in.
func (w *Run) CheckTree() check.Tree {
	if w.judging != nil {
		return w.judging
	}
	return Directory(w.Workspace.Dir())
}

// checkDir is the directory that the checks run in.
func (w *Run) checkDir() string {
	if w.judging != nil {
		return w.judging.workdir()
	}
	return w.workdir()
}

// strayCheck says why nothing may run in the directory of the checks, and else lets them come to it.
func (w *Run) strayCheck() error {
	w.judging.admit(true)
	if w.judging == nil {
		return w.Stray()
	}
	if w.Settings.WorkingDirectory == "" {
		return nil
	}
	return realDirectory(w.judging.dir, path.Clean(w.Settings.WorkingDirectory))
}

// shown is what a check has printed as people and agents read it.
func (w *Run) shown(text string) string {
	text = w.judging.asWorktree(text)
	if w.Redact == nil {
		return text
	}
	return w.Redact(text)
}

// checkEnvironment is what checks get: no token, no key, and nothing that leads to the agent's tree.
func (w *Run) checkEnvironment() []string {
	if w.judging == nil {
		return w.environment(w.Workspace.Env())
	}
	return w.judging.environ(w.environment(nil))
}

// environment is what checks and the setup get: no token, no key.
func (w *Spec) environment(extra []string) []string {
	extra = slices.Clone(extra)
	if w.Home != "" {
		extra = append(extra, "HOME="+w.Home)
	}
	return proc.Environment(w.Parent, slices.Concat(proc.Allowed, w.Settings.Environment), extra...)
}

// present are the words of a command that are programs now.
func (w *Run) present(line string) (list []string) {
	env := w.checkEnvironment()
	for _, word := range check.Words(line) {
		if _, err := proc.LookPath(word, env); err == nil {
			list = append(list, word)
		}
	}
	return list
}

// Shell finds out that no guardrail could run, before anything is spent.
func (w *Spec) Shell() error {
	shell := check.Shell(runtime.GOOS)[0]
	if _, err := proc.LookPath(shell, w.environment(nil)); err != nil && len(w.Settings.Guardrails) > 0 {
		return invalid.Errorf("guardrails are run by the shell %s, which is not on PATH: put it there", shell)
	}
	return nil
}
