package bot

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
)

// settled are the settings of the base commit with the inputs over them (C29).
func (x *explainer) settled(ctx context.Context) (*engine.Spec, bool) {
	layers, err := x.baseSettings(ctx)
	if err != nil {
		x.unknown("%s: %v; the defaults are shown", config.SettingsFile, err)
	}
	shop := &engine.Spec{Log: func(string, ...any) {}}
	if shop.Settings, err = config.Load(append(layers, x.Inputs.Layers()...)...); err != nil {
		x.rejected(err)
		return nil, false
	}
	return shop, true
}

// baseSettings reads the settings from GitHub, else from the clone.
func (x *explainer) baseSettings(ctx context.Context) (layers []config.Layer, err error) {
	switch {
	case x.asked:
		content, ok, err := x.github.File(ctx, x.onto(x.request.Event), config.SettingsFile)
		if ok && err == nil {
			layers = append(layers, config.Layer{Name: config.SettingsFile, JSON: content})
		}
		return layers, err
	case x.cloned:
		all, err := session.SettingsFiles(session.Top(ctx, x.dir, x.Parent))
		for _, l := range all { // a job has no local ones
			if l.Name == config.SettingsFile {
				layers = append(layers, l)
			}
		}
		x.unknown("%s of the base commit; the one in this clone is shown", config.SettingsFile)
		return layers, err
	}
	x.unknown("%s of the base commit; the defaults are shown", config.SettingsFile)
	return nil, nil
}

// judging is who looks at the work.
func (x *explainer) judging(ctx context.Context, shop *engine.Spec) {
	set := shop.Settings
	when := "on the base commit, then after each turn"
	if set.Baseline == config.BaselineOff {
		when = "after each turn"
	}
	switch {
	case set.GuardrailsFrom == "" && x.cloned:
		x.step("run the checks that the repository shows (here: %s), %s", orNone(engine.Detected(session.Top(ctx, x.dir, x.Parent))), when)
	case set.GuardrailsFrom == "":
		x.step("run the checks that the files of the repository show, %s", when)
	default:
		x.step("run the checks, %s: %s", when, orNone(engine.CommandLines(set.Guardrails)))
	}
	who := "let " + set.Agent.Command + " work"
	if set.Review {
		who += ", and a fresh reviewer look when it says that it is done"
	}
	x.step("%s; each turn is committed and pushed", who)
	if set.CIGate == config.WaitForCI {
		x.step("wait for other workflows, for at most %d minutes", set.CITimeoutMinutes)
	}
}

func orNone(commands []string) string {
	if len(commands) == 0 {
		return "none"
	}
	return strings.Join(commands, "; ")
}

// limits are what the run may take.
func (x *explainer) limits(do event.Doing, shop *engine.Spec) {
	set, most := shop.Settings, shop.Goal.Most
	switch {
	case x.request.MaxIterations > 0:
		most = x.request.MaxIterations
	case x.known && do == event.GoOn:
		most = x.run.MaxIterations
	case most == 0:
		most = set.Iterations(config.TaskIterations)
	}
	limits := []string{safetext.Counted(most, "iteration", "iterations"), safetext.Counted(set.TimeoutMinutes, "minute", "minutes")}
	for _, limit := range []struct {
		is   bool
		text string
	}{
		{set.MaxCostUSD > 0, fmt.Sprintf("$%.2f", set.MaxCostUSD)}, {set.MaxCostUSDPerIssue > 0, fmt.Sprintf("$%.2f for all runs of the issue", set.MaxCostUSDPerIssue)},
		{set.MaxTokens > 0, safetext.Counted(set.MaxTokens, "token", "tokens")},
	} {
		if limit.is {
			limits = append(limits, limit.text)
		}
	}
	x.step("stop at a limit: %s", strings.Join(limits, ", "))
}

// ending is how it can come out.
func (x *explainer) ending(issue int) {
	if issue == 0 {
		x.step("at the end: mark the pull request ready; stopped by a limit, keep the work on a branch wip/ralph-fail-…")
		return
	}
	x.step("at the end: mark the pull request ready, and put %s on #%d; stopped by a limit, keep the work on a branch wip/ralph-fail-…, report, and put %s on",
		x.rules.StatusLabel(github.LabelReview), issue, x.rules.StatusLabel(github.LabelFailed))
}
