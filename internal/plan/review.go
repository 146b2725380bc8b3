package plan

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Opinion is a reviewer's verdict on a story.
type Opinion struct {
	Approve  bool
	Feedback string // what has to change; of an approval empty
}

// noReason is the feedback of a rejection that has none: whoever has to mend the story must know where to look.
const noReason = "The review asked for changes and did not say which; go through every acceptance criterion again."

// Reviewed is the plan after a review of a story: the count goes up; an approval passes it; a rejection asks for
// changes, or, when the count has reached the cap and that does not fail the run, passes it with AtCap before the
// feedback. A story that does not wait for a review stays as it is.
func (p Plan) Reviewed(story string, o Opinion, r Rules) Plan {
	found := p.Story(story)
	if found == nil || found.ReviewStatus != NeedsReview {
		return p
	}
	s := *found
	s.ReviewCount++
	feedback := writable(o.Feedback)
	if feedback == "" {
		feedback = noReason
	}
	said := "Approved in review %d."
	switch {
	case o.Approve:
		s.Passes, s.ReviewStatus, s.ReviewFeedback = true, Approved, ""
	case s.ReviewCount >= r.cap() && !r.FailAtCap:
		s.Passes, s.ReviewStatus, s.ReviewFeedback = true, Approved, AtCap+" "+feedback
		said = "Approved at the cap, in review %d."
	default:
		s.Passes, s.ReviewStatus, s.ReviewFeedback = false, ChangesRequested, feedback
	}
	if s.Passes && strings.TrimSpace(s.Notes) == "" {
		s.Notes = fmt.Sprintf(said, s.ReviewCount)
	}
	return p.With(s)
}

// maxFeedback bounds what a review says of a story, in bytes.
const maxFeedback = 32 << 10

// writable is what an agent said as a plan can hold it.
func writable(s string) string {
	return strings.TrimSpace(safetext.Truncated(strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", ""),
		maxFeedback))
}

// Agrees reports whether the edit of a review iteration says what the opinion says. The words of the feedback may
// differ, but there must be some. At the cap a story may be approved either way, with AtCap if the opinion rejects it.
// edited is false when the edit left the story's review fields as they were: nothing contradicts the opinion then, and
// the harness writes them itself, see Reviewed.
func Agrees(before, after Plan, story string, o Opinion, r Rules) (agrees, edited bool) {
	was, is := before.Story(story), after.Story(story)
	if was == nil || is == nil {
		return false, true
	}
	if was.standing() == is.standing() && was.ReviewFeedback == is.ReviewFeedback {
		return true, false
	}
	feedback := strings.TrimSpace(is.ReviewFeedback)
	approved := is.ReviewStatus == Approved && is.Passes
	capped := is.ReviewCount >= r.cap()
	if o.Approve {
		return approved && (capped && !r.FailAtCap || !strings.HasPrefix(feedback, AtCap)), true
	}
	if approved {
		return capped && !r.FailAtCap && strings.HasPrefix(feedback, AtCap) && feedback != AtCap, true
	}
	return is.ReviewStatus == ChangesRequested && !is.Passes && feedback != "", true
}
