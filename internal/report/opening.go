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

// details is what happens now, or of a run that has ended what the headline does not tell: which limit stopped it, and
// where the work is.
func (v View) details() string {
	s := v.State
	if s.End == nil {
		return v.now()
	}
	return wording.JoinedBy(" ", hashed.ReplaceAllString(v.why(), ""), v.whereKept())
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

// hashed is how a reason names a failure's signature. The failure report has a table of them; where there is none, it
// says nothing to anyone.
var hashed = regex.Lazy(` \(error hash [0-9a-f]{1,16}\)`)

// Every report begins the same way: what the run came to, why, and what to do next. Whoever reads the first two
// sentences on a phone knows all three.

// headline is what the run came to and why, in one line.
func (v View) headline() string {
	return v.sign() + " " + wording.JoinedBy(": ", v.outcome(), v.cause())
}

// PlainOutcome is what a run came to, or what it does, and why, without Markdown.
func PlainOutcome(v View) (outcome, cause string) {
	v = v.inPlain()
	return v.outcome(), v.cause()
}

// PlainTitle is what the run is about, on one line without Markdown; "" for a prompt.
func (v View) PlainTitle() string { return v.inPlain().Text(v.State.Start.Title, mostCause) }

// stoppedShort reports whether a limit ended the run, so that there is a failure report.
func (v View) stoppedShort() bool { return v.State.End != nil && v.State.End.Outcome.Limited() }

// outcome is what the run came to, or what it does, in a few words, and that nothing has isolated it.
func (v View) outcome() string { return v.ended() + v.unboxed() }

// unboxed says that the sandbox is switched off.
func (v View) unboxed() string {
	if v.State.Start.NoSandbox {
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
	n := len(s.Iterations)
	after := "after " + safetext.Count(n, "iteration")
	if most := s.MaxIterations; most > 0 && s.End.Outcome.Limited() {
		after = fmt.Sprintf("after %d of %s", n, safetext.Count(most, "iteration"))
	}
	switch s.End.Outcome {
	case loop.Done:
		return "Done " + after
	case loop.Capped:
		return "Stopped " + after
	case loop.Stuck:
		return "Stuck " + after
	case loop.Timeout:
		return "Stopped by the time limit " + after
	case loop.Budget:
		return "Stopped by the budget " + after
	case loop.Invalid:
		return "Cannot run"
	case loop.Waiting:
		return v.waitingFor()
	case loop.Interrupted:
		if n == 0 {
			return "Interrupted before the first iteration"
		}
		return "Interrupted " + after
	case loop.Refused:
		return "Refused"
	}
	return "Failed in ralph's own part, not in the work"
}

// waitingFor says what a run waits for.
func (v View) waitingFor() string {
	switch end := v.State.End; {
	case end.ForPull:
		return "Waiting for its pull request"
	case v.waitsToAccept(loop.NothingToDo):
		return "Waiting for your answer"
	case v.waitsToAccept(loop.Unreviewed):
		return "Waiting for a review"
	case len(v.State.ToAccept()) > 0:
		return "Waiting for you to accept what was found"
	case v.waitsForOthers():
		return "Waiting for other workflows"
	case !end.Until.IsZero():
		return "Waiting until " + end.Until.UTC().Format("2006-01-02 15:04 UTC")
	case v.State.Waits:
		return "Waiting for your answer"
	case v.State.Unable > 0:
		return "Waiting for an agent that can work"
	case v.waitsForReader():
		return "Waiting for the reviewer"
	case v.waitsForModel():
		return "Waiting for the model"
	case v.waitsForLimit():
		return "Waiting for a usage limit's reset, at an unknown time"
	}
	return "Waiting"
}

// mostCause is how many characters of someone else's words a headline has.
const mostCause = 160

// mostReason is the same of a reason that has to be read to be acted on.
const mostReason = 240

// cause is why the run came to what it did: of one that a limit stopped what still fails, of one that is done what
// passed, else the reason.
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
		cause = v.Text(untilReset.ReplaceAllString(hashed.ReplaceAllString(s.End.Reason, ""), ""), mostReason)
	}
	return wording.JoinedBy("; ", cause, v.Tally())
}

