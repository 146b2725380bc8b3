package event

import (
	"slices"
	"strings"
)

// requested are the ways of asking without a command that ask for something, with what each asks for.
var requested = map[Trigger]Verb{
	ByLabel:         Run,
	ByPlanLabel:     Plan,
	ByPullLabel:     Fix,
	RunningOff:      Stop,
	ByClosing:       Stop,
	ByRetryHint:     Retry,
	ByRetryFresh:    Retry,
	ByFixNowhere:    Fix,
	ByChanges:       Fix,
	ByBuildFailed:   OnCIResult,
	ByBuild:         OnCIResult,
	ByDispatch:      Run,
	ByDispatchFresh: Retry,
	BySchedule:      Sweep,
}

// askingOf tells which way of asking an event is. The command is what a comment or a review says; an error is a
// *UsageError.
func askingOf(ev Event, rules Rules) (Trigger, Command, error) {
	switch ev.Kind {
	case Labeled:
		return labelPutOn(ev, rules), Command{}, nil
	case Unlabeled:
		return labelTakenOff(ev, rules), Command{}, nil
	case Closed:
		return ByClosing, Command{}, nil
	case Commented, Reviewed:
		return worded(ev, rules)
	case Built:
		return built(ev, rules), Command{}, nil
	case Dispatched:
		asking, cmd := dispatched(ev.Ask)
		return asking, cmd, nil
	case Scheduled:
		return BySchedule, Command{}, nil
	}
	return untold(ev.Name), Command{}, nil
}

func labelPutOn(ev Event, rules Rules) Trigger {
	ours, plan := strings.EqualFold(ev.Label, rules.TriggerLabel), strings.EqualFold(ev.Label, rules.PlanLabel())
	pull := ev.Issue != nil && ev.Issue.Pull
	switch {
	case ours && pull:
		return ByPullLabel
	case plan && pull:
		return OtherPullLabel
	case ours:
		return ByLabel
	case plan:
		return ByPlanLabel
	}
	return OtherLabel
}

func labelTakenOff(ev Event, rules Rules) Trigger {
	switch {
	case strings.EqualFold(ev.Label, rules.StatusLabel("running")):
		return RunningOff
	case strings.EqualFold(ev.Label, rules.TriggerLabel), strings.EqualFold(ev.Label, rules.PlanLabel()):
		return RequestOff
	}
	return OtherLabelOff
}

// worded reads the command of a comment or a review. A review that requests changes asks by that, whatever it says,
// unless its text is a command.
func worded(ev Event, rules Rules) (Trigger, Command, error) {
	body := ""
	switch {
	case ev.Comment != nil && !ev.Comment.Inline && ev.Comment.UpdatedAt.After(ev.Comment.CreatedAt):
		return EditedComment, Command{}, nil
	case ev.Comment != nil:
		body = ev.Comment.Body
	case ev.Review != nil:
		body = ev.Review.Body
	}
	cmd, ours, err := ParseCommand(body, rules.TriggerPhrase)
	switch {
	case err != nil:
		return "", Command{}, err
	case ours:
		return commanded(cmd), cmd, nil
	case ev.Review == nil:
		return PlainComment, Command{}, nil
	case strings.EqualFold(ev.Review.State, "changes_requested"):
		return ByChanges, Command{}, nil
	}
	return PlainReview, Command{}, nil
}

// commanded tells which row of the table a command is.
func commanded(cmd Command) Trigger {
	switch {
	case cmd.Verb == Retry && cmd.Fresh:
		return ByRetryFresh
	case cmd.Verb == Retry && cmd.Hint != "":
		return ByRetryHint
	}
	for _, v := range verbs {
		if v.verb == cmd.Verb {
			return v.asking
		}
	}
	return map[Verb]Trigger{Sweep: BySchedule, OnCIResult: ByBuild}[cmd.Verb]
}

func built(ev Event, rules Rules) Trigger {
	switch {
	case !rules.CIGate:
		return BuildUngated
	case ev.Build == nil || ev.Build.Fork:
		return BuildOfFork
	case ev.Build.Failed():
		return ByBuildFailed
	}
	return ByBuild
}

// Failed reports whether the conclusion says that something is wrong with the commit. A workflow that was canceled,
// skipped or waits for someone says nothing about it.
func (b Build) Failed() bool {
	return slices.Contains([]string{"failure", "timed_out", "startup_failure"}, strings.ToLower(b.Conclusion))
}

func dispatched(ask DispatchRequest) (Trigger, Command) {
	cmd := Command{Verb: Run, Hint: ask.Hint, MaxIterations: ask.MaxIterations}
	if ask.Fresh {
		cmd.Verb, cmd.Fresh = Retry, true
		return ByDispatchFresh, cmd
	}
	return ByDispatch, cmd
}

func untold(name string) Trigger {
	switch name {
	case "issue_comment.edited", "pull_request_review_comment.edited", "pull_request_review.edited":
		return EditedComment
	case "issues.edited", "pull_request.edited", "pull_request_target.edited":
		return EditedIssue
	}
	return Anything
}
