package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/detect"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// DetectChecks gives rules the checks that no setting names: those that the repository shows at its base commit.
func DetectChecks(ctx context.Context, p Place, r Rules, log func(format string, args ...any)) (Rules, error) {
	spec, base := &Spec{Place: p, Rules: r, Output: Output{Log: log}}, p.Tree.Base()
	if err := spec.inBase(ctx, base); err != nil {
		return r, err
	}
	if spec.Settings.SCM != nil {
		spec.Log("the setting scm is not used here: a run of an issue commits by itself")
	}
	if spec.Settings.GuardrailsFrom != "" {
		return r, nil
	}
	found, err := spec.detectAt(ctx, base)
	if err != nil {
		return r, err
	}
	for _, note := range found.Notes {
		spec.Log("looking for checks: %s", note)
	}
	if len(found.Checks) == 0 && len(spec.PlanCommands) == 0 {
		return r, spec.noChecks(ctx, base, found.Notes)
	}
	var before []string
	if steps := SetupLine(found); steps != "" && spec.Settings.Setup == "" && len(found.Checks) > 0 {
		before = append(before, "before them runs "+steps)
	}
	return r.with(found.Checks, before...), nil
}

// with adds detected checks to the rules, and why they are there.
func (rules Rules) with(found []detect.Check, why ...string) Rules {
	rules.Settings.Guardrails = slices.Clone(rules.Settings.Guardrails)
	for _, d := range found {
		rules.Settings.Guardrails = append(rules.Settings.Guardrails, d.Guardrail())
		if !slices.Contains(why, d.Why) {
			why = append(why, d.Why)
		}
	}
	rules.Detected = strings.Join(why, "; ")
	return rules
}

// DetectHere gives the rules of a run of a prompt the checks that its directory shows as it is there. Nothing is
// installed for them, and what fails before the first turn must pass at the end.
func DetectHere(p Place, r Rules, log func(format string, args ...any)) Rules {
	found := Detected((&Spec{Place: p, Rules: r}).workdir()).Bare()
	for _, note := range found.Notes {
		log("looking for checks: %s", note)
	}
	if len(found.Checks) == 0 {
		return r
	}
	r.Settings.Baseline = config.BaselinePass
	return r.with(found.Checks)
}

// DetectedBefore gives the rules of a resumed run of a prompt the detected checks that it began with: an agent may have
// changed since what shows them.
func DetectedBefore(s loop.State, r Rules) Rules {
	r.Settings.Guardrails, r.Settings.Baseline, r.Detected = nil, config.BaselineOff, s.Start.Detected
	if r.Detected == "" {
		return r
	}
	r.Settings.Baseline = config.BaselinePass
	for _, line := range s.Start.Checks {
		g := config.Guardrail{Command: line}
		for _, v := range s.Baseline {
			if v.Check == line {
				g.Severity = string(v.Severity)
			}
		}
		r.Settings.Guardrails = append(r.Settings.Guardrails, g.Complete())
	}
	return r
}

// noChecks is an error for a repository that shows nothing to check it by.
func (spec *Spec) noChecks(ctx context.Context, base string, notes []string) error {
	text := ""
	for _, note := range notes {
		text += "; " + note
	}
	entries, err := spec.Tree.Files(ctx, base)
	if err != nil {
		return fmt.Errorf("looking for checks: %w", err)
	}
	var paths []string
	where, below := "the repository", ""
	if spec.Settings.WorkingDirectory != "" {
		where, below = fmt.Sprintf("the working directory %q", spec.fromTop("")), spec.fromTop("")+"/"
	}
	for _, e := range entries {
		if rest, ok := strings.CutPrefix(e.Path, below); ok {
			paths = append(paths, rest)
		}
	}
	if below := detect.Below(paths); len(below) > 0 {
		text += fmt.Sprintf("; below its top there is %s, which ralph does not guess from", strings.Join(below, ", "))
	}
	return invalid.Errorf(
		"no checks: %s names no guardrails, and no tests were found in %s%s; name a command under guardrails "+
			"there (ralph init --check COMMAND) or, in a workflow, in the input checks",
		config.SettingsFile, where, text,
	)
}

// detect looks at what the repository shows at its base commit, or in a directory as it is there.
func (spec *Spec) detect(ctx context.Context) (detect.Result, error) {
	if spec.Tree == nil {
		return Detected(spec.workdir()).Bare(), nil
	}
	return spec.detectAt(ctx, spec.Tree.Base())
}

// detectAt looks at a commit.
func (spec *Spec) detectAt(ctx context.Context, base string) (detect.Result, error) {
	names, err := spec.Tree.List(ctx, base+":"+spec.fromTop(""))
	if err != nil {
		return detect.Result{}, fmt.Errorf("looking for checks in %.12s: %w", base, err)
	}
	if spec.Environment != "" {
		names = append(names, detect.EnvironmentMark(spec.Environment))
	}
	files, err := detect.Read(names, func(name string, most int) ([]byte, error) {
		content, _, err := spec.Tree.Read(ctx, base, spec.fromTop(name), most)
		return content, err
	})
	if err != nil {
		return detect.Result{}, fmt.Errorf("looking for checks: %w", err)
	}
	return detect.Repository(files), nil
}

// SetupLine is a detected setup as one command; "" nothing has to be installed.
func SetupLine(found detect.Result) string {
	return strings.Join(safetext.Map(found.Setup, func(s detect.Step) string { return s.Command }), " && ")
}

// Detected is what the files of a directory show of its checks and its setup.
func Detected(dir string) detect.Result {
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
	if name := environmentIn(dir); name != "" {
		names = append(names, detect.EnvironmentMark(name))
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

// preparesItself reports whether the setup is detected, as the checks are.
func (spec *Spec) preparesItself() bool {
	return spec.Settings.Setup == "" && spec.Settings.GuardrailsFrom == "" && spec.Detected != "" && spec.Tree != nil
}

// setupSteps are the commands that make a fresh checkout ready; one that the settings name has no reason.
func (spec *Spec) setupSteps(ctx context.Context) ([]detect.Step, error) {
	if spec.Settings.Setup != "" {
		return []detect.Step{{Command: spec.Settings.Setup}}, nil
	}
	if !spec.preparesItself() {
		return nil, nil
	}
	found, err := spec.detect(ctx)
	return found.Setup, err
}
