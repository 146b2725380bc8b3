package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/diffscan"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/proc/sandbox"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/shell"
)

// guardrails are those of the settings that can run here.
func (run *Run) guardrails() []config.Guardrail {
	return slices.DeleteFunc(
		slices.Clone(run.Settings.Guardrails),
		func(g config.Guardrail) bool { return slices.Contains(run.leftOut, g.Name) },
	)
}

// Guardrails are the commands of the settings, in their order.
func (run *Run) Guardrails(s loop.State) []check.Check {
	var list []check.Check
	logs := map[string]bool{}
	for _, g := range run.guardrails() {
		expected := expect(g.Expect)
		hides, _ := shell.HidesExit(g.Command, g.Shell == config.Bash)
		expected.Report, expected.HidesExit = g.Report, hides != ""
		expected.VacuousOK = run.OfPrompt || run.Detected != "" && ranNothing(s, g.Name)
		list = append(list, &check.Command{
			Title: g.Name, Line: run.judging.inCheckout(g.Command), Bash: g.Shell == config.Bash,
			Hard: g.Severity != config.Soft, OnClaim: run.OfPrompt && run.Detected != "",
			Timeout: run.Settings.CheckTimeout(g), Soft: run.Settings.CheckWarning(g), Expect: expected,
			OnFailure: check.OnFailure{FailAction: loop.FailAction(g.FailAction), Hint: g.Hint,
				TruncateChars: run.Settings.OutputTruncateChars, TruncateFrom: run.Settings.OutputTruncateFrom},
			Programs: run.programs(g.Command), Place: checkPlace(run), LogNth: nth(check.Slug(g.Command), logs),
		})
	}
	return list
}

// checkPlace is where checks run, and the commands of verifications.
func checkPlace(run *Run) check.Place {
	return check.Place{Dir: run.checkDir(), Below: run.Settings.WorkingDirectory, Stray: run.mayCheck,
		Env: run.checkEnvironment(), As: run.User, Box: run.box(sandbox.Checks), Limits: run.limits(), LogDir: run.Logs,
		LogAs: run.logsShownAs(), Console: run.Console, Redact: run.shown}
}

// optional is a check that may not be there.
func optional(c check.Check) []check.Check {
	if c == nil {
		return nil
	}
	return []check.Check{c}
}

func expect(e *config.Expect) check.Expect {
	if e == nil {
		return check.Expect{}
	}
	return check.Expect{Exit: &e.Exit, Contains: e.Contains, NotContains: e.NotContains, MinTests: e.MinTests}
}

// ranNothing reports whether a check ran no test on the base commit either. Where no one named the check, that is no
// fault of the change.
func ranNothing(s loop.State, name string) bool {
	return slices.ContainsFunc(
		s.Baseline, func(v loop.Verdict) bool { return v.Check == name && v.Ran != nil && *v.Ran == 0 },
	)
}

// changes is what the run has changed, for the checks that look at it.
func (spec *Spec) changes() *diffscan.Changes {
	t := spec.Tree
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

// credentials looks for marks of what was taken out of commits.
func (spec order) credentials(changes *diffscan.Changes) []check.Check {
	t := spec.Tree
	return []check.Check{&check.Credentials{
		Changes: changes,
		Find: func(ctx context.Context, commit, word string) ([]check.Line, error) {
			hits, err := t.Grep(ctx, commit, []string{word})
			return safetext.Map(hits, func(h git.Hit) check.Line { return check.Line{File: h.Path, Number: h.Line, Text: h.Text} }), err
		},
	}}
}

// weakened looks for tests that the change makes say less. What it finds is for a reviewer to accept,
// or for a person.
func (spec order) weakened(changes *diffscan.Changes) []check.Check {
	set := spec.Settings.WeakenedTests
	if set == config.Off {
		return nil
	}
	return []check.Check{&check.Weakened{Changes: changes, Hard: set == config.Hard}}
}

// baseTests runs the base commit's tests on the change, by the commands of the settings.
func (run order) baseTests(changes *diffscan.Changes, guards []check.Check) []check.Check {
	set := run.Settings.WeakenedTests
	if set == config.Off {
		return nil
	}
	b := &check.BaseTests{
		Changes: changes, Commands: commandsOf(guards), Tree: run.CheckTree(), Log: run.CheckLogger(), Hard: set == config.Hard,
	}
	b.Overlay = func(ctx context.Context, commit, base string, names []string, contents map[string][]byte) (string,
		error) {
		return run.Tree.Overlaid(ctx, commit, git.Overlay{From: base, Names: names, Contents: contents})
	}
	return []check.Check{b}
}

func commandsOf(guards []check.Check) (list []*check.Command) {
	for _, g := range guards {
		if c, ok := g.(*check.Command); ok {
			list = append(list, c)
		}
	}
	return list
}

// newestBase judges the change merged with the base branch as it is when everything else has passed.
func (run order) newestBase(guards []check.Check) []check.Check {
	t := run.Tree
	return []check.Check{&check.NewestBase{
		Branch: t.BaseBranch(), Commands: commandsOf(guards), Tree: run.CheckTree(), Newest: t.NewestBase,
		Merge: func(ctx context.Context, commit, base string) (merged, tree string, conflicts []string, err error) {
			merged, conflicts, err = t.MergedWithBase(ctx, commit, base)
			if err == nil && len(conflicts) == 0 {
				tree, err = t.TreeOf(ctx, merged)
			}
			return merged, tree, conflicts, err
		},
		Log: run.CheckLogger(),
	}}
}

// unfinished looks for work that only looks done, as weakened does.
func (spec order) unfinished(changes *diffscan.Changes) []check.Check {
	set := spec.Settings.Unfinished
	if set == config.Off {
		return nil
	}
	return []check.Check{&check.Unfinished{Changes: changes, Hard: set == config.Hard, Alone: spec.reviewer == nil}}
}

// kept are files that are no work: a marker with which the agent claims.
func (spec order) kept() []string {
	if spec.Settings.DoneFile == "" {
		return nil
	}
	return []string{spec.fromTop(spec.Settings.DoneFile)}
}

// nth is the number by which a check's log gets a name that no check before it has: two commands may have one slug, and
// "make test" twice is not to write where "make test 2" does.
func nth(slug string, taken map[string]bool) int {
	for n, name := 1, slug; ; name = fmt.Sprintf("%s_%d", slug, n) {
		if !taken[name] {
			taken[name] = true
			return n
		}
		n++
	}
}
