package loop

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// Do is what a run does next.
type Do string

// The steps of a run.
const (
	TakeTurn   Do = "turn"
	Wait       Do = "wait" // until a time, then ask again
	MakeCommit Do = "commit"
	Judge      Do = "judge"
	Correct    Do = "correct" // of a plan: its file is made to say what counts
	GoBack     Do = "go back" // to the iteration that was done before the turn for a hint
	Stop       Do = "stop"
)

// Step is one decision with its reason.
type Step struct {
	Do        Do
	Iteration int
	Mode      Mode
	Role      task.Role // of a turn: who takes it
	Story     string    // of a turn for a plan: the story that it is for
	Tier      Tier      // of a turn: how far the run is escalated
	Outcome   Outcome   // of Stop
	Reason    string    // of Stop and Wait: one sentence
	Until     time.Time // of Wait, and of Stop with Waiting: when it continues
}

// Next says what a run does now: one more step, or an outcome with its reason. It reads nothing but its arguments.
// Completion is examined before any limit, so a claim that holds on the last allowed iteration counts; and so is what
// costs nothing, waiting for an answer. A model's reset is not waited for when nothing is left to ask it with.
func Next(s State, limits Limits, now time.Time) Step {
	if s.End != nil {
		return Step{Do: Stop, Outcome: s.End.Outcome, Reason: s.End.Reason}
	}
	return s.orHint(s.next(limits, now), limits, now)
}

// next is Next without hints, for a run that has not ended.
func (s State) next(limits Limits, now time.Time) Step {
	last := s.Last()
	if last != nil && s.Turning == nil {
		switch _, spent := limits.Left(s); {
		case last.Commit == nil:
			return Step{Do: MakeCommit, Iteration: last.N, Mode: last.Mode}
		case s.PlanDue:
			return Step{Do: Correct, Iteration: last.N, Mode: last.Mode, Story: last.Story}
		case last.hopeless() && last.N > s.Reopened:
			return Step{Do: Stop, Outcome: Invalid, Reason: last.Turn.Reason}
		case s.Waits:
			return Step{Do: Stop, Outcome: Waiting, Reason: last.Turn.question()}
		case s.Unable > 0:
			if step := s.again(limits, now); step.Do != TakeTurn {
				return step
			}
		case s.FailInRow > 0 && spent == "":
			if step := retry(s, limits, now); step.Do != TakeTurn {
				return step
			}
		case !last.Judged && s.counts(*last):
			return Step{Do: Judge, Iteration: last.N, Mode: last.Mode}
		case s.finished(*last) && last.N > s.Reopened:
			return Step{Do: Stop, Outcome: Done, Reason: s.DoneReason()}
		case last.Unfixable() != nil && last.N > s.Reopened:
			return Step{Do: Stop, Outcome: Invalid, Reason: last.Unfixable().Reason}
		case s.silence() != "" && last.N > s.Reopened:
			return Step{Do: Stop, Outcome: Waiting, Reason: s.silence()}
		case last.unanswered() != nil && last.N > s.Reopened:
			return Step{Do: Stop, Outcome: Waiting, Reason: last.unanswered().Reason, Until: last.unanswered().Until}
		}
	}
	return s.nextTurn(limits, now)
}

// nextTurn takes one more turn, unless a limit has been reached. That a run is stuck says more than that its cap falls
// on the same attempt, and that its money is spent more than that its time is over: more time would not help.
func (s State) nextTurn(limits Limits, now time.Time) Step {
	n, role := s.nextNumber(), s.nextRole()
	mode, story, spent := s.nextStory()
	tier, why := Moving, ""
	if s.Turning != nil {
		role, tier = cmp.Or(s.Turning.Role, task.Coder), s.Turning.Tier
	} else if !limits.NoStuckDetection {
		tier, why = s.ladder()
	}
	most := s.Start.Caps[role]
	stopped, overspent := s.overspent(limits)
	switch {
	case stopped != "":
		return Step{Do: Stop, Outcome: Budget, Reason: stopped}
	case tier == HardStop:
		return Step{Do: Stop, Outcome: Stuck, Reason: why}
	case spent != "":
		return Step{Do: Stop, Outcome: Stuck, Reason: spent}
	case overspent != "":
		return Step{Do: Stop, Outcome: Budget, Reason: overspent}
	case limits.over(now):
		return Step{Do: Stop, Outcome: Timeout, Reason: fmt.Sprintf("the run's time limit of %s is over", safetext.Duration(limits.Wall))}
	case s.MaxIterations > 0 && n > s.MaxIterations:
		return Step{Do: Stop, Outcome: Capped, Reason: s.capReason(n - 1)}
	case s.readersCap() != "":
		return Step{Do: Stop, Outcome: Capped, Reason: s.readersCap()}
	case most > 0 && safetext.CountFunc(s.sinceAsked(), func(it *Iteration) bool { return it.Judged && it.Role == role }) >= most:
		return Step{Do: Stop, Outcome: Capped, Reason: fmt.Sprintf("the %s has taken %s, which is its cap", role, safetext.Count(most, "turn"))}
	}
	return Step{Do: TakeTurn, Iteration: n, Mode: mode, Story: story, Role: role, Tier: tier}
}

