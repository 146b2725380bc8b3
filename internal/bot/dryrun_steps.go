package bot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
)

// chosen is the case that the steps are told for: where it depends on a run that nobody could look at, the first in
// which something is begun.
func (d Decision) chosen() Case {
	i := slices.IndexFunc(d.Cases, func(c Case) bool { return c.Do != event.Drop && c.Do != event.Ignore })
	return d.Cases[max(i, 0)]
}

// would are the steps that doing the decision takes, in their order.
func (d Decision) would() []string {
	ev, rules := d.Request.Event, d.Reads.Rules
	n := number(ev)
	switch d.Step {
	case DoNothing:
		return []string{}
	case Refuse:
		return stepsOf(when(ev.Comment != nil, "react to the comment with 👎"),
			"say so in the log and the job's summary; the job stays green")
	case Answer:
		return []string{fmt.Sprintf("comment on #%d what is understood", n)}
	case Reject:
		return stepsOf(when(n != 0, "comment on #%d what is wrong", n), d.labelOff(),
			"say so in the log and the job's summary; the job ends with exit code 2")
	case DerivePlan:
		return stepsOf(d.eyes(), fmt.Sprintf("take the label %s off, where it is on", rules.PlanLabel()),
			"let the agent read the base branch in a copy that is thrown away, and derive a plan",
			fmt.Sprintf("comment the plan on the issue, to be edited and approved with %s approve", rules.TriggerPhrase))
	case Sweep:
		return []string{fmt.Sprintf("take up what waits: runs that were left behind, issues with the label %s, plans of "+
			"the settings (ralph sweep lists them)", rules.TriggerLabel)}
	}
	do := d.chosen().Do
	if d.Reads.Mistake != nil {
		do = event.Drop
	}
	switch do {
	case event.Ignore:
		return []string{"say so in the log, and nothing else"}
	case event.Drop:
		return stepsOf("say so in the log and on the page of the job", when(n != 0, "comment on #%d why", n), d.labelOff())
	case event.Reply:
		return []string{fmt.Sprintf("comment on #%d", n)}
	case event.Halt:
		return stepsOf(d.thumbsUp(), "tell whoever works on "+d.task()+", by the lease, to stop",
			fmt.Sprintf("there: push what is done, tell that it was stopped, take the label %s off",
				rules.StatusLabel(github.LabelRunning)))
	case event.Close:
		return stepsOf(d.thumbsUp(), "take the lease and record that the run was stopped",
			fmt.Sprintf("tell that in its comment, and take the label %s off", rules.StatusLabel(github.LabelRunning)))
	case event.Tidy:
		return []string{"take the labels off the issue that show how its run stands"}
	}
	return d.working()
}

// working are the steps of a run, from its first call to its last.
func (d Decision) working() []string {
	ev, rules := d.Request.Event, d.Reads.Rules
	issue, pull := 0, 0
	switch {
	case d.Known:
		issue, pull = d.Run.Start.Issue, d.Run.Post.Pull
	case ev.Issue != nil && ev.Issue.Pull:
		pull = ev.Issue.Number
	case ev.Issue != nil:
		issue = ev.Issue.Number
	}
	labelled := slices.ContainsFunc(labels(ev), func(l string) bool { return strings.EqualFold(l, rules.TriggerLabel) })
	branch := "begin a branch at the newest commit of the base branch"
	switch {
	case d.chosen().Do == event.Begin:
	case d.Known:
		branch = "go on with the branch " + d.Run.Start.Branch
	default:
		branch = "go on with its branch"
	}
	comment := "open a draft pull request with the first commit, and tell there how the run stands"
	switch {
	case pull != 0:
		comment = fmt.Sprintf("keep the run's comment on pull request #%d up to date", pull)
	case issue != 0:
		comment = fmt.Sprintf("comment on #%d how the run stands, and keep that up to date; from the first commit on, on "+
			"its draft pull request", issue)
	}
	end := "at the end: mark the pull request ready; stopped by a limit, keep the work on a branch wip/ralph-fail-…"
	if issue != 0 {
		end = fmt.Sprintf("at the end: mark the pull request ready, and put %s on #%d; stopped by a limit, keep the work "+
			"on a branch wip/ralph-fail-…, report, and put %s on",
			rules.StatusLabel(github.LabelReview), issue, rules.StatusLabel(github.LabelFailed))
	}
	return stepsOf(d.eyes(), when(d.Step == Fix,
		"hand to the agent what the reviews ask for; where they ask for nothing, say so and stop"),
		"hold "+d.task()+", so that nobody else works on it", branch,
		when(issue != 0 && labelled, "take the label %s off #%d", rules.TriggerLabel, issue),
		when(issue != 0, "put the label %s on #%d", rules.StatusLabel(github.LabelRunning), issue), comment,
		"run the checks of the base commit, then let the agent work, as its settings say (ralph doctor shows them); each "+
			"turn is committed, pushed and judged", end)
}

// eyes is how a job says that it has seen the request: a comment is reacted to, else the issue.
func (d Decision) eyes() string {
	ev := d.Request.Event
	switch asks := d.Step != Fix && d.Step != Builds; {
	case ev.Comment != nil:
		return "react to the comment with 👀"
	case ev.Issue != nil && asks:
		return fmt.Sprintf("react to #%d with 👀", ev.Issue.Number)
	}
	return ""
}

// labelOff is the step that takes the label off that asked.
func (d Decision) labelOff() string {
	ev, label := d.Request.Event, d.Reads.Rules.TriggerLabel
	return when(ev.Issue != nil && ev.Kind == event.Labeled && strings.EqualFold(ev.Label, label),
		"take the label %s off #%d", label, number(ev))
}

func (d Decision) thumbsUp() string {
	return when(d.Request.Event.Comment != nil, "react to the comment with 👍")
}

// when is a step that is taken in some cases only.
func when(is bool, format string, args ...any) string {
	if !is {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// stepsOf are the steps that are there.
func stepsOf(steps ...string) []string {
	return slices.DeleteFunc(steps, func(s string) bool { return strings.TrimSpace(s) == "" })
}

// number is the issue or pull request that an answer goes to; 0 when there is none.
func number(ev event.Event) int {
	switch {
	case ev.On != 0:
		return ev.On
	case ev.Issue != nil:
		return ev.Issue.Number
	}
	return 0
}
