package app

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/event"
)

// steps are what would be done. Where it depends on the standing of a run that nobody could look at, they are those of the first way in
// which something is begun.
func (x *explainer) steps(ctx context.Context) {
	d := x.out.Decisions[0]
	for _, other := range x.out.Decisions {
		if other.Do != event.Drop && other.Do != event.Ignore {
			d = other
			break
		}
	}
	if len(x.out.Decisions) > 1 {
		x.out.StepsFor = d.Do
	}
	ev := x.request.Event
	switch d.Do {
	case event.Ignore:
		x.step("say so in the log, and nothing else")
	case event.Drop:
		x.dropped(ev)
	case event.Tell:
		x.step("comment on #%d", number(ev))
	case event.TakeUp:
		x.takeUp(ctx)
	case event.Halt:
		x.thumbsUp(ev)
		x.step("tell whoever works on %s, by the lease, to stop", x.about())
		x.step("there: push what is done, tell that it was stopped, take the label %s off", x.rules.StatusLabel(labelRunning))
	case event.Close:
		x.thumbsUp(ev)
		x.step("take the lease and record that the run was stopped")
		x.step("tell that in its comment, and take the label %s off", x.rules.StatusLabel(labelRunning))
	case event.Derive:
		x.derive(ctx)
	default:
		x.work(ctx, d.Do)
	}
}

// about is the task that is asked about.
func (x *explainer) about() string {
	ev := x.request.Event
	switch {
	case x.known:
		return x.run.Start.Task
	case ev.Issue != nil && !ev.Issue.Pull:
		return fmt.Sprintf("issue-%d", ev.Issue.Number)
	case ev.Issue != nil:
		return fmt.Sprintf("the run of pull request #%d", ev.Issue.Number)
	}
	return "its task"
}

// dropped is as Action.decline.
func (x *explainer) dropped(ev event.Event) {
	x.step("say so in the log and on the page of the job")
	if n := number(ev); n != 0 {
		x.step("comment on #%d why", n)
	}
	if ev.Issue != nil && ev.Kind == event.Labeled {
		x.step("take the label %s off #%d", x.rules.TriggerLabel, ev.Issue.Number)
	}
}

func (x *explainer) thumbsUp(ev event.Event) {
	if ev.Comment != nil {
		x.step("react to the comment with 👍")
	}
}

// eyes is as Client.React, where a job begins with that: a comment is reacted to, else the issue.
func (x *explainer) eyes() {
	asks := x.request.Verb != event.Fix && x.request.Verb != event.Heed
	switch ev := x.request.Event; {
	case ev.Comment != nil:
		x.step("react to the comment with 👀")
	case ev.Issue != nil && asks:
		x.step("react to #%d with 👀", ev.Issue.Number)
	}
}

// takeUp lists what a sweep would work on.
func (x *explainer) takeUp(ctx context.Context) {
	if !x.asked {
		x.step("look for runs that were left behind, then issues with the label %s, then the plans of the settings; take up at most %d",
			x.rules.TriggerLabel, x.Inputs.MaxTasks)
		return
	}
	left := x.Inputs.MaxTasks
	for p, err := range x.pending(ctx, x.request.Event, x.facts) {
		if err != nil {
			x.unknown("what waits: %v", err)
			return
		}
		x.step("take up %s", p.row())
		if left--; left == 0 {
			return
		}
	}
	if left == x.Inputs.MaxTasks {
		x.step("nothing: there is nothing to take up")
	}
}

func (x *explainer) derive(ctx context.Context) {
	x.eyes()
	x.step("take the label %s off, where it is on", x.rules.PlanLabel())
	if t, err := x.task(ctx, x.request, x.facts); err != nil {
		x.rejected(err)
		return
	} else if set, ok := x.settled(ctx); ok {
		x.step("let %s read %s in a copy that is thrown away, for at most %s, and derive a plan of issue #%d", set.settings.Agent.Command, x.base(), set.settings.Timeout(), t.Issue)
	}
	x.step("comment the plan on the issue, to be edited and approved with %s approve", x.rules.TriggerPhrase)
}

