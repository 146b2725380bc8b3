package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

var signs = map[loop.Outcome]string{loop.Done: "✅", loop.Waiting: "⏸️", loop.Interrupted: "⏹️", loop.Invalid: "⚠️",
	loop.Refused: "⛔"}

func sign(s loop.State) string {
	switch {
	case s.Start.DryRun:
		return "🧪"
	case s.End == nil:
		return "🔄"
	}
	return cmp.Or(signs[s.End.Outcome], "❌")
}

func (v View) runningLine() string {
	s, n := v.State, 0
	if last := s.Last(); last != nil {
		n = last.N
	}
	if s.Turning != nil {
		n = s.Turning.Iteration
	}
	switch {
	case n == 0:
		return "Starting"
	case s.Pause != nil:
		return fmt.Sprintf("Waiting until %s before iteration %d of %d", wording.Clock(s.Pause.Until), n, s.MaxIterations)
	}
	return wording.JoinedBy(": ", fmt.Sprintf("Working: iteration %d of %d", n, s.MaxIterations), v.step())
}

// Doing is what a running run does at this moment, in a sentence without its end: "the coder implements US-001 since
// 05:30 UTC".
func (v View) Doing() string {
	s := v.State
	last := s.Last()
	switch {
	case s.Pause != nil:
		return v.Text(s.Pause.Reason, 300)
	case s.Turning != nil:
		does := wording.Doing(s.Turning.Mode, v.name(s.Turning.Story, 40))
		if onFeedback(s) {
			does = "works on what " + wording.JoinedBy(" ", cmp.Or(v.Code(s.Feedback.By, 60), "other workflows"), "asked for")
		}
		return fmt.Sprintf("the %s %s since %s", cmp.Or(v.Text(string(s.Turning.Role), 20), "agent"), does,
			wording.Clock(s.Turning.At))
	case last == nil && !s.Baselined:
		return "the checks run on the base commit first, to know what already fails"
	case last == nil:
		return "the first iteration is about to begin"
	case last.Commit == nil:
		return "what the agent changed is being committed"
	case !last.Judged:
		return wording.JoinedBy(": ", "the checks run on what the agent changed", v.deciders(s, 5))
	case last.Failure() != nil && last.N < s.MaxIterations:
		return "the next iteration begins with what failed"
	case s.PlanDue:
		return "the plan's file is fixed"
	case s.Plan != nil && !s.Plan.Complete(s.Rules()) && last.N < s.MaxIterations:
		return "the next iteration is about to begin"
	}
	return "the result is being written down"
}

// onFeedback reports whether the turn that runs is the first for what a review of people, or other workflows, asked for.
func onFeedback(s loop.State) bool {
	return s.Feedback != nil && s.Turning.Mode == loop.ReviewFix && s.Turning.Iteration == s.Reopened+1
}

// silent says since when a run that should be working has given no sign of life; "" when it has.
func (v View) silent() string {
	s := v.State
	if s.End != nil || s.Lease.IsZero() || v.Now.IsZero() || !v.Now.After(s.Lease) {
		return ""
	}
	return parts(fmt.Sprintf("⚠️ No sign of life since %s", wording.Clock(s.At)),
		"the process that worked on it seems to be gone", v.Offer("continue", "resumes it"))
}

// details is what happens now, or of a run that has ended what the headline lacks: which limit stopped it, and where
// the work is.
func (v View) details() string {
	s := v.State
	if s.End == nil {
		return safetext.UpperFirst(wording.Sentence(v.Doing()))
	}
	return wording.JoinedBy(" ", v.why(), v.whereKept())
}

// whereKept says where the work of a run is that has ended, unless a pull request is offered for review.
func (v View) whereKept() string {
	s := v.State
	switch {
	case s.End == nil:
		return ""
	case s.End.Outcome == loop.Done && v.pull() != "":
		return ""
	case s.Kept().Name() == "", s.NoDiff() && s.Kept() == s.Branch():
		return ""
	case s.End.Outcome == loop.Done || s.End.ForPull:
		return fmt.Sprintf("The work is on %s.", v.branch(s.Branch()))
	}
	return fmt.Sprintf("Everything that was done is kept on %s.", v.branch(s.Kept()))
}

// headline is the outcome and why, in one line.
func (v View) headline() string {
	return sign(v.State) + " " + wording.JoinedBy(": ", v.outcome(), v.cause())
}

// PlainOutcome is the outcome of a run, or what it does, and why, without Markdown.
func PlainOutcome(v View) (outcome, cause string) {
	v = v.InPlain()
	return v.outcome(), v.cause()
}

// PlainTitle is what the run is about, on one line without Markdown; "" for a prompt.
func (v View) PlainTitle() string { return v.InPlain().Text(v.State.Start.Title, mostCause) }

// outcome is the outcome of a run, or what it does, in a few words, and whether it has no sandbox.
func (v View) outcome() string { return v.ended() + unboxed(v.State) }

