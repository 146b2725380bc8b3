package engine

import (
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/detect"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/proc"
)

// CheckTree is the tree that the checks run in.
func (run *Run) CheckTree() check.Tree {
	if run.judging != nil {
		return run.judging
	}
	return checkDirectory{Directory(run.Workspace.Dir()), run}
}

// checkDir is the directory that the checks run in.
func (run *Run) checkDir() string {
	if run.judging != nil {
		return run.judging.workdir()
	}
	return run.workdir()
}

// mayCheck says why nothing may run in the directory of the checks, and else lets them come to it.
func (run *Run) mayCheck() error {
	run.judging.admit(true)
	if run.judging == nil {
		return run.CheckWorkingDir()
	}
	if run.Settings.WorkingDirectory == "" {
		return nil
	}
	return realDirectory(run.judging.dir, path.Clean(run.Settings.WorkingDirectory))
}

// shown is what a check has printed as people and agents read it.
func (run *Run) shown(text string) string {
	return run.Redact(run.judging.asWorktree(text))
}

// checkEnvironment is what checks get: no token, no key, and nothing that leads to the agent's tree.
func (run *Run) checkEnvironment() []string {
	if run.judging == nil {
		return run.environment(run.inTree)
	}
	return run.environment(run.judging.inCheckout)
}

// environment is what checks and the setup get, as it is said of where they run: no token, no key.
func (spec *Spec) environment(said func(text string) string) []string {
	var extra []string
	if spec.Home != "" {
		extra = append(extra, "HOME="+spec.Home)
	}
	env := proc.Environment(spec.Parent, slices.Concat(proc.Allowed, spec.Settings.Environment), extra...)
	for i, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		env[i] = name + "=" + said(value)
	}
	return env
}

// programs is what is known of a command's programs before the first turn.
func (run *Run) programs(line string) check.Programs {
	known := check.Programs{Lacks: run.lacksTool, Watches: detect.Watches}
	env := run.checkEnvironment()
	for _, word := range check.Words(line) {
		if _, err := proc.LookPath(word, env); err == nil {
			known.Present = append(known.Present, word)
		}
	}
	return known
}

// Shell finds out that no guardrail could run, before anything is spent.
func (spec *Spec) Shell() error {
	shell := check.Shell(runtime.GOOS)[0]
	if _, err := proc.LookPath(shell, spec.environment(spec.inTree)); err != nil && len(spec.Settings.Guardrails) > 0 {
		return invalid.Errorf("guardrails are run by the shell %s, which is not on PATH: put it there", shell)
	}
	return nil
}
