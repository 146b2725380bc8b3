package event

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

// row is one rule: what happens to something that is asked in one of these ways, on one of these places, while the run
// is in one of these ways. An empty list stands for all.
type row struct {
	asks []Trigger
	on   []Place
	at   []RunStatus
	do   Doing
	why  string // one sentence without its full stop, for the log and for the requester; see filled
}

// stopped are the statuses of a run that no one works on and that is not finished.
var stopped = []RunStatus{Abandoned, Waiting, Halted}

// begins are the ways of asking that want a run.
var begins = []Trigger{ByLabel, ByRun, ByRetry, ByRetryHint, ByRetryFresh, ByDispatch, ByDispatchFresh}

// rows are the rules. The first one that fits holds; a test sees to it that every case has one and every one a case.
var rows = []row{
	// What asks for nothing, however the run stands.
	{asks: []Trigger{OtherLabel}, do: Ignore, why: "the label is {the label}, not “{label}” or “{label}:plan”"},
	{asks: []Trigger{OtherLabelOff}, do: Ignore, why: "the label {the label} was taken off, which asks for nothing"},
	{asks: []Trigger{RequestOff}, do: Ignore,
		why: "taking {the label} off withdraws a request that has not started, and nothing else; `{phrase} stop` stops a run"},
	{asks: []Trigger{OtherPullLabel}, do: Ignore,
		why: "a plan is made of an issue, not of a pull request; put “{label}:plan” on an issue"},
	{asks: []Trigger{PlainComment}, do: Ignore, why: "the comment does not begin with {phrase}"},
	{asks: []Trigger{EditedComment}, do: Ignore, why: "the comment was edited; write a new one"},
	{asks: []Trigger{EditedIssue}, do: Ignore, why: "an edit is not a request, and a running run keeps its text; ask again with `{phrase} retry` when it has ended"},
	{asks: []Trigger{PlainReview}, do: Ignore, why: "the review requests no changes and does not begin with {phrase}"},
	{asks: []Trigger{BuildUngated}, do: Ignore,
		why: "the input ci_gate is off, so what other workflows find changes nothing"},
	{asks: []Trigger{BuildOfFork}, do: Ignore,
		why: "the commit is in a fork, and ralph works on branches of this repository alone"},
	{asks: []Trigger{Anything}, do: Ignore, why: "ralph does nothing on {event}"},

	// What is answered wherever it is asked.
	{asks: []Trigger{ByHelp}, do: Reply, why: "this is what ralph understands"},
	{asks: []Trigger{ByStatus}, do: Reply, why: "this is how the run stands"},
	{asks: []Trigger{BySchedule}, do: TakeUp,
		why: "waiting and abandoned runs are resumed, and pending requests are run"},

	// Pull requests of others.
	{asks: []Trigger{ByPullLabel, ByChanges, ByClosing, RunningOff}, on: []Place{OnOtherPull}, do: Ignore,
		why: "{here} is not one that ralph opened; ask on an issue, with the label “{label}” or `{phrase} run`"},
	{asks: append([]Trigger{ByContinue, ByAccept, ByFix, ByStop, ByHint, ByPlan, ByApprove}, begins...),
		on:  []Place{OnOtherPull},
		do:  Drop,
		why: "{here} is not one that ralph opened for an issue; ask on an issue"},

	// Stopping: what is done is kept.
	{asks: []Trigger{ByStop, ByClosing, RunningOff}, at: []RunStatus{Running}, do: Halt,
		why: "the run is stopped, and what it has done is kept"},
	{asks: []Trigger{ByStop, ByClosing, RunningOff}, at: []RunStatus{Abandoned, Waiting}, do: Close,
		why: "the run is not running; it is marked as stopped, so nothing resumes it automatically"},
	{asks: []Trigger{ByStop}, at: []RunStatus{None}, do: Drop, why: "nothing runs here; `{phrase} run` starts a run"},
	{asks: []Trigger{ByStop}, at: []RunStatus{Halted}, do: Drop,
		why: "nothing runs here: the last run was stopped already; `{phrase} continue` resumes it"},
	{asks: []Trigger{ByStop}, at: []RunStatus{Failed}, do: Drop,
		why: "nothing runs here: the last run has failed; `{phrase} retry` resumes it"},
	{asks: []Trigger{ByStop}, at: []RunStatus{Finished}, do: Drop, why: "nothing runs here: the last run is done"},
	{asks: []Trigger{ByClosing}, at: []RunStatus{Halted, Failed, Finished}, do: Tidy,
		why: "the run has ended: its status labels are removed"},
	{asks: []Trigger{ByClosing, RunningOff}, do: Ignore, why: "nothing runs here that could be stopped"},

	// Saying something to a run that works.
	{asks: []Trigger{ByHint}, at: []RunStatus{Running}, do: Pass, why: "a turn or the reviewer reads what you said before the run ends; its report names every hint that was not read"},
	{asks: []Trigger{ByHint}, at: []RunStatus{None}, do: Drop,
		why: "nothing runs here that could read it; `{phrase} run` and your words start a run"},
	{asks: []Trigger{ByHint}, at: []RunStatus{Waiting, Halted, Abandoned}, do: Drop,
		why: "the run does not work now, so nothing reads it; `{phrase} continue` and your hint resume it"},
	{asks: []Trigger{ByHint}, do: Drop,
		why: "the run has ended, so nothing reads it; `{phrase} retry` and your hint resume it"},

	// What is closed is not worked on.
	{asks: []Trigger{ByLabel, ByPlanLabel}, on: []Place{OnClosedIssue}, do: Ignore,
		why: "{here} is closed; reopen it, then put the label on again"},
	{asks: []Trigger{ByPullLabel, ByChanges}, on: []Place{OnClosedPull}, do: Ignore,
		why: "{here} is closed; reopen it, or ask on the issue that it was made for"},
	{asks: []Trigger{ByPullLabel, ByChanges}, on: []Place{OnClosedIssue}, do: Ignore,
		why: "{issue} is closed, and a run on it would be for nothing; reopen it, then comment `{phrase} fix`"},
	{asks: append([]Trigger{ByContinue, ByAccept, ByFix, ByFixNowhere, ByPlan, ByApprove}, begins...),
		on:  []Place{OnClosedIssue},
		do:  Drop,
		why: "{issue} is closed; reopen it, then ask again"},
	{asks: append([]Trigger{ByContinue, ByAccept, ByFix, ByPlan, ByApprove}, begins...), on: []Place{OnClosedPull},
		do:  Drop,
		why: "{here} is closed; reopen it, or ask on the issue that it was made for"},

	// One run at a time.
	{asks: []Trigger{ByFix, ByPullLabel, ByChanges}, at: []RunStatus{Running}, do: Drop,
		why: "ralph is running on it; this request was dropped, but nothing is lost: the next one, when the run has ended, " +
			"works on every open thread"},
	{asks: append([]Trigger{ByContinue, ByAccept, ByApprove}, begins...), at: []RunStatus{Running}, do: Drop,
		why: "ralph is already running here; this request was dropped; ask again when the run has ended"},

	// The label, run, retry and the dispatches.
	{asks: begins, at: []RunStatus{None}, do: Begin, why: "this is the first run"},
	{asks: []Trigger{ByRetryFresh, ByDispatchFresh}, do: Begin, why: "a fresh start was requested"},
	{asks: begins, at: stopped, do: GoOn, why: "the last run did not finish, and resumes from there"},
	{asks: []Trigger{ByLabel, ByRetry, ByRetryHint}, at: []RunStatus{Failed}, do: Again,
		why: "the last run failed, and gets another chance with what was tried"},
	{asks: []Trigger{ByRun, ByDispatch}, at: []RunStatus{Failed}, do: Begin,
		why: "the last run failed, and a retry was not asked for"},
	{asks: []Trigger{ByLabel, ByRun, ByDispatch}, at: []RunStatus{Finished}, do: Begin,
		why: "the last run is done, and another one was requested"},
	{asks: []Trigger{ByRetryHint}, at: []RunStatus{Finished}, do: Again,
		why: "the last run is done, and a change was requested"},
	{asks: []Trigger{ByRetry}, at: []RunStatus{Finished}, do: Drop,
		why: "the last run is done; add what to change (`{phrase} retry` and your words), or start over with `{phrase} " +
			"retry --fresh`"},

	// Going on with an answer.
	{asks: []Trigger{ByContinue, ByAccept}, at: []RunStatus{None}, do: Drop,
		why: "there is no run here; `{phrase} run` starts one"},
	{asks: []Trigger{ByContinue}, at: stopped, do: GoOn, why: "the run resumes with your answer"},
	{asks: []Trigger{ByContinue}, at: []RunStatus{Failed}, do: Drop,
		why: "the last run has failed and is not waiting; `{phrase} retry` resumes it"},
	{asks: []Trigger{ByContinue}, at: []RunStatus{Finished}, do: Drop,
		why: "the last run is done and waits for nothing; `{phrase} retry` and your words change its work, `{phrase} fix` addresses the reviews"},

	// Accepting what the run has found.
	{asks: []Trigger{ByAccept}, at: stopped, do: GoOn, why: "the run resumes with what you accepted"},
	{asks: []Trigger{ByAccept}, at: []RunStatus{Failed}, do: Again,
		why: "the last run failed, and gets another chance with what you accepted"},
	{asks: []Trigger{ByAccept}, at: []RunStatus{Finished}, do: Drop,
		why: "the last run is done, and nothing waits to be accepted"},

	// Reviews of people.
	{asks: []Trigger{ByFixNowhere}, at: []RunStatus{Running}, do: Drop,
		why: "there is no pull request yet, so there are no reviews to address; the run is running"},
	{asks: []Trigger{ByFixNowhere}, at: []RunStatus{None}, do: Drop,
		why: "there is no pull request of ralph's here, so there are no reviews to address; `{phrase} run` starts a run"},
	{asks: []Trigger{ByFixNowhere}, do: Drop,
		why: "the run has no pull request, so there are no reviews to address; `{phrase} retry` and your hint resume it"},
	{asks: []Trigger{ByFix, ByPullLabel}, at: []RunStatus{None}, do: Drop,
		why: "ralph has no run that belongs to {here}; ask on the issue"},
	{asks: []Trigger{ByChanges}, at: []RunStatus{None}, do: Ignore, why: "ralph has no run that belongs to {here}; ask on the issue"},
	{asks: []Trigger{ByFix, ByPullLabel, ByChanges}, do: Again,
		why: "the run addresses the reviews, on the same branch"},

	// Plans.
	{asks: []Trigger{ByPlan, ByPlanLabel}, do: Derive,
		why: "a plan is derived from {issue} and posted there, to be edited and approved"},
	{asks: []Trigger{ByApprove}, at: []RunStatus{None, Finished}, do: Begin,
		why: "the newest plan is run as it is written now"},
	{asks: []Trigger{ByApprove}, at: stopped, do: GoOn,
		why: "the run of the plan resumes; a plan that was edited since starts a new one"},
	{asks: []Trigger{ByApprove}, at: []RunStatus{Failed}, do: Again,
		why: "the run of the plan gets another chance; a plan that was edited since starts a new one"},

	// Other workflows. They have no requester, so no one is notified.
	{asks: []Trigger{ByBuildFailed, ByBuild}, at: []RunStatus{Waiting}, do: GoOn,
		why: "another workflow has ended, and the run that waits looks at what it found"},
	{asks: []Trigger{ByBuildFailed}, at: []RunStatus{Finished}, do: GoOn,
		why: "another workflow has failed on what the run made, which goes back to work within the iterations that are left"},
	{asks: []Trigger{ByBuildFailed, ByBuild}, at: []RunStatus{None}, do: Ignore,
		why: "the commit is not on a branch that ralph works on"},
	{asks: []Trigger{ByBuildFailed, ByBuild}, at: []RunStatus{Running}, do: Ignore,
		why: "the run is running and checks other workflows itself"},
	{asks: []Trigger{ByBuildFailed, ByBuild}, do: Ignore, why: "the run does not wait for other workflows"},
}

