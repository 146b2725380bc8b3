package event

// row is one rule: what becomes of something that is asked in one of these ways, on one of these places, while the run
// stands in one of these ways. An empty list stands for all.
type row struct {
	asks []Asking
	on   []Place
	at   []Standing
	do   Doing
	why  string // one sentence without its full stop, for the log and for whoever asked; see filled
}

// stopped are the standings of a run that nobody works on and that has not come to its end.
var stopped = []Standing{Abandoned, Waiting, Halted}

// begins are the ways of asking that want a run.
var begins = []Asking{ByLabel, ByRun, ByRetry, ByRetryHint, ByRetryFresh, ByDispatch, ByDispatchFresh}

// rows are the rules. The first one that fits holds; a test sees to it that every case has one and every one a case.
var rows = []row{
	// What asks for nothing, however the run stands.
	{asks: []Asking{OtherLabel}, do: Ignore, why: "the label is {the label}, not “{label}” or “{label}:plan”"},
	{asks: []Asking{OtherLabelOff}, do: Ignore, why: "the label {the label} was taken off, which asks for nothing"},
	{asks: []Asking{RequestOff}, do: Ignore,
		why: "taking {the label} off withdraws a request that has not started, and nothing else; `{phrase} stop` stops a run"},
	{asks: []Asking{OtherPullLabel}, do: Ignore,
		why: "a plan is made of an issue, not of a pull request; put “{label}:plan” on an issue"},
	{asks: []Asking{PlainComment}, do: Ignore, why: "the comment does not begin with {phrase}"},
	{asks: []Asking{EditedComment}, do: Ignore, why: "the comment was edited; write a new one"},
	{asks: []Asking{EditedIssue}, do: Ignore, why: "editing asks for nothing, and a run that is under way keeps the " +
		"text that it was asked for; ask again with `{phrase} retry` when it has ended"},
	{asks: []Asking{PlainReview}, do: Ignore, why: "the review requests no changes and does not begin with {phrase}"},
	{asks: []Asking{BuildUngated}, do: Ignore,
		why: "the input ci_gate is off, so what other workflows find changes nothing"},
	{asks: []Asking{BuildOfFork}, do: Ignore,
		why: "the commit is in a fork, and ralph works on branches of this repository alone"},
	{asks: []Asking{Anything}, do: Ignore, why: "ralph does nothing on {event}"},

	// What is answered wherever it is asked.
	{asks: []Asking{ByHelp}, do: Tell, why: "this is what ralph understands"},
	{asks: []Asking{ByStatus}, do: Tell, why: "this is how the run stands"},
	{asks: []Asking{BySchedule}, do: TakeUp,
		why: "runs that wait or were abandoned, and requests that nothing picked up, are taken up"},

	// Pull requests of others.
	{asks: []Asking{ByPullLabel, ByChanges, ByClosing, RunningOff}, on: []Place{OnOtherPull}, do: Ignore,
		why: "{here} is not one that ralph opened; ask on an issue, with the label “{label}” or `{phrase} run`"},
	{asks: append([]Asking{ByContinue, ByAccept, ByFix, ByStop, ByHint, ByPlan, ByApprove}, begins...),
		on:  []Place{OnOtherPull},
		do:  Drop,
		why: "{here} is not one that ralph opened for an issue; ask on an issue"},

	// Stopping: what is done is kept.
	{asks: []Asking{ByStop, ByClosing, RunningOff}, at: []Standing{Running}, do: Halt,
		why: "the run is stopped, and what it has done is kept"},
	{asks: []Asking{ByStop, ByClosing, RunningOff}, at: []Standing{Abandoned, Waiting}, do: Close,
		why: "nobody works on the run now; it is marked as stopped, so that nothing takes it up by itself"},
	{asks: []Asking{ByStop}, at: []Standing{None}, do: Drop, why: "nothing runs here; `{phrase} run` starts a run"},
	{asks: []Asking{ByStop}, at: []Standing{Halted}, do: Drop,
		why: "nothing runs here: the last run was stopped already; `{phrase} continue` goes on with it"},
	{asks: []Asking{ByStop}, at: []Standing{Failed}, do: Drop,
		why: "nothing runs here: the last run has failed; `{phrase} retry` goes on from it"},
	{asks: []Asking{ByStop}, at: []Standing{Finished}, do: Drop, why: "nothing runs here: the last run is done"},
	{asks: []Asking{ByClosing}, at: []Standing{Halted, Failed, Finished}, do: Tidy,
		why: "the run has ended, and nobody waits for it any more: the labels that show how it stands come off"},
	{asks: []Asking{ByClosing, RunningOff}, do: Ignore, why: "nothing runs here that could be stopped"},

	// Saying something to a run that works.
	{asks: []Asking{ByHint}, at: []Standing{Running}, do: Pass, why: "the run's next turn reads what you said"},
	{asks: []Asking{ByHint}, at: []Standing{None}, do: Drop,
		why: "nothing runs here that could read it; `{phrase} run` and your words start a run"},
	{asks: []Asking{ByHint}, at: []Standing{Waiting, Halted, Abandoned}, do: Drop,
		why: "the run does not work now, so nothing reads it; `{phrase} continue` and your words go on with it"},
	{asks: []Asking{ByHint}, do: Drop,
		why: "the run has ended, so nothing reads it; `{phrase} retry` and your words go on from it"},

	// What is closed is not worked on.
	{asks: []Asking{ByLabel, ByPlanLabel}, on: []Place{OnClosedIssue}, do: Ignore,
		why: "{here} is closed; reopen it, then put the label on again"},
	{asks: []Asking{ByPullLabel, ByChanges}, on: []Place{OnClosedPull}, do: Ignore,
		why: "{here} is closed; reopen it, or ask on the issue that it was made for"},
	{asks: []Asking{ByPullLabel, ByChanges}, on: []Place{OnClosedIssue}, do: Ignore,
		why: "{issue} is closed, and a run on it would be for nothing; reopen it, then comment `{phrase} fix`"},
	{asks: append([]Asking{ByContinue, ByAccept, ByFix, ByFixNowhere, ByPlan, ByApprove}, begins...),
		on:  []Place{OnClosedIssue},
		do:  Drop,
		why: "{issue} is closed; reopen it, then ask again"},
	{asks: append([]Asking{ByContinue, ByAccept, ByFix, ByPlan, ByApprove}, begins...), on: []Place{OnClosedPull},
		do:  Drop,
		why: "{here} is closed; reopen it, or ask on the issue that it was made for"},

	// One run at a time.
	{asks: []Asking{ByFix, ByPullLabel, ByChanges}, at: []Standing{Running}, do: Drop,
		why: "ralph is at work on it; this request was dropped, but nothing is lost: when the run has ended, `{phrase} " +
			"fix` takes up every open thread"},
	{asks: []Asking{ByContinue}, at: []Standing{Running}, do: Drop,
		why: "the run does not wait: ralph is at work on it; this request was dropped, so say it again with `{phrase} " +
			"retry` when the run has ended"},
	{asks: []Asking{ByAccept}, at: []Standing{Running}, do: Drop,
		why: "the run does not wait: ralph is at work on it; this request was dropped, so say it again when the run asks for " +
			"it"},
	{asks: append([]Asking{ByApprove}, begins...), at: []Standing{Running}, do: Drop,
		why: "ralph is already running here; this request was dropped; ask again when the run has ended, or end it with " +
			"`{phrase} stop`"},

	// The label, run, retry and the dispatches.
	{asks: begins, at: []Standing{None}, do: Begin, why: "this is the first run"},
	{asks: []Asking{ByRetryFresh, ByDispatchFresh}, do: Begin, why: "a fresh start was asked for"},
	{asks: begins, at: stopped, do: GoOn, why: "the last run did not come to its end, and goes on where it stands"},
	{asks: []Asking{ByLabel, ByRetry, ByRetryHint}, at: []Standing{Failed}, do: Again,
		why: "the last run failed, and gets another chance with what was tried"},
	{asks: []Asking{ByRun, ByDispatch}, at: []Standing{Failed}, do: Begin,
		why: "the last run failed, and a retry was not asked for"},
	{asks: []Asking{ByLabel, ByRun, ByDispatch}, at: []Standing{Finished}, do: Begin,
		why: "the last run is done, and another one was asked for"},
	{asks: []Asking{ByRetryHint}, at: []Standing{Finished}, do: Again,
		why: "the last run is done, and a change was asked for"},
	{asks: []Asking{ByRetry}, at: []Standing{Finished}, do: Drop,
		why: "the last run is done; say what to change (`{phrase} retry` and your words), or begin again with `{phrase} " +
			"retry --fresh`"},

	// Going on with an answer.
	{asks: []Asking{ByContinue}, at: []Standing{None}, do: Drop,
		why: "there is no run to continue; `{phrase} run` starts one"},
	{asks: []Asking{ByContinue}, at: stopped, do: GoOn, why: "the run goes on where it stands, with what you said"},
	{asks: []Asking{ByContinue}, at: []Standing{Failed}, do: Drop,
		why: "the last run has failed and waits for nothing; `{phrase} retry` goes on from it"},
	{asks: []Asking{ByContinue}, at: []Standing{Finished}, do: Drop,
		why: "the last run is done and waits for nothing; `{phrase} retry` and your words change what it made, `{phrase} " +
			"fix` takes up the reviews"},

	// Accepting what the run has found.
	{asks: []Asking{ByAccept}, at: []Standing{None}, do: Drop,
		why: "there is no run whose findings could be accepted; `{phrase} run` starts one"},
	{asks: []Asking{ByAccept}, at: stopped, do: GoOn, why: "the run goes on where it stands, with what you accepted"},
	{asks: []Asking{ByAccept}, at: []Standing{Failed}, do: Again,
		why: "the last run failed, and gets another chance with what you accepted"},
	{asks: []Asking{ByAccept}, at: []Standing{Finished}, do: Drop,
		why: "the last run is done, and nothing waits to be accepted"},

	// Reviews of people.
	{asks: []Asking{ByFixNowhere}, at: []Standing{Running}, do: Drop,
		why: "there is no pull request yet, so there are no reviews to take up; ralph is at work on it"},
	{asks: []Asking{ByFixNowhere}, at: []Standing{None}, do: Drop,
		why: "there is no pull request of ralph's here, so there are no reviews to take up; `{phrase} run` starts a run"},
	{asks: []Asking{ByFixNowhere}, do: Drop,
		why: "the run has no pull request, so there are no reviews to take up; `{phrase} retry` and your words go on with it"},
	{asks: []Asking{ByFix, ByPullLabel}, at: []Standing{None}, do: Drop,
		why: "ralph knows of no run that belongs to {here}; `{phrase} run` on the issue starts one"},
	{asks: []Asking{ByChanges}, at: []Standing{None}, do: Ignore,
		why: "ralph knows of no run that belongs to {here}; `{phrase} run` on the issue starts one"},
	{asks: []Asking{ByFix, ByPullLabel, ByChanges}, do: Again,
		why: "the run takes up what the reviews ask for, on the same branch"},

	// Plans.
	{asks: []Asking{ByPlan, ByPlanLabel}, do: Derive,
		why: "a plan is derived from {issue} and posted there, to be edited and approved"},
	{asks: []Asking{ByApprove}, at: []Standing{None, Finished}, do: Begin,
		why: "the newest plan is run as it is written now"},
	{asks: []Asking{ByApprove}, at: stopped, do: GoOn,
		why: "the run of the plan goes on where it stands; a plan that was edited since starts a new one"},
	{asks: []Asking{ByApprove}, at: []Standing{Failed}, do: Again,
		why: "the run of the plan gets another chance; a plan that was edited since starts a new one"},

	// Other workflows. Nobody asks here, so nobody is told.
	{asks: []Asking{ByBuildFailed, ByBuild}, at: []Standing{Waiting}, do: GoOn,
		why: "another workflow has ended, and the run that waits looks at what it found"},
	{asks: []Asking{ByBuildFailed}, at: []Standing{Finished}, do: GoOn,
		why: "another workflow has failed on what the run made, which goes back to work within the iterations that are left"},
	{asks: []Asking{ByBuildFailed, ByBuild}, at: []Standing{None}, do: Ignore,
		why: "the commit is not on a branch that ralph works on"},
	{asks: []Asking{ByBuildFailed, ByBuild}, at: []Standing{Running}, do: Ignore,
		why: "the run is at work and looks at other workflows itself"},
	{asks: []Asking{ByBuildFailed, ByBuild}, do: Ignore, why: "the run does not wait for other workflows"},
}