// untilReset is the end of a reason that the headline tells anyhow.
var untilReset = regex.Lazy(` until \d{4}-\d\d-\d\dT[0-9:.+Z-]*: try again after that$`)

// proof is what a run that is done has passed.
func (v View) proof() string {
	it := v.Judged()
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
			reviewed = len(c.Concerns) == 0 // else a person accepts that there is none
		case v.isCommand(c.Check):
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
const onlyWord = "nothing that could say no has looked at the work, only the agent's own word says that it is done"

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
func (v View) refusal(f loop.Verdict) string {
	if f.Reason == "" || f.Reason == asksForChanges {
		return wording.JoinedBy(" — ", asksForChanges, v.firstLine(f.Output))
	}
	return v.Text(f.Reason, mostCause)
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
		if !v.StoryDone(st) {
			return wording.JoinedBy(" — ", v.storyID(st)+" is not done", v.Text(st.ReviewFeedback, mostCause))
		}
	}
	return ""
}

// isCommand reports whether a check is one of the commands that the repository has.
func (v View) isCommand(check string) bool {
	return slices.Contains(v.State.Start.Checks, check)
}

// exited begins a reason that continues with what was printed.
var exited = regex.Lazy(`^it exited with code \d+: `)

// failureInBrief is the first place that a failure names with what is wrong there, else its reason.
func (v View) failureInBrief(f loop.Verdict) string {
	if len(f.Findings) > 0 {
		return v.Text(wording.JoinedBy(": ", wording.Place(f.Findings[0]), wording.Said(f.Findings[0])), mostCause)
	}
	return v.Text(exited.ReplaceAllString(f.Reason, ""), mostCause)
}

// asking is the beginning of the question that the agent asks.
func (v View) asking() string {
	last := v.State.Last()
	if last == nil {
		return ""
	}
	if question := v.firstLine(v.asked(last)); question != "" {
		return "“" + question + "”"
	}
	return ""
}

// asked is what an agent says that waits for an answer: its question, if it asks one.
func (v View) asked(it *loop.Iteration) string {
	if it.Turn.Claim.Asks() {
		return it.Turn.Claim.Text
	}
	return wording.Spoken(it)
}

// firstLine is the first line of a text that says anything.
func (v View) firstLine(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return v.Text(first, mostCause)
}

// Notice is how a run ended and what to do next in one line of plain text, for a log.
func Notice(v View) string {
	v = v.inPlain()
	return wording.JoinedBy(". What now: ", wording.JoinedBy(": ", v.outcome(), v.cause()), v.nextInPlain())
}

// EndText is what a console says when a run has ended, line by line in plain text: how, why, and what to do next.
func EndText(v View) (lines []string) {
	v = v.inPlain()
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
	add("What now: ", v.nextInPlain())
	if o := s.End.Outcome; v.local() && o.Limited() && s.Start.Branch != "" {
		add("Or take over: ", v.reproduce())
	}
	return lines
}

// nextInPlain is what to do next, without its heading.
func (v View) nextInPlain() string { return strings.TrimPrefix(v.whatNow(), whatNowIs) }

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

// openHints names the hints that a run which has ended did not read, or did not get done.
func (v View) openHints() (lines []string) {
	s := v.State
	for _, h := range s.Hints {
		text := fmt.Sprintf("“%s”", v.Text(h.Text, mostCause))
		if by := v.Text(h.By, 60); by != "" {
			text += " from " + by
		}
		switch {
		case s.End == nil || s.End.Outcome == loop.Invalid && h.ID == "":
		case h.ReadIn == 0:
			lines = append(lines, "Hint not read: "+text)
		case h.Undone && s.Back != nil:
			text = fmt.Sprintf("Hint not done: %s. The result was not approved: %s", text, v.Text(s.Back.Reason, mostReason))
			if kept := v.branch(s.GivenUp()); kept != "" {
				text += "; it is kept on " + kept
			}
			lines = append(lines, text)
		}
	}
	return lines
}