// capReason says that the cap is reached, and what was missing at the end.
func (s State) capReason(used int) string {
	why := fmt.Sprintf("%d of %d iterations are used up", used, s.MaxIterations)
	if s.Plan != nil {
		return why + fmt.Sprintf("; %d of %d stories are approved", s.Plan.Passed(), len(s.Plan.Stories))
	}
	last := s.LastJudged()
	if last == nil || s.Start.Completion == nil {
		return why
	}
	f := last.Failure()
	switch {
	case f == nil:
	case f.Check == ClaimCheck && last.Turn.Claim.Tag == "":
		why += ". Max iterations reached without completion promise"
	case f.Check == ClaimCheck:
		why += ". Max iterations reached. Last verification: " + f.Reason
	case f.Verification:
		why += ". Max iterations reached. Last verification: " + f.Reason
	}
	return why
}

func (s State) nextNumber() int {
	if s.Turning != nil {
		return s.Turning.Iteration
	}
	last := s.Last()
	switch {
	case last == nil:
		return 1
	case !last.Judged: // it did not count
		return last.N
	}
	return last.N + 1
}

// nextMode is review-fix when only the reviewer is in the way, or when the run continues for a review that no
// iteration has answered yet; else implement.
func (s State) nextMode() Mode {
	if s.feedbackDue() {
		return ReviewFix
	}
	if f := s.Failure(); f != nil && (f.Check == ReviewCheck || f.Role.ReadOnly()) {
		return ReviewFix
	}
	return Implement
}

// nextStory is what the next turn is for, in a plan with its story. spent says why there can be no turn.
func (s State) nextStory() (mode Mode, id, spent string) {
	if s.Plan == nil {
		return s.nextMode(), "", ""
	}
	rules := s.Rules()
	mode = s.Plan.Mode(rules)
	story, ok := s.Plan.Next(mode, rules)
	switch {
	case !ok:
		return mode, "", fmt.Sprintf("no story is left that can be done, and %d of %d are not approved",
			len(s.Plan.Stories)-s.Plan.Passed(), len(s.Plan.Stories))
	case mode == ReviewFix && rules.FailAtCap && story.ReviewCount >= rules.ReviewCap && !s.ApprovedLast(story.ID):
		return mode, "", fmt.Sprintf("%s has had %s, and the last one asks for changes: %s", story.ID,
			safetext.Count(story.ReviewCount, "review"), safetext.Shorten(safetext.FirstLine(story.ReviewFeedback), 200))
	case mode == Review && story.ReviewCount > rules.ReviewCap: // it was approved at the cap, and its checks failed, twice
		return mode, "", fmt.Sprintf("%s has been reviewed %d times, and its checks still fail", story.ID, story.ReviewCount)
	}
	return mode, story.ID, ""
}

// Request is a request for a run, as far as it matters to a run that already exists.
type Request struct {
	Retry bool // continue from what was tried: a retry, or the label put back
	Fresh bool // begin at the base again
	Hint  bool // with words on what to change
	Owner string
}

// ResumeMode is what happens to a request.
type ResumeMode string

// The ways to take a request up.
const (
	Begin    ResumeMode = "begin"    // a new run
	Continue ResumeMode = "continue" // the run continues where its journal stands
	Again    ResumeMode = "again"    // its outcome is taken back, and it gets more iterations
	Held     ResumeMode = "held"     // someone else works on it
	Nothing  ResumeMode = "nothing"  // there is nothing to do
)

