package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Order lists the stories' ids in an order in which they can be done: dependencies first, then by priority, then as the
// file has them. An unknown id and a cycle are errors that name the path: "US-002 → US-003 → US-002".
func (p Plan) Order() ([]string, error) {
	waits, err := p.waits()
	if err != nil {
		return nil, err
	}
	done := make([]bool, len(p.Stories))
	order := make([]string, 0, len(p.Stories))
	for range p.Stories {
		next := -1
		for i, s := range p.Stories {
			waiting := slices.ContainsFunc(waits[i], func(on int) bool { return !done[on] })
			if !done[i] && !waiting && (next < 0 || s.Priority < p.Stories[next].Priority) {
				next = i
			}
		}
		if next < 0 {
			return nil, fmt.Errorf("stories wait for each other: %s; take one of these out of dependsOn",
				safetext.Shorten(strings.Join(p.cycle(waits, done), " → "), 500))
		}
		done[next] = true
		order = append(order, p.Stories[next].ID)
	}
	return order, nil
}

// waits lists for every story the places of those that it depends on.
func (p Plan) waits() ([][]int, error) {
	places := make(map[string]int, len(p.Stories))
	for i, s := range p.Stories {
		places[s.ID] = i
	}
	waits := make([][]int, len(p.Stories))
	for i, s := range p.Stories {
		for _, id := range s.DependsOn {
			at, ok := places[id]
			if !ok {
				return nil, fmt.Errorf("story %s depends on %s, which is no story of the plan; add it, or take it out of dependsOn",
					s.ID, safetext.Quoted(id))
			}
			waits[i] = append(waits[i], at)
		}
	}
	return waits, nil
}

// cycle follows what the first story that could not be placed waits for until it comes to one for the second time.
func (p Plan) cycle(waits [][]int, done []bool) []string {
	at := slices.Index(done, false)
	when := map[int]int{} // a story's place to its step
	var path []string
	for {
		path = append(path, p.Stories[at].ID)
		if first, ok := when[at]; ok {
			return path[first:]
		}
		when[at] = len(path) - 1
		at = waits[at][slices.IndexFunc(waits[at], func(on int) bool { return !done[on] })]
	}
}

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
					"Feedback is required: write what must be fixed and where.", s.ID)
		}
		if s.ReviewCount < 0 || s.ReviewCount > r.cap()+1 {
			v.add(invariantCheck, s.ID, "reviewCount",
				"Story %s has reviewCount %d; must be 0 to %d, one more than the review cap. "+
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

// Opinion is a reviewer's verdict on a story.
type Opinion struct {
	Approve  bool
	Feedback string // what has to change; of an approval empty
}

// noReason is the feedback of a rejection that has none: the next iteration must know where to look.
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
