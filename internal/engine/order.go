package engine

import (
	"context"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/detect"
	"github.com/ralph-loop/ralph/internal/diffscan"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
	"github.com/ralph-loop/ralph/internal/task"
)

// checks lists everything that can say no, in the order in which it is asked.
func (w *Spec) checks(s loop.State, reviewer *agent.Options, words Prompts) check.List {
	list := []check.Check{check.Turn{}}
	if w.OfPrompt {
		list = append(list, w.Guardrails(s)...)
		list = append(list, w.asked(reviewer, words)...)
	} else if w.Plan != nil {
		changes := w.changes()
		list = append(list, check.Plan{}, check.Handed{File: w.Plan.Path()}, check.StoryDiff{Own: w.Plan.Paths(), Changed: w.Tree.Changed},
			&check.Protected{Globs: w.Settings.Protected, Changes: changes})
		list = append(list, w.edited(changes)...)
		list = append(list, w.Guardrails(s)...)
		list = append(list, w.lookedFor(changes, reviewer)...)
		list = append(list, w.others()...)
	} else {
		changes := w.changes()
		list = append(list, w.claim(s), &check.Protected{Globs: w.Settings.Protected, Changes: changes})
		list = append(list, w.edited(changes)...)
		list = append(list, w.Guardrails(s)...)
		list = append(list, check.Diff{Changes: changes, Kept: w.kept()}, forgotten{w.JudgingTree})
		list = append(list, w.lookedFor(changes, reviewer)...)
		list = append(list, w.verified(s, words)...)
		list = append(list, w.others()...)
		list = append(list, w.judges(s, reviewer, words)...)
	}
	out := check.List{Checks: list, Tree: w.CheckTree(), Clock: w.Clock, Log: w.Teller()}
	if w.Tree != nil {
		out.BaseTree = w.Tree.BaseTree()
	}
	return out
}

// others are the other workflows on the pull request, when a run waits for them.
func (w *Spec) others() []check.Check {
	if w.CI == nil {
		return nil
	}
	return []check.Check{w.CI}
}

// asked is what a run of a prompt asks after its guardrails: source control, the claim, and a reviewer if somebody wants one (S1-80, C25).
func (w *Spec) asked(reviewer *agent.Options, words Prompts) []check.Check {
	var list []check.Check
	if w.SCM != nil {
		list = append(list, w.SCM)
	}
	list = append(list, check.Claim{Completion: w.Settings.CompletionResponse, Last: true})
	if reviewer != nil {
		list = append(list, w.review(*reviewer, words, task.Reviewer, nil))
	}
	return list
}

func (w *Spec) claim(s loop.State) check.Claim {
	return check.Claim{Completion: w.Settings.CompletionResponse, Promise: s.Promise}
}

// Guardrails are the commands of the settings, in their order (C26).
func (w *Spec) Guardrails(s loop.State) []check.Check {
	var list []check.Check
	logs := map[string]bool{}
	for _, g := range w.Settings.Guardrails {
		list = append(list, &check.Command{
			Title: g.Name, Line: w.JudgingTree.led(g.Command), Hard: g.Severity != config.Soft, FailAction: loop.FailAction(g.FailAction), Hint: g.Hint,
			Timeout: w.Settings.CheckTimeout(g), Soft: w.Settings.CheckWarning(g),
			TruncateChars: w.Settings.OutputTruncateChars, TruncateFrom: w.Settings.OutputTruncateFrom,
			Lacks: lacksTool, Present: w.present(g.Command), Versions: detect.VersionFiles,
			Expect: expect(g.Expect), Report: g.Report, VacuousOK: w.OfPrompt || w.detected != "" && ranNothing(s, g.Name),
			Dir: w.checkDir(), Below: w.Settings.WorkingDirectory, Stray: w.strayCheck, Env: w.checkEnvironment(), As: w.User, Box: w.box(sandbox.Checks), LogDir: w.Logs, LogAs: w.logsFrom(), LogNth: nth(check.Slug(g.Command), logs), Console: w.Console, Redact: w.shown,
		})
	}
	return list
}

func expect(e *config.Expect) check.Expect {
	if e == nil {
		return check.Expect{}
	}
	return check.Expect{Exit: &e.Exit, Contains: e.Contains, NotContains: e.NotContains, MinTests: e.MinTests}
}

// ranNothing reports whether a check ran no test on the base commit either. Where nobody named the check, that is no fault of the change.
func ranNothing(s loop.State, name string) bool {
	return slices.ContainsFunc(s.Baseline, func(v loop.Verdict) bool { return v.Check == name && v.Ran != nil && *v.Ran == 0 })
}

// changes is what the run has changed, for the checks that look at it.
func (w *Spec) changes() *diffscan.Changes {
	t := w.Tree
	return &diffscan.Changes{
		Patch: func(ctx context.Context, from, to string) (string, bool, error) {
			return t.Patch(ctx, from, to, diffscan.PatchBytes)
		},
		Names: t.Changed,
		File: func(ctx context.Context, commit, path string) ([]byte, bool, error) {
			return t.Read(ctx, commit, path, diffscan.FileBytes)
		},
	}
}

// edited looks whether the change edits what judges it.
func (w *Spec) edited(changes *diffscan.Changes) []check.Check {
	if w.Settings.EditedChecks == config.Off {
		return nil
	}
	e := &check.Edited{Changes: changes, Soft: w.Settings.EditedChecks == config.Soft, Dir: w.Settings.WorkingDirectory}
	for _, g := range w.Settings.Guardrails {
		e.Guards = append(e.Guards, check.Guard{Title: g.Name, Line: g.Command})
	}
	return []check.Check{e}
}