// TakeUp says whether a request starts a run or continues with the one of the journal, and why. known is false when
// there is no journal.
func TakeUp(s State, known bool, asked Request, now time.Time) (ResumeMode, string) {
	if !known {
		return Begin, "this is the first run"
	}
	if s.End == nil && now.Before(s.Lease) && s.Owner != asked.Owner {
		return Held, fmt.Sprintf("%s is already running (%s)", s.Start.Name(), s.Owner)
	}
	if asked.Fresh {
		return Begin, "a fresh start was requested"
	}
	if s.End == nil {
		return Continue, fmt.Sprintf("the run %s did not finish", s.Start.Run)
	}
	switch s.End.Outcome {
	case Interrupted, Waiting:
		return Continue, fmt.Sprintf("the run %s was %s", s.Start.Run, s.End.Outcome)
	case Done:
		if asked.Retry && asked.Hint {
			return Again, "the last run is done, and a change was requested"
		}
		if asked.Retry {
			return Nothing, "the last run is done; add what to change, or start over with --fresh"
		}
		return Begin, "the last run is done"
	}
	if asked.Retry {
		return Again, fmt.Sprintf("the run %s ended %s", s.Start.Run, s.End.Outcome)
	}
	return Begin, fmt.Sprintf("the last run ended %s, and a retry was not asked for", s.End.Outcome)
}

// DoneReason says why a run is done whose newest iteration passed, and which stories of a plan only the cap approved.
func (s State) DoneReason() string {
	n := s.Last().N
	switch {
	case !s.Verified():
		return fmt.Sprintf("unverified: nothing but the agent's own word says so, on iteration %d", n)
	case s.Last().NothingToDo():
		return "a person accepted that nothing needs doing"
	case s.Plan == nil:
		return fmt.Sprintf("all checks passed on iteration %d", n)
	}
	all := "the only story is"
	if many := len(s.Plan.Stories); many > 1 {
		all = fmt.Sprintf("all %d stories are", many)
	}
	why := fmt.Sprintf("%s approved, and all checks passed on iteration %d", all, n)
	if s.Rules().SkipReview {
		why = fmt.Sprintf("%s done without a review, and all checks passed on iteration %d", all, n)
	}
	return why + s.Plan.Marks()
}

// orHint is the step of a run in which hints count. A run that would end as done takes one more turn for a hint that
// no one has read, once and if its limits allow. When that turn does not end as done, too, the run goes back.
func (s State) orHint(step Step, limits Limits, now time.Time) Step {
	last := s.Last()
	switch {
	case step.Do == MakeCommit, step.Outcome == Done && (s.HintTurn || !s.Unread()):
	case step.Outcome == Done:
		if turn := s.nextTurn(limits, now); turn.Do == TakeTurn {
			return turn
		}
	case s.DoneAt > 0 && (step.Do == Stop || step.Do == TakeTurn && last.N > s.DoneAt && last.Judged || limits.over(now)):
		return Step{Do: GoBack, Iteration: s.DoneAt, Reason: s.notApproved(step)}
	}
	return step
}

// notApproved is why the turn for a hint has no approved commit.
func (s State) notApproved(step Step) string {
	f := s.Failure()
	switch {
	case step.Do == Stop:
		return step.Reason
	case f == nil:
		return "its turn did not end"
	}
	return fmt.Sprintf("%s: %s", f.Check, f.Reason)
}

// How often a turn is tried again in a row when its model was not to be had, and how long a reset may be away.
const (
	maxRetries = 8 // 2, 4, 8 … 60 s apart: about four minutes, on top of what the agent itself has tried
	maxLimited = 3 // of a limit whose reset no one tells
	maxResets  = 8 // of one that is known and does not come
	maxWait    = 6 * time.Hour
	maxSilent  = 2 // turns in a row that end without a word of the model's
	firstPause = 2 * time.Second
	mostPause  = time.Minute
	resetSlack = 2 * time.Second // clocks differ

	unablePause = 30 * time.Second // before an agent that did nothing gets another turn
)

