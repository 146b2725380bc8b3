package engine

import (
	"context"
	"slices"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/detect"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// baseline runs the checks on the base commit, before anything is spent.
func (run *Run) baseline(ctx context.Context, checks check.List) error {
	s := run.Journal.State()
	if s.Baselined || len(s.Iterations) > 0 || run.Settings.Baseline == config.BaselineOff {
		run.skipMissing(s.Baseline)
		return nil
	}
	verdicts, err := checks.Baseline(ctx, s)
	if err != nil {
		return err
	}
	if err := run.Explain(ctx, verdicts); err != nil {
		return err
	}
	record := loop.Record{Type: loop.Baselined, At: run.Clock(), Baseline: verdicts}
	if _, err := run.Journal.Append(ctx, record); err != nil {
		return err
	}
	run.skipMissing(verdicts)
	for _, v := range verdicts {
		run.logBaselineFailures(v)
		if v.Missing && v.Skipped == "" {
			return invalid.Errorf("the check %q cannot run here: %s", v.Check, v.Reason)
		}
		if v.Blocks() && run.Settings.Baseline == config.BaselineRequire {
			return invalid.Errorf(
				"the check %q already fails on the base commit (%s), and the setting baseline is require; fix it first, or set "+
					"baseline to report",
				v.Check, v.Reason,
			)
		}
	}
	return nil
}

// logBaselineFailures says what fails before the first turn, and what happens to it.
func (run *Run) logBaselineFailures(v loop.Verdict) {
	if !v.Blocks() || v.Missing || v.Skipped != "" || run.Settings.Baseline == config.BaselineRequire {
		return
	}
	end := "it must be fixed, or accepted by name at the end as not part of the task"
	switch {
	case run.OfPrompt:
		end = "it must pass at the end"
	case run.Settings.Baseline == config.BaselinePass:
		end = "the setting baseline requires it to pass at the end"
	}
	run.Log("baseline %s: it fails already: %s; %s", v.Check, safetext.FirstN(v.Failing(), 5), end)
}

// Explain says of checks that could not do their work what they lack: a tool, or the project's dependencies. A
// repository is not broken because no one has installed anything.
func (run *Run) Explain(ctx context.Context, verdicts []loop.Verdict) error {
	for i := range verdicts {
		v := &verdicts[i]
		if v.Pass || v.Skipped != "" {
			continue
		}
		if run.explainUnreached(v) {
			run.Log("baseline %s: %s", v.Check, v.Reason)
			continue
		}
		lacks := v.Exit == notFound || detect.Lacking(v.Output)
		if !lacks && (run.prepared() || !detect.Uninstalled(v.Output)) {
			continue
		}
		install, err := run.unprepared(ctx)
		if err != nil {
			return err
		}
		if lacks {
			v.Missing = true
			v.Reason = detect.LackAdvice(run.line(v.Check), v.Output, run.site(install))
			if run.Detected != "" && v.Severity == loop.Soft { // no one has named it
				run.passOver(v)
			}
			continue
		}
		v.Reason += "; maybe its dependencies are not installed: " + run.site(install).Prepare()
		run.Log("baseline %s: %s", v.Check, v.Reason)
	}
	return run.leaveOut(ctx, verdicts)
}

// leaveOut passes over the detected checks whose tools are missing on a person's own machine. In a run of a prompt that
// can be any of them; in other runs a detected test must remain. What someone has named is not passed over.
func (run *Run) leaveOut(ctx context.Context, verdicts []loop.Verdict) error {
	if run.Detected == "" || run.InJob || !slices.ContainsFunc(verdicts, lacking) {
		return nil
	}
	found, err := run.detect(ctx)
	if err != nil {
		return err
	}
	tests := slices.ContainsFunc(found.Checks, func(d detect.Check) bool {
		return d.Tests() && slices.ContainsFunc(verdicts, func(v loop.Verdict) bool {
			return v.Check == d.Command && !v.Missing
		})
	})
	if !tests && !run.OfPrompt {
		return nil
	}
	for i := range verdicts {
		v := &verdicts[i]
		if lacking(*v) &&
			slices.ContainsFunc(found.Checks, func(d detect.Check) bool { return d.Command == v.Check }) {
			run.passOver(v)
		}
	}
	return nil
}

func lacking(v loop.Verdict) bool { return v.Missing && v.Skipped == "" }

func (run *Run) passOver(v *loop.Verdict) {
	v.Skipped = v.Reason
	run.Log("warning: the check %s is left out: %s", v.Check, v.Reason)
}

// notFound is the exit code of a shell for a program that does not exist.
const notFound = 127

// skipMissing takes away the checks that the baseline has passed over.
func (run *Run) skipMissing(verdicts []loop.Verdict) {
	for _, v := range verdicts {
		if v.Missing && v.Skipped != "" {
			run.leftOut = append(run.leftOut, v.Check)
		}
	}
}

// prepared reports whether a setup has run, or would have if there were anything to run.
func (spec *Spec) prepared() bool { return spec.Settings.Setup != "" || spec.preparesItself() }

// unprepared is what would install the project's dependencies where nothing does; "" when something has, or nothing is
// known.
func (spec *Spec) unprepared(ctx context.Context) (string, error) {
	if spec.prepared() {
		return "", nil
	}
	found, err := spec.detect(ctx)
	return SetupLine(found), err
}

// cannotRun is the exit code of a shell for a program that it is not allowed to run.
const cannotRun = 126

// lacksTool says which program a check that failed says was missing; "" when it says so of none.
func (spec *Spec) lacksTool(exit int, output string) (tool, advice string) {
	if exit != cannotRun && exit != notFound && !detect.Lacking(output) {
		return "", ""
	}
	// the output has to name it: a missing script is not a missing tool
	return detect.MissingTool("", output), detect.LackAdvice("", output, spec.site(""))
}

// site is where the run's tools are missing. install is what installs the project's own dependencies; "" nothing does,
// or it has run.
func (spec *Spec) site(install string) detect.Site {
	return detect.Site{Here: !spec.InJob, NoSetup: spec.OfPrompt, Setup: install}
}
