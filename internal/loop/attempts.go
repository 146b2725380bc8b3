package loop

import (
	"fmt"
	"slices"
)

// counts reports whether an iteration is an attempt: a stopped turn is not, nor one that waits, whose model was not to
// be had or in which the agent did nothing, nor an empty one that may be retried.
func (s State) counts(it Iteration) bool {
	switch c := it.Turn.Class; {
	case c == Stopped, it.Turn.waits(), c.Transient(), s.Unable > 0 && it.N == s.Last().N:
		return false
	case c == Empty && (it.Commit.Empty || it.Commit.Unchecked):
		return s.EmptyInRow >= maxEmpty
	}
	return true
}

// feedbackDue reports whether no iteration has been judged since the run was resumed for a review.
func (s State) feedbackDue() bool {
	if s.Feedback == nil {
		return false
	}
	last := s.lastJudged()
	return last == nil || last.N <= s.feedbackSeenAt
}

// Spent is what the run has spent since it was last asked for.
func (s State) Spent() Usage { return s.Usage.Minus(s.UsageBefore) }

// OnIssue is what everything that was ever done on the run's issue has spent.
func (s State) OnIssue() Usage {
	if s.Start.Earlier == nil {
		return s.Usage
	}
	return s.Usage.Plus(*s.Start.Earlier)
}

// Last is the newest iteration, nil before the first.
func (s State) Last() *Iteration {
	if len(s.Iterations) == 0 {
		return nil
	}
	return s.Iterations[len(s.Iterations)-1]
}

// Settled reports whether everything that the agent has changed is in a commit.
func (s State) Settled() bool {
	last := s.Last()
	return s.Turning == nil && (last == nil || last.Commit != nil)
}

// Of writes an iteration's number with how many there may be: "2/5".
func (s State) Of(n int) string {
	if s.MaxIterations == 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d/%d", n, s.MaxIterations)
}

// Head is the commit that the next iteration builds on.
func (s State) Head() string {
	if s.Tip != "" {
		return s.Tip
	}
	return s.Start.Base
}

// ChangeBase is the commit that the run's change starts from: its base, or a newer commit of the base branch that was
// merged since.
func (s State) ChangeBase() string {
	for _, it := range slices.Backward(s.Iterations) {
		if it.Commit != nil && it.Commit.Base != "" {
			return it.Commit.Base
		}
	}
	return s.Start.Base
}

// NoDiff reports whether the run has changed nothing against its base.
func (s State) NoDiff() bool {
	for i := len(s.Iterations) - 1; i >= 0; i-- {
		if c := s.Iterations[i].Commit; c != nil {
			return c.NoDiff
		}
	}
	return true
}

// JudgedWith are the paths that the checks had besides the commit, from the top of the clone.
func (s State) JudgedWith() []string {
	var names []string
	for _, given := range s.Start.Shared {
		names = append(names, given.Path)
	}
	return names
}

// Failure is the newest verdict that blocked, nil when nothing did.
func (s State) Failure() *Verdict {
	for i := len(s.Iterations) - 1; i >= 0; i-- {
		if s.Iterations[i].Judged {
			return s.Iterations[i].Failure()
		}
	}
	return nil
}
