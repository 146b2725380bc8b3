package wording

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/plan"
)

// StoryState is how far a story has come, in a few words.
func StoryState(st plan.Story) string {
	switch {
	case st.AtCap():
		return "auto-approved at the cap"
	case st.ReviewStatus == plan.Approved && st.Passes:
		return "approved"
	case st.Passes:
		return "done"
	case st.ReviewStatus == plan.NeedsReview:
		return "waits for review"
	case st.ReviewStatus == plan.ChangesRequested:
		return "changes requested"
	}
	return "open"
}

// OpenPoints is what a story that was approved at the cap lacks.
func OpenPoints(st plan.Story) string {
	return strings.TrimSpace(strings.TrimPrefix(st.ReviewFeedback, plan.AtCap))
}
