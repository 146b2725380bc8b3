package loop

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/plan"
)

// plan takes a plan up as it is.
func (s *State) plan(p *Planned) {
	if p != nil {
		plan := p.Plan
		s.Plan, s.PlanDue, s.tree = &plan, false, p.Tree
		if p.Record != nil { // which holds what the iterations until now have done
			s.planned = len(s.Iterations)
		}
	}
}

// HeadTree is the tree of Head; empty when no record has told it.
func (s State) HeadTree() string { return s.tree }

// advance takes up what an iteration made of the plan. A turn that does not count hands nothing on.
func (s *State) advance(it *Iteration) {
	a := it.Commit.Plan
	if s.Plan == nil || a == nil {
		return
	}
	if before := s.Plan.Story(it.Story); before != nil {
		copied := *before
		it.before = &copied
	}
	s.replan(a.Stories...)
	if a.Handed {
		s.accept(a.Accepted)
	}
	if a.Handed && !s.counts(*it) {
		s.takeBack(*it)
	}
}

func (s *State) replan(stories ...plan.Story) {
	if len(stories) > 0 {
		plan := s.Plan.With(stories...)
		s.Plan = &plan
	}
}

// hold keeps a story where it was when the checks have said no to what handed it on; one that waits for its answer has
// not. An approval of a tree that fails is none: what failed is what the next iteration has to fix.
func (s *State) hold(it Iteration) {
	// in the list's order: what was written into the plan's file must fold to the same
	failure := it.blocked(func(string) bool { return true })
	if s.Plan == nil || it.Commit == nil || it.Commit.Plan == nil || !it.Commit.Plan.Handed {
		return
	}
	waits := it.unanswered()
	switch {
	case failure == nil:
		s.restore(it)
		return
	case waits != nil && len(waits.Concerns) == 0: // what has to be accepted is not, as long as no one says so
		return
	}
	story := s.Plan.Story(it.Story)
	switch {
	case story == nil:
	case it.Mode != Review:
		s.takeBack(it)
	case story.ReviewStatus == plan.Approved:
		held := *story
		held.Passes, held.ReviewStatus = false, plan.ChangesRequested
		held.ReviewFeedback = fmt.Sprintf("The check %q failed after the review: %s", failure.Check, failure.Reason)
		s.replan(held)
		s.PlanDue = true
	}
}

// restore hands a story on that was held until someone had accepted what was found: the checks pass now.
func (s *State) restore(it Iteration) {
	for _, handed := range it.Commit.Plan.Stories {
		now := s.Plan.Story(handed.ID)
		if handed.ID == it.Story && now != nil && (now.Passes != handed.Passes || now.ReviewStatus != handed.ReviewStatus) {
			s.replan(handed)
			s.PlanDue = true
		}
	}
}

// takeBack undoes what an iteration did to its story's standing.
func (s *State) takeBack(it Iteration) {
	story := s.Plan.Story(it.Story)
	if story == nil || it.before == nil {
		return
	}
	held, before := *story, it.before
	held.Passes, held.ReviewStatus, held.ReviewCount, held.ReviewFeedback = before.Passes, before.ReviewStatus,
		before.ReviewCount, before.ReviewFeedback
	s.replan(held)
	s.PlanDue = true
}

func (s *State) corrected(c Commit) {
	s.Tip, s.tree, s.PlanDue = c.SHA, c.Tree, false
}

// finished reports whether the run is done: an iteration that passed, and of a plan every story approved, or a person has
// accepted that nothing needs doing.
func (s State) finished(it Iteration) bool {
	return it.Done() && (s.Plan == nil || s.Plan.Complete(s.Rules()) || it.NothingToDo())
}

// DoneReason says why a run is done whose newest iteration passed.
func (s State) DoneReason() string { return s.doneReason(s.Last().N) }

// doneReason says why a run is done, and what of a plan no one has approved.
func (s State) doneReason(n int) string {
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

// AtCap lists the stories that no one approved but the cap of reviews.
func (s State) AtCap() []string {
	if s.Plan == nil {
		return nil
	}
	return s.Plan.AtCap()
}
