package loop

import (
	"fmt"
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

// Limits are what stops a run that does not finish.
type Limits struct {
	Deadline         time.Time     // zero: none
	Wall             time.Duration // what Deadline came from, for the sentence
	Soft             time.Time     // when to warn that the deadline comes near; zero: never
	NoWait           bool          // do not wait for a usage limit's reset inside the run
	NoStuckDetection bool          // however often a failure repeats itself: a run of a prompt
	// What may be spent since the run was asked for, and on its issue over all runs; 0: any amount.
	CostUSD      float64
	Tokens       int64
	IssueCostUSD float64
}

// maxEmpty is how many turns in a row may say and change nothing before one counts.
const maxEmpty = 3

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
		switch {
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
		case s.FailInRow > 0 && !limits.usedUp(s):
			if step := retry(s, limits, now); step.Do != TakeTurn {
				return step
			}
		case !last.Judged && s.counts(*last):
			return Step{Do: Judge, Iteration: last.N, Mode: last.Mode}
		case s.finished(*last) && last.N > s.Reopened:
			return Step{Do: Stop, Outcome: Done, Reason: s.doneReason(last.N)}
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
		role, tier = orCoder(s.Turning.Role), s.Turning.Tier
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
	case !limits.Deadline.IsZero() && !now.Before(limits.Deadline):
		return Step{Do: Stop, Outcome: Timeout, Reason: fmt.Sprintf("the run's time limit of %s is over", safetext.Duration(limits.Wall))}
	case s.MaxIterations > 0 && n > s.MaxIterations:
		return Step{Do: Stop, Outcome: Capped, Reason: s.capReason(n - 1)}
	case s.readersCap() != "":
		return Step{Do: Stop, Outcome: Capped, Reason: s.readersCap()}
	case most > 0 && s.turnsOf(role) >= most:
		return Step{Do: Stop, Outcome: Capped, Reason: allTaken(role, most)}
	}
	return Step{Do: TakeTurn, Iteration: n, Mode: mode, Story: story, Role: role, Tier: tier}
}

// allTaken says that a role has used up its turns.
func allTaken(role task.Role, most int) string {
	if most == 1 {
		return fmt.Sprintf("the %s has taken its only turn", role)
	}
	return fmt.Sprintf("the %s has taken all of its %d turns", role, most)
}

// capReason says that the cap is reached, and what was missing in the end.
func (s State) capReason(used int) string {
	why := fmt.Sprintf("%d of %d iterations are used up", used, s.MaxIterations)
	if s.Plan != nil {
		return why + fmt.Sprintf("; %d of %d stories are approved", s.Plan.Passed(), len(s.Plan.Stories))
	}
	last := s.lastJudged()
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
	for i := len(s.Iterations) - 1; i >= 0; i-- {
		it := s.Iterations[i]
		if !it.Judged {
			continue
		}
		if f := it.Failure(); f != nil && (f.Check == ReviewCheck || f.Role.ReadOnly()) {
			return ReviewFix
		}
		break
	}
	return Implement
}

// The names of the checks that every run has; the others are named by their commands.
const (
	SCMCheck    = "scm"    // what a run of a prompt does with an iteration that passed
	AgentCheck  = "agent"  // the turn ended by itself
	ClaimCheck  = "claim"  // the agent says that it is done
	DiffCheck   = "diff"   // something changed at all
	PlanCheck   = "plan"   // of a plan: its rules were kept
	ReviewCheck = "review" // a fresh context approves
)

// nextStory is what the next turn is for. Of a plan, the story with it; spent says why there can be no turn.
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
