package engine

import (
	"context"
	"fmt"

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
		run.tellFailing(v)
		if v.Missing && v.Skipped == "" {
			return invalid.Errorf("the check %q cannot run here: %s", v.Check, v.Reason)
		}
		if v.Blocks() && run.Settings.Baseline == config.BaselineRequire {
			return invalid.Errorf(
				"the check %q already fails on the base commit (%s), and the setting baseline is require; mend it first, or set "+
					"baseline to report",
				v.Check, v.Reason,
			)
		}
	}
	return nil
}

// tellFailing says what fails before the first turn, and what becomes of it.
func (run *Run) tellFailing(v loop.Verdict) {
	if !v.Blocks() || v.Missing || v.Skipped != "" || run.Settings.Baseline == config.BaselineRequire {
		return
	}
	names := v.Failing()
	what := "it fails already: " + safetext.Few(names, 5)
	if tests := failedTests(v); v.Ran != nil && tests > 0 && tests <= *v.Ran {
		what = fmt.Sprintf("%d of %s failed already: %s", tests, safetext.Count(*v.Ran, "test"), safetext.Few(names, 5))
	}
	end := "it has to be fixed, or accepted by name in the end as no part of the task"
	switch {
	case run.OfPrompt:
		end = "it has to pass in the end"
	case run.Settings.Baseline == config.BaselinePass:
		end = "the setting baseline wants it to pass in the end"
	}
	run.Log("baseline %s: %s; %s", v.Check, what, end)
}

func failedTests(v loop.Verdict) int {
	names := map[string]bool{}
	for _, f := range v.Findings {
		if f.Test != "" {
			names[f.Test] = true
		}
	}
	return len(names)
}

// Explain says of checks that could not do their work what they lack: a tool, or the project's dependencies. A
// repository is not broken because nobody has installed anything.
func (run *Run) Explain(ctx context.Context, verdicts []loop.Verdict) error {
	for i := range verdicts {
		v := &verdicts[i]
		if v.Pass || v.Skipped != "" {
			continue
		}
		lacking := v.Exit == notFound || detect.Lacking(v.Output)
		if !lacking && (run.prepared() || !detect.Uninstalled(v.Output)) {
			continue
		}
		install, err := run.unprepared(ctx)
		if err != nil {
			return err
		}
		if lacking {
			run.lacks(v, install)
			continue
		}
		if install == "" {
			install = "what installs them"
		} else {
			install = "`" + install + "`"
		}
		v.Reason += "; maybe its dependencies are not installed: put " + install + " into the setting setup"
		run.Log("baseline %s: %s", v.Check, v.Reason)
	}
	return nil
}

// notFound is how a shell ends that was asked for a program that does not exist.
const notFound = 127

// lacks names a check's missing tool and what brings it. A soft check that nobody has named is passed over then.
func (run *Run) lacks(v *loop.Verdict, install string) {
	v.Missing = true
	v.Reason = detect.LackAdvice(run.line(v.Check), v.Output, install)
	if run.Detected != "" && v.Severity == loop.Soft {
		v.Skipped = v.Reason
		run.Log("warning: the check %s is left out: %s", v.Check, v.Reason)
	}
}

// line is a check's command.
func (run *Run) line(name string) string {
	for _, g := range run.Settings.Guardrails {
		if g.Name == name {
			return g.Command
		}
	}
	return ""
}

// skipMissing takes away the soft checks that the baseline has passed over.
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
	if err != nil {
		return "", err
	}
	return installLine(found.Setup), nil
}