// rejected is as Action.reject: what is asked for cannot be done, and nothing is begun.
func (x *explainer) rejected(err error) {
	x.becomes(becomesAnswered, err.Error())
	if n := number(x.request.Event); n != 0 {
		x.step("comment on #%d what is wrong; the job ends with exit code 2", n)
		return
	}
	x.step("say what is wrong in the log and the job's summary; the job ends with exit code 2")
}

// work tells of a run, from its first call to its last.
func (x *explainer) work(ctx context.Context, do event.Doing) {
	x.eyes()
	if x.request.Verb == event.Fix && !x.reviewed(ctx) {
		return
	}
	wanted, err := x.wish(ctx)
	if err != nil {
		x.rejected(err)
		return
	}
	shop, ok := x.settled(ctx)
	if !ok {
		return
	}
	if err := shop.settle(wanted.Task, nil, wanted.Issue == 0); err != nil && (Invalid(err) && shop.settings.GuardrailsFrom != "") {
		x.rejected(err)
		return
	}
	x.step("hold %s, so that nobody else works on it", cmp.Or(wanted.ID, x.about()))
	x.branches(ctx, do, wanted)
	x.labels(wanted.Issue)
	x.comments(wanted.Issue)
	x.judging(shop)
	x.limits(do, shop)
	x.ending(wanted.Issue)
}

// reviewed tells what the reviews ask for; false: nothing, and nothing is begun (see Action.fix).
func (x *explainer) reviewed(ctx context.Context) bool {
	if !x.known {
		x.unknown("what the reviews ask for")
		return true
	}
	asked, err := x.feedback(ctx, x.request, x.run, x.facts)
	if self := x.hub.Self(); !strings.EqualFold(self, x.facts.Self) {
		x.unknown("threads in which %s had the last word: the token here is of that account, whose words are taken for ralph's", self)
	}
	switch {
	case err != nil:
		x.unknown("what the reviews ask for: %v", err)
	case asked == nil && x.request.Hint == "":
		x.step("comment on #%d that there is nothing to take up: no open thread, and no review that requests changes, by anybody with write access", number(x.request.Event))
		return false
	case asked != nil:
		var said []string
		if asked.Text != "" {
			said = append(said, "the words of the reviews")
		}
		if n := len(asked.Items); n > 0 {
			said = append(said, counted(n, "open thread", "open threads")+", answered at the end")
		}
		x.step("hand to the agent: %s", strings.Join(said, "; "))
	}
	return true
}

// wish is what is to be worked on. Of what goes on for a review or another workflow, that is the run's own task.
func (x *explainer) wish(ctx context.Context) (wish, error) {
	if x.known && (x.request.Verb == event.Fix || x.request.Verb == event.Heed || x.run.Start.Issue == 0) {
		wanted := goingOn(x.run)
		wanted.Issue = x.run.Start.Issue
		return *wanted, nil
	}
	if !x.asked && (x.request.PlanFile != "" || x.request.Verb == event.Approve || x.request.Event.Issue != nil && x.request.Event.Issue.Title == "") {
		x.unknown("what exactly is asked for")
		w := wish{}
		if ev := x.request.Event; ev.Issue != nil {
			w.Issue, w.ID = ev.Issue.Number, fmt.Sprintf("issue-%d", ev.Issue.Number)
		}
		return w, nil
	}
	return x.wanted(ctx, x.request, x.facts)
}

func (x *explainer) branches(ctx context.Context, do event.Doing, wanted wish) {
	if x.known && do != event.Begin {
		x.step("go on with the branch %s, whose pull request goes to %s", x.run.Start.Branch, x.run.Start.Onto)
		return
	}
	branch, err := x.branch(ctx, wanted)
	if err != nil {
		x.step("stop: %v", err)
		return
	}
	x.step("begin the branch %s at %s", branch, x.base())
}

// base names the branch that a run begins from.
func (x *explainer) base() string {
	if onto := x.onto(x.request.Event); onto != "" {
		return onto
	}
	return "the default branch"
}

