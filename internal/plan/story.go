package plan

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Standing says in words where a story stands: "waits for its review", "changes were requested in review 2".
func (p Plan) Standing(id string) string {
	s := p.Story(id)
	switch {
	case s == nil:
		return "there is no such story"
	case s.AtCap():
		return fmt.Sprintf("approved at the cap of %d reviews", s.ReviewCount)
	case s.Person() != "":
		return "approved by " + s.Person()
	case s.ReviewStatus == Approved:
		return fmt.Sprintf("approved in review %d", s.ReviewCount)
	case s.Passes:
		return "done without a review"
	case s.ReviewStatus == NeedsReview:
		return "waits for its review"
	case s.ReviewStatus == ChangesRequested:
		return fmt.Sprintf("changes were requested in review %d", s.ReviewCount)
	}
	return "not handed in"
}

// Restored is the plan with every review field as another has it: what the stories say may stay, how they stand goes
// back. Stories that the other has not keep theirs.
func (p Plan) Restored(before Plan) Plan {
	out := p.With()
	for i := range out.Stories {
		if old := before.Story(out.Stories[i].ID); old != nil {
			s := &out.Stories[i]
			s.Passes, s.ReviewStatus, s.ReviewCount, s.ReviewFeedback = old.Passes, old.ReviewStatus, old.ReviewCount,
				old.ReviewFeedback
		}
	}
	return out
}

// Map is a copy of the plan with f applied to every text in it that is no name: to take secrets out before it is
// stored.
func (p Plan) Map(f func(string) string) Plan {
	out := p.With()
	out.Project, out.Description, out.VerifyCommands = f(p.Project), f(p.Description), safetext.Map(p.VerifyCommands, f)
	for i := range out.Stories {
		s := &out.Stories[i]
		s.Title, s.Description, s.ReviewFeedback, s.Notes = f(s.Title), f(s.Description), f(s.ReviewFeedback), f(s.Notes)
		s.AcceptanceCriteria = safetext.Map(s.AcceptanceCriteria, f)
	}
	return out
}