// unboxed says that the sandbox is switched off.
func unboxed(s loop.State) string {
	if s.Start.NoSandbox {
		return " (without a sandbox)"
	}
	return ""
}

// ended is the outcome in a few words.
func (v View) ended() string {
	s := v.State
	if s.End == nil {
		return v.runningLine()
	}
	if s.Start.DryRun {
		v.State.Start.DryRun = false
		return "Dry run: " + v.outcome()
	}
	n, o := len(s.Iterations), s.End.Outcome
	words := cmp.Or(endWords[o], "Failed in ralph's own part, not in the work")
	switch {
	case o == loop.Waiting:
		return waitingFor(s)
	case o == loop.Interrupted && n == 0:
		return words + " before the first iteration"
	case o.Limited() && s.MaxIterations > 0:
		return fmt.Sprintf("%s after %d of %s", words, n, safetext.Count(s.MaxIterations, "iteration"))
	case o.Limited(), o == loop.Done, o == loop.Interrupted:
		return words + " after " + safetext.Count(n, "iteration")
	}
	return words
}

// endWords are the outcomes in words.
var endWords = map[loop.Outcome]string{loop.Done: "Done", loop.Capped: "Stopped", loop.Stuck: "Stuck",
	loop.Timeout: "Stopped by the time limit", loop.Budget: "Stopped by the budget", loop.Invalid: "Cannot run",
	loop.Interrupted: "Interrupted", loop.Refused: "Refused"}

// cause is the reason for the outcome: what still fails after a limit, what passed if the run is done, otherwise the
// reason of the run's end.
func (v View) cause() string {
	s := v.State
	if s.End == nil {
		return ""
	}
	cause := ""
	switch {
	case s.End.Outcome == loop.Done && len(s.End.Conflicts) > 0:
		cause = wording.JoinedBy(", ", v.proof(), "but it conflicts with "+v.Code(s.Start.BaseBranch, 60))
	case s.End.Outcome == loop.Done:
		cause = v.proof()
	case s.End.Outcome.Limited():
		cause = cmp.Or(v.failing(), v.openStory())
	case s.End.ForPull:
		cause = wording.JoinedBy(", ", v.proof(), "and the work is pushed")
	case s.End.Outcome == loop.Waiting && s.Waits:
		cause = v.asking()
	}
	if cause == "" && s.End.Outcome != loop.Done &&
		(s.End.Outcome != loop.Capped || !onlyCount.MatchString(s.End.Reason)) {
		cause = v.Text(untilReset.ReplaceAllString(s.End.Reason, ""), mostReason)
	}
	return wording.JoinedBy("; ", cause, Tally(v.State))
}

// untilReset is the end of a reason that the headline tells anyhow.
var untilReset = regex.Lazy(` until \d{4}-\d\d-\d\dT[0-9:.+Z-]*: try again after that$`)

// proof is what a run that is done has passed.
func (v View) proof() string {
	it := v.State.LastJudged()
	if v.State.NoDiff() && v.State.Start.Branch != "" {
		return "nothing was left to change"
	}
	if it == nil {
		return ""
	}
	if !v.State.Verified() {
		return "unverified, " + onlyWord
	}
	var commands []string
	reviewed := false
	for _, c := range it.Verdicts {
		switch {
		case !c.Pass || c.Skipped != "":
		case c.Check == loop.ReviewCheck:
			reviewed = len(c.Concerns) == 0 // otherwise a person accepts a missing review
		case slices.Contains(v.State.Start.Checks, c.Check):
			commands = append(commands, v.Code(c.Check, 60))
		}
	}
	text := ""
	switch n := len(commands); {
	case n > 2:
		text = fmt.Sprintf("all %d checks pass", n)
	case n > 0:
		text = strings.Join(commands, " and ") + safetext.Plural(n, " passes", " pass")
	}
	if reviewed {
		text = wording.JoinedBy(", ", text, "the reviewer approves")
	}
	return text
}

// onlyWord is what an unverified success rests on.
const onlyWord = "no check and no reviewer has looked at the work; only the agent says that it is done"

// failing is what is in the way of the work, in one phrase: the check that still fails, and where or why.
func (v View) failing() string {
	f := v.State.Failure()
	if f == nil {
		return ""
	}
	switch {
	case f.Check == loop.ReviewCheck:
		return v.refusal(*f)
	case ownChecks[f.Check] && f.Reason != "":
		return v.Text(f.Reason, mostCause)
	}
	return wording.JoinedBy(" — ", v.Code(f.Check, 60)+" still fails", v.failureInBrief(*f))
}

// refusal is why a reviewer does not approve.
func (w Words) refusal(f loop.Verdict) string {
	if f.Reason == "" || f.Reason == asksForChanges {
		return wording.JoinedBy(" — ", asksForChanges, w.firstLine(f.Output))
	}
	return w.Text(f.Reason, mostCause)
}

