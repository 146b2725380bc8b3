package event

import (
	"slices"
	"strings"
)

// Trigger is one way of asking, as the tables of docs/internals/requests.md name it. In its text {phrase} and {label} stand for
// what the rules call them.
type Trigger string

// The ways of asking. What is not listed asks for nothing.
const (
	ByLabel        Trigger = "label `{label}` put on an issue"
	ByPlanLabel    Trigger = "label `{label}:plan` put on an issue"
	ByPullLabel    Trigger = "label `{label}` put on a pull request"
	OtherPullLabel Trigger = "label `{label}:plan` put on a pull request"
	OtherLabel     Trigger = "another label put on"
	RunningOff     Trigger = "label `{label}:running` taken off"
	RequestOff     Trigger = "label `{label}` or `{label}:plan` taken off"
	OtherLabelOff  Trigger = "another label taken off"
	ByClosing      Trigger = "issue or pull request closed, or merged"

	ByRun         Trigger = "`{phrase} run`"
	ByRetry       Trigger = "`{phrase} retry`"
	ByRetryHint   Trigger = "`{phrase} retry` and a hint"
	ByRetryFresh  Trigger = "`{phrase} retry --fresh`"
	ByContinue    Trigger = "`{phrase} continue`"
	ByAccept      Trigger = "`{phrase} accept`"
	ByFix         Trigger = "`{phrase} fix`"
	ByFixNowhere  Trigger = "`{phrase} fix` where the run has no pull request"
	ByStop        Trigger = "`{phrase} stop`"
	ByHint        Trigger = "`{phrase} hint`"
	ByPlan        Trigger = "`{phrase} plan`"
	ByApprove     Trigger = "`{phrase} approve`"
	ByStatus      Trigger = "`{phrase} status`"
	ByHelp        Trigger = "`{phrase} help`, or `{phrase}` alone"
	PlainComment  Trigger = "comment that does not begin with `{phrase}`, or that quotes or fences it"
	EditedComment Trigger = "comment or review edited later"
	EditedIssue   Trigger = "issue or pull request edited"

	ByChanges   Trigger = "review that requests changes"
	PlainReview Trigger = "review that approves or only comments"

	BuildUngated  Trigger = "other workflow has ended, and `ci_gate` is off"
	BuildOfFork   Trigger = "other workflow has ended, in a fork"
	ByBuildFailed Trigger = "other workflow has failed"
	ByBuild       Trigger = "other workflow has ended in another way"

	ByDispatch      Trigger = "dispatch"
	ByDispatchFresh Trigger = "dispatch with `fresh`"
	BySchedule      Trigger = "schedule"
	Anything        Trigger = "anything else that happens"
)

// heading is one way of asking with the events that bring it and the verb that it is.
type heading struct {
	asking Trigger
	events []string
	verb   Verb // empty: it asks for nothing
}

var (
	onComments = []string{"issue_comment.created", "pull_request_review_comment.created", "pull_request_review.submitted"}
	onBuilds   = []string{"workflow_run.completed", "check_suite.completed"}
	onDispatch = []string{"workflow_dispatch", "repository_dispatch"}
)

// headings are all ways of asking, in the order of the documents.
var headings = []heading{
	{ByLabel, []string{"issues.labeled"}, Run},
	{ByPlanLabel, []string{"issues.labeled"}, Plan},
	{ByPullLabel, []string{"pull_request.labeled"}, Fix},
	{OtherPullLabel, []string{"pull_request.labeled"}, ""},
	{OtherLabel, []string{"issues.labeled", "pull_request.labeled"}, ""},
	{RunningOff, []string{"issues.unlabeled", "pull_request.unlabeled"}, Stop},
	{RequestOff, []string{"issues.unlabeled", "pull_request.unlabeled"}, ""},
	{OtherLabelOff, []string{"issues.unlabeled", "pull_request.unlabeled"}, ""},
	{ByClosing, []string{"issues.closed", "pull_request.closed"}, Stop},
	{ByRun, onComments, Run},
	{ByRetry, onComments, Retry},
	{ByRetryHint, onComments, Retry},
	{ByRetryFresh, onComments, Retry},
	{ByContinue, onComments, Continue},
	{ByAccept, onComments, Accept},
	{ByFix, onComments, Fix},
	{ByFixNowhere, onComments, Fix},
	{ByStop, onComments, Stop},
	{ByHint, onComments, Hint},
	{ByPlan, onComments, Plan},
	{ByApprove, onComments, Approve},
	{ByStatus, onComments, Status},
	{ByHelp, onComments, Help},
	{PlainComment, onComments[:2], ""},
	{EditedComment, []string{"issue_comment.edited", "pull_request_review_comment.edited", "pull_request_review.edited"},
		""},
	{EditedIssue, []string{"issues.edited", "pull_request.edited"}, ""},
	{ByChanges, onComments[2:], Fix},
	{PlainReview, onComments[2:], ""},
	{BuildUngated, onBuilds, ""},
	{BuildOfFork, onBuilds, ""},
	{ByBuildFailed, onBuilds, OnCIResult},
	{ByBuild, onBuilds, OnCIResult},
	{ByDispatch, onDispatch, Run},
	{ByDispatchFresh, onDispatch, Retry},
	{BySchedule, []string{"schedule"}, Sweep},
	{Anything, []string{"…"}, ""},
}

func headingOf(asking Trigger) heading {
	i := slices.IndexFunc(headings, func(h heading) bool { return h.asking == asking })
	return headings[i]
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
	return map[Verb]Trigger{
		Run: ByRun, Retry: ByRetry, Continue: ByContinue, Accept: ByAccept, Fix: ByFix, Stop: ByStop, Hint: ByHint,
		Plan:    ByPlan,
		Approve: ByApprove,
		Status:  ByStatus, Help: ByHelp,
		Sweep: BySchedule, OnCIResult: ByBuild,
	}[cmd.Verb]
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