// retry says what to do after a turn that failed for a reason that passes by itself: wait, take the turn again, or
// stop. None of it is an iteration.
func retry(s State, limits Limits, now time.Time) Step {
	last := s.Last()
	t := last.Turn
	until := t.ResetAt
	// a reset in the past that changed nothing is not used
	known := t.Class == UsageLimit && until.After(last.At.Add(t.Duration))
	if known {
		until = until.Add(resetSlack)
	} else {
		until = s.At.Add(backoff(s.FailInRow, s.At))
		if s.Pause != nil {
			until = s.Pause.Until
		}
	}
	waiting := Step{Do: Stop, Outcome: Waiting, Reason: t.Reason}
	switch {
	case known && s.FailInRow > maxResets:
		waiting.Until = until
		return waiting
	case known && !until.After(now), s.Pause != nil && !s.Pause.Until.After(now):
		return Step{Do: TakeTurn}
	case !known && until.Sub(now) > 2*mostPause: // no pause of ours is as long: the clock was set back
		return Step{Do: TakeTurn}
	case known && (limits.NoWait || until.Sub(now) > maxWait || limits.over(until)):
		waiting.Until = until
		return waiting
	case !known && t.Class == UsageLimit && (limits.NoWait || t.SatOut || s.FailInRow > maxLimited):
		return waiting
	case !known && s.FailInRow > maxRetries:
		return Step{Do: Stop, Outcome: Failed,
			Reason: fmt.Sprintf("the model was not to be had %d times in a row: %s", s.FailInRow, t.Reason)}
	case limits.over(until):
		return Step{Do: Stop, Outcome: Timeout,
			Reason: fmt.Sprintf("the run's time limit of %s ends before the usage limit resets: %s",
				safetext.Duration(limits.Wall), t.Reason)}
	}
	return Step{Do: Wait, Iteration: last.N, Mode: last.Mode, Reason: t.Reason, Until: until}
}

// again has an agent that did nothing asked again, after a pause. If it does nothing again, the run waits for a
// person, or for the time that the agent names.
func (s State) again(limits Limits, now time.Time) Step {
	last := s.Last()
	until := s.At.Add(unablePause)
	if s.Pause != nil {
		until = s.Pause.Until
	}
	switch {
	case s.Unable > 1 || limits.over(until):
		return Step{Do: Stop, Outcome: Waiting, Until: last.Turn.ResetAt, Reason: fmt.Sprintf(
			"%s (the agent cannot work: it spent, changed and claimed nothing)", safetext.Shorten(safetext.OneLine(s.unable), 500))}
	case s.Pause != nil && !until.After(now), until.Sub(now) > 2*mostPause:
		return Step{Do: TakeTurn}
	}
	return Step{Do: Wait, Iteration: last.N, Mode: last.Mode, Until: until, Reason: "the agent did nothing and said: " +
		safetext.Shorten(safetext.OneLine(s.unable), 200)}
}

// silence says that the last two turns were stopped before their model had answered anything: it does not exist, or the
// agent waits for a usage limit and does not say so. More such turns would cost only time. Empty: that is not so, or
// was before the run continued.
func (s State) silence() string {
	n := len(s.Iterations)
	if n < maxSilent {
		return ""
	}
	for _, it := range s.Iterations[n-maxSilent:] {
		if !it.Turn.Silent || !it.Judged || it.At.Before(s.ResumedAt) {
			return ""
		}
	}
	return fmt.Sprintf("the model has answered nothing in %d turns, each stopped for its silence after %s: it does not "+
		"work, or the agent waits for a usage limit without saying so; "+
		"see whether it answers, or raise the idle limit if it needs longer", maxSilent,
		safetext.Duration(s.Last().Turn.Duration))
}

// backoff is how long to wait before the nth retry in a row: twice as long each time, within bounds, and up to a
// quarter more or less so that runs which failed together do not come back together. The jitter is drawn from the time
// of the failure: the same journal gives the same answer.
func backoff(n int, at time.Time) time.Duration {
	pause := min(firstPause<<min(n-1, 10), mostPause)
	jitter := time.Duration(at.UnixNano()/int64(time.Microsecond)%501-250) * pause / 1000
	return pause + jitter
}

// nextRole is who takes the next turn: the one after a role that has done its part, the one whose own part was found
// wanting, the first after a rejection by a role that only reads; otherwise the same again.
func (s State) nextRole() task.Role {
	writers := s.Writers()
	it := s.LastJudged()
	if it == nil {
		return writers[0]
	}
	at := max(slices.Index(writers, it.Role), 0)
	if it.Passed() {
		return writers[min(at+1, len(writers)-1)]
	}
	if f := it.Obstacle(); f != nil && f.Role != "" {
		return writers[max(slices.Index(writers, f.Role), 0)]
	}
	return writers[at]
}

// readersCap says that a role which only reads has given all its verdicts; empty while none has. Whatever a turn
// changed then would have no one to judge it.
func (s State) readersCap() string {
	for _, r := range s.Start.Pipeline {
		check := string(r)
		if r == task.Reviewer {
			check = ReviewCheck
		}
		if most := s.Start.Caps[r]; r.ReadOnly() && most > 0 && s.Judgments(check) >= most {
			return fmt.Sprintf("the %s has judged %s, which is its cap, and the work is not done", r, safetext.Times(most))
		}
	}
	return ""
}