// RunStatus is how the run of a task stands when someone asks for something.
type RunStatus string

// The standings of a run.
const (
	None      RunStatus = "none"      // there was never one
	Running   RunStatus = "running"   // someone works on it
	Abandoned RunStatus = "abandoned" // its process died, and its lease is over
	Waiting   RunStatus = "waiting"   // for an answer, a limit's reset, or other workflows
	Halted    RunStatus = "halted"    // canceled or stopped by someone
	Failed    RunStatus = "failed"    // a limit stopped it, or something went wrong
	Finished  RunStatus = "finished"  // done
)

// Standings are all of them, in the order of the documents.
var Standings = []RunStatus{None, Running, Abandoned, Waiting, Halted, Failed, Finished}

// Doing is what happens to a request.
type Doing string

// What a request can come to.
const (
	Begin  Doing = "begin"   // a new run
	GoOn   Doing = "resume"  // the run continues where its journal stands
	Again  Doing = "again"   // its outcome is taken back, and it gets more iterations
	Halt   Doing = "stop"    // the process that works on it stops
	Close  Doing = "close"   // no one works on it: its outcome becomes interrupted, so that nothing resumes it
	Pass   Doing = "pass on" // the process that works on it gets a hint
	Tidy   Doing = "tidy"    // the run has ended: the labels that show how it stands come off
	Reply  Doing = "tell"    // one comment, and nothing else
	Derive Doing = "derive"  // a plan, posted as a comment
	TakeUp Doing = "sweep"   // a sweep
	Drop   Doing = "drop"    // nothing, and the requester gets the reason
	Ignore Doing = "ignore"  // nothing, and only the log tells why
)

// Place is where something is asked, which decides what it can be about.
type Place string

// The places.
const (
	OnIssue       Place = "an issue"
	OnClosedIssue Place = "a closed issue"
	OnOwnPull     Place = "ralph's pull request"        // Event.On is set
	OnClosedPull  Place = "ralph's closed pull request" // and Event.OnClosed
	OnOtherPull   Place = "another pull request"
	Nowhere       Place = "the repository" // a dispatch of a prompt or a plan, a schedule, another workflow
)

// Places are all of them, in the order of the documents.
var Places = []Place{OnIssue, OnClosedIssue, OnOwnPull, OnClosedPull, OnOtherPull, Nowhere}
