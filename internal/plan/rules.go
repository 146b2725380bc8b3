package plan

import (
	"fmt"
	"strings"
)

// ReviewState is what reviews are about in one story.
type ReviewState struct {
	Passes       bool         `json:"passes"`
	ReviewStatus ReviewStatus `json:"reviewStatus"` // null in JSON when Unreviewed
	ReviewCount  int          `json:"reviewCount"`
}

// Snapshot is the standing of every story before an iteration.
type Snapshot map[string]ReviewState

// Snapshot is the plan's; never nil.
func (p Plan) Snapshot() Snapshot {
	out := make(Snapshot, len(p.Stories))
	for _, s := range p.Stories {
		out[s.ID] = s.standing()
	}
	return out
}

func (s Story) standing() ReviewState { return ReviewState{s.Passes, s.ReviewStatus, s.ReviewCount} }

// The names of the checks that a violation is of.
const (
	schemaCheck     = "1"
	invariantCheck  = "2"
	transitionCheck = "2.5"
	contentCheck    = "content"
)

// Violation is one rule that a plan, or a change of it, breaks.
type Violation struct {
	Check string `json:"check"` // "1", "2", "2.5" or "content"
	Story string `json:"story,omitempty"`
	Field string `json:"field,omitempty"`
	Text  string `json:"text"` // one sentence or two; those of the specification literally
}

// violations collects rules that are broken.
type violations []Violation

func (v *violations) add(check, story, field, format string, args ...any) {
	*v = append(*v, Violation{check, story, field, fmt.Sprintf(format, args...)})
}

// Invariants are the rules that hold of one story by itself; nothing with SkipReview.
func (p Plan) Invariants(r Rules) []Violation {
	if r.SkipReview {
		return nil
	}
	var v violations
	for _, s := range p.Stories {
		if s.Passes && s.ReviewStatus != Approved {
			v.add(invariantCheck, s.ID, "passes",
				"Story %s has passes=true but reviewStatus is '%s', not 'approved'. Only review iterations may "+
					"approve stories. Set passes back to false or complete the review cycle.", s.ID, s.ReviewStatus.shown())
		}
		if s.ReviewStatus == Approved && !s.Passes {
			v.add(invariantCheck, s.ID, "reviewStatus",
				"Story %s has reviewStatus 'approved' but passes=false; the two must be in sync. "+
					"Set reviewStatus back to what it was or complete the review cycle.", s.ID)
		}
		if s.ReviewStatus == ChangesRequested && strings.TrimSpace(s.ReviewFeedback) == "" {
			v.add(invariantCheck, s.ID, "reviewFeedback",
				"Story %s has reviewStatus 'changes_requested' but reviewFeedback is empty. "+
					"Feedback is required: say what must be fixed and where.", s.ID)
		}
		if s.ReviewCount < 0 || s.ReviewCount > r.cap()+1 {
			v.add(invariantCheck, s.ID, "reviewCount",
				"Story %s has reviewCount %d; allowed are 0 to %d, one more than the review cap. "+
					"Set it back to what it was.", s.ID, s.ReviewCount, r.cap()+1)
		}
	}
	return v
}

// shown is a status as messages write it.
func (s ReviewStatus) shown() string {
	if s == Unreviewed {
		return "null"
	}
	return string(s)
}
