package loop

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Hint is something that someone with write access says to a run.
type Hint struct {
	ID   string `json:"id,omitempty"` // the same however often the hint is delivered: the run takes it in once
	By   string `json:"by,omitempty"` // login, or who else it is
	Text string `json:"text"`
}

// TakenHint is a hint that a run has taken in.
type TakenHint struct {
	Hint
	At     time.Time
	To     string // the agent's question that it answers; empty: none
	ReadIn int    // the iteration whose agent or reviewer was the first to read it; 0: none yet
	Undone bool   // what was done about it was not approved, and the run went back to what it had before
}

// Back is why a run went back to the iteration that was done before the turn for a hint.
type Back struct {
	Reason string `json:"reason"`           // one sentence
	Branch string `json:"branch,omitempty"` // the branch with the later commits; empty: no later commits
}

// HintIDs are those of the hints that were said to the run while it worked.
func (s State) HintIDs() (ids []string) {
	for _, h := range s.Hints {
		if h.ID != "" {
			ids = append(ids, h.ID)
		}
	}
	return ids
}

// Unread reports whether a hint waits for an agent or a reviewer.
func (s State) Unread() bool {
	return slices.ContainsFunc(s.Hints, func(h TakenHint) bool { return h.ReadIn == 0 })
}

func (s *State) takeHint(h Hint, at time.Time) {
	if h.Text != "" && !slices.Contains(s.HintIDs(), h.ID) {
		to := ""
		if last := s.Last(); last != nil && last.Turn.waits() && s.Turning == nil {
			to = last.Turn.Claim.Text
		}
		s.Hints = append(slices.Clone(s.Hints), TakenHint{Hint: h, At: at, To: to})
	}
}

// readHints moves the hints that were first read in one iteration to another one; 0: unread.
func (s *State) readHints(from, to int) {
	s.Hints = slices.Clone(s.Hints)
	for i := range s.Hints {
		if s.Hints[i].ReadIn == from {
			s.Hints[i].ReadIn = to
		}
	}
}

// beginTurn notes a turn. One after an iteration that is done is the turn for a hint. In a run without a branch there
// is nothing to go back to, so that it continues from there like any other.
func (s *State) beginTurn(r Record) {
	if last := s.Last(); s.Turning == nil && last != nil && last.N > s.Reopened && s.finished(*last) {
		s.HintTurn = true
		if s.Start.Branch != "" {
			s.DoneAt = last.N
		}
	}
	s.Turning = &Turning{Iteration: r.Iteration, Mode: r.Mode, Role: orCoder(r.Role), Story: r.Story, Tier: r.Tier,
		At: r.At}
	s.Pause = nil
	s.readHints(0, r.Iteration)
}

// goBack makes the iteration that was done the newest again.
func (s *State) goBack(b *Back) {
	s.Hints = slices.Clone(s.Hints)
	for i := range s.Hints {
		s.Hints[i].Undone = s.Hints[i].Undone || s.Hints[i].ReadIn > s.DoneAt
	}
	n := slices.IndexFunc(s.Iterations, func(it *Iteration) bool { return it.N == s.DoneAt })
	s.Iterations = s.Iterations[:n+1]
	if done := s.Last(); done != nil {
		s.Tip, s.tree = done.Commit.SHA, done.Commit.Tree
	}
	s.EmptyInRow, s.FailInRow, s.Unable, s.Waits, s.Pause, s.Turning = 0, 0, 0, false, nil, nil
	s.Back, s.DoneAt = b, 0
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

// back puts the run's tree back to the iteration that was done, and records it.
func back(ctx context.Context, s State, reason string, p Ports) error {
	to := s.Iterations[slices.IndexFunc(s.Iterations, func(it *Iteration) bool { return it.N == s.DoneAt })]
	branch, err := p.Back(ctx, s.Head(), to.Commit.SHA)
	if err != nil {
		return fmt.Errorf("going back to the commit of iteration %d: %w", to.N, err)
	}
	p.Log("the run goes back to iteration %d, which is done: %s", to.N, reason)
	_, err = p.Journal.Append(ctx, Record{Type: WentBack, At: p.Clock(), Iteration: to.N,
		Back: &Back{Reason: reason, Branch: branch}})
	return err
}
