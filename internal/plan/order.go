package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Order lists the stories' ids in an order in which they can be done: dependencies first, then by priority, then as the
// file has them. An unknown id and a cycle are errors that name the path: "US-002 → US-003 → US-002".
func (p Plan) Order() ([]string, error) {
	stories := slices.SortedStableFunc(slices.Values(p.Stories),
		func(a, b Story) int { return cmp.Compare(a.Priority, b.Priority) })
	ids := safetext.Map(stories, func(s Story) string { return s.ID })
	order, err := InOrder(ids, func(i int) []string { return stories[i].DependsOn }, "story", "stories", "dependsOn")
	if err != nil {
		return nil, err
	}
	return safetext.Map(order, func(i int) string { return ids[i] }), nil
}

// InOrder lists the places of ids in an order in which each comes after those that it needs, and before others as they
// are listed. An id that is not listed and a circle are errors, which call what has ids one and several, and what names
// their needs key.
func InOrder(ids []string, needs func(i int) []string, one, several, key string) (order []int, err error) {
	places, waits := make(map[string]int, len(ids)), make([][]int, len(ids))
	for i, id := range ids {
		places[id] = i
	}
	for i, id := range ids {
		for _, need := range needs(i) {
			at, ok := places[need]
			if !ok {
				return nil, fmt.Errorf("%s %s depends on %s, which is no %[1]s here; add it, or take it out of %[4]s", one, id,
					safetext.Quoted(need), key)
			}
			waits[i] = append(waits[i], at)
		}
	}
	done := make([]bool, len(ids))
	for range ids {
		next := -1
		for i := range ids {
			if !done[i] && !slices.ContainsFunc(waits[i], func(on int) bool { return !done[on] }) {
				next = i
				break
			}
		}
		if next < 0 {
			path := safetext.Map(circle(waits, done), func(i int) string { return ids[i] })
			return nil, fmt.Errorf("%s wait for each other: %s; take one of these out of %s", several,
				safetext.Shorten(strings.Join(path, " → "), 500), key)
		}
		done[next] = true
		order = append(order, next)
	}
	return order, nil
}

// circle follows what the first that is not done waits for until it comes to one for the second time.
func circle(waits [][]int, done []bool) (path []int) {
	at := slices.Index(done, false)
	for !slices.Contains(path, at) {
		path = append(path, at)
		at = waits[at][slices.IndexFunc(waits[at], func(on int) bool { return !done[on] })]
	}
	return append(path[slices.Index(path, at):], at)
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