// lookedFor are the signs of work that only looks done. What they find is for a reviewer to accept; where there is none, the worst of it
// blocks.
func (w *Spec) lookedFor(changes *diffscan.Changes, reviewer *agent.Options) []check.Check {
	var list []check.Check
	if set := w.Settings.WeakenedTests; set != config.Off {
		list = append(list, &check.Weakened{Changes: changes, Hard: set == config.Hard, Alone: reviewer == nil})
	}
	if set := w.Settings.Unfinished; set != config.Off {
		list = append(list, &check.Unfinished{Changes: changes, Hard: set == config.Hard, Alone: reviewer == nil})
	}
	return list
}

// kept are files that are no work: a marker with which the agent claims.
func (w *Spec) kept() []string {
	if w.Settings.DoneFile == "" {
		return nil
	}
	return []string{w.below(w.Settings.DoneFile)}
}

// verified are the promises of the roles that write, each verified on every tree that is made after it was given.
func (w *Spec) verified(s loop.State, words Prompts) []check.Check {
	var list []check.Check
	for _, r := range s.Writers() {
		if v := w.Verify(s, r, words); v != nil {
			list = append(list, v)
		}
	}
	return list
}

// Verify is how one role's promise is verified; nil when nothing was said of the role.
func (w *Spec) Verify(s loop.State, r task.Role, words Prompts) *check.Verify {
	of := s.Start.Completion.For(r)
	if of == nil {
		return nil
	}
	return &check.Verify{
		Role: r, Criteria: *of, Acceptance: s.Start.Completion.Acceptance, Log: w.Log,
		Runner: check.Runner{
			Dir: w.checkDir(), Stray: w.strayCheck, Env: w.checkEnvironment(), As: w.User, Box: w.box(sandbox.Checks), LogDir: w.Logs, LogAs: w.logsFrom(), Redact: w.shown, Console: w.Console,
			Scaled: w.Settings.Scaled, Lacks: lacksTool, Present: w.present(strings.Join(s.Start.Completion.Commands(), "\n")), Versions: detect.VersionFiles,
		},
		Said: w.wordsOf,
		Ask:  w.asker(), Again: check.Again,
		Diff: w.change,
	}
}

// judges are the roles that read, in their order; they wait until every role that writes has done its part.
func (w *Spec) judges(s loop.State, reviewer *agent.Options, words Prompts) []check.Check {
	if reviewer == nil {
		return nil
	}
	if len(s.Start.Pipeline) == 0 {
		return []check.Check{w.review(*reviewer, words, task.Reviewer, nil)}
	}
	writers := s.Writers()
	after := check.Awaits(writers[len(writers)-1])
	var list []check.Check
	for _, r := range s.Start.Pipeline {
		if !r.ReadOnly() || r == task.Reviewer && !w.Settings.Review { // a review that was switched off, for a run that began with one
			continue
		}
		c := w.review(*reviewer, words, r, s.Start.Completion.For(r))
		c.Role, c.After, c.Most = r, after, s.Start.Caps[r]
		if c.Verify = w.Verify(s, r, words); c.Verify != nil {
			c.Promise = c.Verify.Criteria.Promise
		}
		list = append(list, c)
	}
	return list
}

// nth is the number by which a check's log gets a name that no check before it has: two commands may have one slug, and "make test" twice
// is not to write where "make test 2" does.
func nth(slug string, taken map[string]bool) int {
	for n, name := 1, slug; ; name = fmt.Sprintf("%s_%d", slug, n) {
		if !taken[name] {
			taken[name] = true
			return n
		}
		n++
	}
}

// Shell finds out that no guardrail could run, before anything is spent.
func (w *Spec) Shell() error {
	shell := check.Shell(runtime.GOOS)[0]
	if _, err := proc.LookPath(shell, w.environment(nil)); err != nil && len(w.Settings.Guardrails) > 0 {
		return invalid.Errorf("guardrails are run by the shell %s, which is not on PATH: put it there", shell)
	}
	return nil
}

// CheckTree is the tree that the checks run in.
func (w *Spec) CheckTree() check.Tree {
	if w.JudgingTree != nil {
		return w.JudgingTree
	}
	return Directory(w.Workspace.Dir())
}

// checkDir is the directory that the checks run in.
func (w *Spec) checkDir() string {
	if w.JudgingTree != nil {
		return w.JudgingTree.workdir()
	}
	return w.workdir()
}

// strayCheck says why nothing may run in the directory of the checks, and else lets them come to it.
func (w *Spec) strayCheck() error {
	w.JudgingTree.admit(true)
	if w.JudgingTree == nil {
		return w.Stray()
	}
	if w.Settings.WorkingDirectory == "" {
		return nil
	}
	return realDirectory(w.JudgingTree.dir, path.Clean(w.Settings.WorkingDirectory))
}

// shown is what a check has printed as people and agents read it.
func (w *Spec) shown(text string) string {
	text = w.JudgingTree.asWorktree(text)
	if w.Redact == nil {
		return text
	}
	return w.Redact(text)
}

// checkEnvironment is what checks get: no token, no key, and nothing that leads to the agent's tree.
func (w *Spec) checkEnvironment() []string {
	if w.JudgingTree == nil {
		return w.environment(w.Workspace.Env())
	}
	return w.JudgingTree.environ(w.environment(nil))
}

// environment is what checks and the setup get: no token, no key.
func (w *Spec) environment(extra []string) []string {
	extra = slices.Clone(extra)
	if w.Home != "" {
		extra = append(extra, "HOME="+w.Home)
	}
	return proc.Environment(w.Parent, slices.Concat(proc.Allowed, w.Settings.Environment), extra...)
}