// labels is as publisher.begin.
func (x *explainer) labels(issue int) {
	if issue == 0 {
		return
	}
	p := publisher{rules: x.rules}
	var off []string
	for _, l := range labels(x.request.Event) {
		if strings.EqualFold(l, x.rules.TriggerLabel) || p.outdated(l, labelRunning) {
			off = append(off, l)
		}
	}
	if len(off) > 0 {
		x.step("take the label %s off #%d", strings.Join(off, ", "), issue)
	}
	x.step("put the label %s on #%d", x.rules.StatusLabel(labelRunning), issue)
}

func (x *explainer) comments(issue int) {
	switch {
	case x.known && x.run.Post.Pull != 0:
		x.step("keep the run's comment on pull request #%d up to date", x.run.Post.Pull)
	case issue != 0:
		x.step("comment on #%d how the run stands, and keep that up to date; from the first commit on, on its draft pull request", issue)
	default:
		x.step("open a draft pull request with the first commit, and tell there how the run stands")
	}
}

// settled are the settings of the base commit with the inputs over them (C29).
func (x *explainer) settled(ctx context.Context) (*workshop, bool) {
	layers, where, err := x.baseSettings(ctx)
	if err != nil {
		x.unknown("%s: %v; the defaults are shown", config.SettingsFile, err)
	}
	shop := &workshop{log: func(string, ...any) {}}
	if shop.settings, err = config.Load(append(layers, x.Inputs.Layers()...)...); err != nil {
		x.rejected(fmt.Errorf("%s of %s: %w", config.SettingsFile, where, err))
		return nil, false
	}
	return shop, true
}

// baseSettings reads the settings from GitHub, else from the clone.
func (x *explainer) baseSettings(ctx context.Context) (layers []config.Layer, where string, err error) {
	switch {
	case x.asked:
		content, ok, err := x.hub.File(ctx, x.onto(x.request.Event), config.SettingsFile)
		if ok && err == nil {
			layers = append(layers, config.Layer{Name: config.SettingsFile, JSON: content})
		}
		return layers, x.base(), err
	case x.cloned:
		all, err := settingsFiles(top(ctx, x.dir, x.Parent))
		for _, l := range all { // a job has no local ones
			if l.Name == config.SettingsFile {
				layers = append(layers, l)
			}
		}
		x.unknown("%s of the base commit; the one in this clone is shown", config.SettingsFile)
		return layers, filepath.Base(x.dir), err
	}
	x.unknown("%s of the base commit; the defaults are shown", config.SettingsFile)
	return nil, "the defaults", nil
}

// judging is who looks at the work.
func (x *explainer) judging(shop *workshop) {
	set := shop.settings
	checks := commandLines(set.Guardrails)
	switch {
	case set.GuardrailsFrom == "" && x.cloned:
		found := detected(top(context.Background(), x.dir, x.Parent))
		x.step("run the checks that the repository shows (here: %s) on the base commit, then after each turn", orNone(found))
	case set.GuardrailsFrom == "":
		x.step("run the checks that the files of the repository show, on the base commit, then after each turn")
	default:
		x.step("run the checks on the base commit, then after each turn: %s", orNone(checks))
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
func (x *explainer) limits(do event.Doing, shop *workshop) {
	set, most := shop.settings, shop.goal.most
	switch {
	case x.request.MaxIterations > 0:
		most = x.request.MaxIterations
	case x.known && do == event.GoOn:
		most = x.run.MaxIterations
	case most == 0:
		most = set.Iterations(config.TaskIterations)
	}
	limits := []string{counted(most, "iteration", "iterations"), counted(set.TimeoutMinutes, "minute", "minutes")}
	for _, limit := range []struct {
		is   bool
		text string
	}{
		{set.MaxCostUSD > 0, fmt.Sprintf("$%.2f", set.MaxCostUSD)}, {set.MaxCostUSDPerIssue > 0, fmt.Sprintf("$%.2f for all runs of the issue", set.MaxCostUSDPerIssue)},
		{set.MaxTokens > 0, counted(set.MaxTokens, "token", "tokens")},
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
		x.rules.StatusLabel(labelReview), issue, x.rules.StatusLabel(labelFailed))
}