const asksForChanges = "the reviewer asks for changes"

// ownChecks are those whose reason says more to people than their name does.
var ownChecks = map[string]bool{loop.AgentCheck: true, loop.ClaimCheck: true, loop.DiffCheck: true,
	loop.PlanCheck: true}

// openStory is the first story of a plan that is not done, with what its review asked for.
func (v View) openStory() string {
	if v.State.Plan == nil {
		return ""
	}
	for _, st := range v.State.Plan.Stories {
		if !st.Done(v.State.Rules()) {
			return wording.JoinedBy(" — ", v.storyID(st)+" is not done", v.Text(st.ReviewFeedback, mostCause))
		}
	}
	return ""
}

// exited begins a reason that continues with what was printed.
var exited = regex.Lazy(`^it exited with code \d+: `)

// failureInBrief is the first place that a failure names with what is wrong there, else its reason.
func (w Words) failureInBrief(f loop.Verdict) string {
	if len(f.Findings) > 0 {
		return w.Text(wording.JoinedBy(": ", wording.Place(f.Findings[0]), wording.Said(f.Findings[0])), mostCause)
	}
	return w.Text(exited.ReplaceAllString(f.Reason, ""), mostCause)
}

// Notice is how a run ended and what to do next in one line of plain text, for a log.
func Notice(v View) string {
	v = v.InPlain()
	return wording.JoinedBy(". What now: ", wording.JoinedBy(": ", v.outcome(), v.cause()), v.Next())
}

// EndText is what a console says when a run has ended, line by line in plain text: how, why, and what to do next.
func EndText(v View) (lines []string) {
	v = v.InPlain()
	s := v.State
	if s.End == nil {
		return nil
	}
	add := func(what, text string) {
		if text != "" {
			lines = append(lines, what+text)
		}
	}
	n := len(s.Iterations)
	switch o := s.End.Outcome; {
	case o == loop.Done:
		add("SUCCESS: ", s.Start.Name()+" completed in "+safetext.Count(n, "iteration"))
		if s.Verified() {
			add("Verified: ", v.cause())
		} else {
			add("Unverified: ", onlyWord)
		}
		add("Look first at: what was ", v.takenInPlain())
	case o.Limited():
		word := strings.ToUpper(string(o))
		if o == loop.Capped {
			word = "CAP HIT"
		}
		add(word+": ", wording.JoinedBy(": ", s.Start.Name()+" failed after "+safetext.Count(n, "attempt"), v.cause()))
		if why := v.why(); why != "" {
			add("Why it stopped: ", safetext.OneLine(v.Clean(s.End.Reason)))
		}
	default:
		until := ""
		if !s.End.Until.IsZero() {
			until = " until " + s.End.Until.UTC().Format("2006-01-02 15:04 UTC")
		}
		add(string(o)+until+": ", safetext.OneLine(v.Clean(s.End.Reason)))
	}
	if ids := s.AtCap(); len(ids) > 0 {
		add(plan.AtCap+" ", wording.Brief(v.Clean(strings.Join(ids, ", ")), 200))
	}
	lines = append(lines, v.openHints()...)
	add("What now: ", v.Next())
	if o := s.End.Outcome; v.local() && o.Limited() && s.Start.Branch != "" {
		add("Or take over: ", advice{v}.reproduce())
	}
	return lines
}

// Next is what to do about a run next, in plain text; "" for nothing.
func (v View) Next() string {
	_, next := advice{v.InPlain()}.whatNow()
	return next
}

// why says which limit ended the run, where the headline does not; "" where it does.
func (v View) why() string {
	end := v.State.End
	if end == nil || !end.Outcome.Limited() || v.failing()+v.openStory() == "" || end.Outcome == loop.Capped &&
		onlyCount.MatchString(end.Reason) {
		return ""
	}
	return safetext.UpperFirst(wording.Sentence(v.Text(end.Reason, 300)))
}

// onlyCount is a reason that says no more than how many iterations there were.
var onlyCount = regex.Lazy(`^\d+ of \d+ iterations are used up(; \d+ of \d+ stories are approved)?$`)

// step names the story that the run is at, with its mode: "US-002, review 2 of 5"; "" without one.
func (v View) step() string {
	id := current(v.State)
	if id == "" {
		return ""
	}
	mode := loop.Mode("")
	if t := v.State.Turning; t != nil {
		mode = t.Mode
	} else if last := v.State.Last(); last != nil {
		mode = last.Mode
	}
	text := v.name(id, 40) + ", " + v.Text(string(mode), 20)
	if st := v.State.Plan.Story(id); st != nil && mode == loop.Review {
		text += fmt.Sprintf(" %d of %d", reviewOf(v.State, *st), v.State.Rules().ReviewCap)
	}
	return text
}
