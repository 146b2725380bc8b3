package task

import (
	"fmt"
	"strings"
)

// AtCap reports whether the story was approved because its reviews were used up (S4-90).
func (s Story) AtCap() bool {
	return s.ReviewStatus == Approved && strings.HasPrefix(s.ReviewFeedback, AtCap)
}

// Standing says in words where a story stands: "waits for its review", "changes were requested in review 2".
func (p Plan) Standing(id string) string {
	s := p.Story(id)
	switch {
	case s == nil:
		return "there is no such story"
	case s.AtCap():
		return fmt.Sprintf("approved at the cap of %d reviews", s.ReviewCount)
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
