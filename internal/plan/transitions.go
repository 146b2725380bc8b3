package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Transitions says whether what changed against the snapshot is legal in the mode; nothing with SkipReview, and nothing
// without a snapshot, which nil is. A snapshot does not hold feedback, nor which story the iteration was given: see
// Compare and Given.
func Transitions(before Snapshot, after Plan, m Mode, r Rules) []Violation {
	if r.SkipReview || before == nil {
		return nil
	}
	t := transition{before: before, after: after, rules: r, given: Given(before, after, m)}
	return t.violations(m)
}

// Given is the story that an iteration was for, as far as its plans show: the first whose review fields changed,
// otherwise, in a review, the first that waits for one; empty without any.
func Given(before Snapshot, after Plan, m Mode) string {
	waits := ""
	for _, s := range after.Stories {
		was, known := before[s.ID]
		switch {
		case known && was != s.standing():
			return s.ID
		case m == Review && waits == "" && was.ReviewStatus == NeedsReview:
			waits = s.ID
		}
	}
	return waits
}

// transition is a change of a plan that is held against the table of legal changes (docs/plans.md).
type transition struct {
	before Snapshot
	after  Plan
	rules  Rules
	given  string // the only story that may make a step
	found  violations
}

// step is a review field of a story that changed.
type step struct{ field, from, to string }

func (s step) String() string { return s.field + " " + s.from + " → " + s.to }

func (s ReviewState) stepsTo(t ReviewState) []step {
	var out []step
	if s.Passes != t.Passes {
		out = append(out, step{"passes", fmt.Sprint(s.Passes), fmt.Sprint(t.Passes)})
	}
	if s.ReviewStatus != t.ReviewStatus {
		out = append(out, step{"reviewStatus", s.ReviewStatus.shown(), t.ReviewStatus.shown()})
	}
	if s.ReviewCount != t.ReviewCount {
		out = append(out, step{"reviewCount", fmt.Sprint(s.ReviewCount), fmt.Sprint(t.ReviewCount)})
	}
	return out
}

func (t *transition) violations(m Mode) []Violation {
	t.gone()
	switch m {
	case Implement:
		t.handedIn(Unreviewed, "Implement iterations cannot set passes=true or approve stories. Only review iterations may "+
			"approve. "+
			"Story %s had illegal transition: %s.")
		t.newStories()
	case ReviewFix:
		t.handedIn(ChangesRequested, "Review-fix iterations cannot approve stories. Story %s must go back to needs_review "+
			"for re-review. "+
			"Illegal transition: %s.")
		t.newStories()
	case Review:
		t.review()
	default:
		t.found.add(transitionCheck, "", "", "The mode %s is unknown; must be one of %s.", safetext.Quoted(string(m)),
			safetext.Listed([]Mode{Implement, Review, ReviewFix}))
	}
	return t.found
}

// gone holds that no story is deleted (review fields that do not exist any more have changed).
func (t *transition) gone() {
	there := t.after.Snapshot()
	for _, id := range slices.Sorted(maps.Keys(t.before)) {
		if _, ok := there[id]; !ok {
			t.found.add(transitionCheck, id, "id", "Story %s was deleted; put it back as it was, stories of a plan stay in it.",
				id)
		}
	}
}

// newStories holds that stories which did not exist begin at the beginning.
func (t *transition) newStories() {
	for _, s := range t.after.Stories {
		if _, known := t.before[s.ID]; known {
			continue
		}
		for _, c := range (ReviewState{}).stepsTo(s.standing()) {
			t.found.add(transitionCheck, s.ID, c.field,
				"New story %s must start with passes false, reviewStatus null and reviewCount 0; its %s is %s.",
				s.ID, c.field, c.to)
		}
	}
}

// handedIn holds that one story at most was handed in for review, from a status, and that nothing else changed.
// illegal is what is said of a change: the story and the step.
func (t *transition) handedIn(from ReviewStatus, illegal string) {
	var handed []string
	for _, s := range t.after.Stories {
		was, known := t.before[s.ID]
		if !known {
			continue
		}
		for _, c := range was.stepsTo(s.standing()) {
			if c.field == "reviewStatus" && was.ReviewStatus == from && s.ReviewStatus == NeedsReview {
				handed = append(handed, s.ID)
				t.cleared(s, from)
				continue
			}
			t.found.add(transitionCheck, s.ID, c.field, illegal, s.ID, c)
		}
	}
	for _, id := range handed {
		if id != t.given {
			t.found.add(transitionCheck, id, "reviewStatus",
				"Story %s was handed in for review, and the iteration was for story %s; "+
					"set its reviewStatus back to %s. One story an iteration.", id, t.given, from.shown())
		}
	}
}

// cleared checks that a story which is handed in again no longer has feedback.
func (t *transition) cleared(s Story, from ReviewStatus) {
	if from == ChangesRequested && s.ReviewFeedback != "" {
		t.found.add(transitionCheck, s.ID, "reviewFeedback",
			"Story %s was handed in again and still has its reviewFeedback; "+
				"clear it when all of it is addressed.", s.ID)
	}
}

// review holds that the given story was reviewed and nothing else changed.
func (t *transition) review() {
	for _, s := range t.after.Stories {
		was, known := t.before[s.ID]
		steps := was.stepsTo(s.standing())
		switch {
		case !known:
			t.illegalReview(s.ID, "", "a review adds no story")
		case s.ID == t.given:
			t.verdict(s.ID)
		case len(steps) > 0:
			t.illegalReview(s.ID, steps[0].field, fmt.Sprintf("%s, and the story to review was %s", steps[0], t.given))
		}
	}
	switch _, was := t.before[t.given]; {
	case t.given == "":
		t.found.add(transitionCheck, "", "reviewCount",
			"Review iteration changed no story: reviewCount unchanged, and a review must increment that of one story.")
	case !was:
		t.illegalReview(t.given, "", "there was no such story to review")
	}
}

// verdict holds what a review made of a story.
func (t *transition) verdict(id string) {
	was, s := t.before[id], t.after.Story(id)
	if was.ReviewStatus != NeedsReview {
		t.illegalReview(id, "reviewStatus",
			fmt.Sprintf("its reviewStatus was %s, and only a story with needs_review can be reviewed", was.ReviewStatus.shown()))
	}
	switch s.ReviewCount {
	case was.ReviewCount + 1:
	case was.ReviewCount:
		t.illegalReview(id, "reviewCount",
			fmt.Sprintf("reviewCount unchanged, a review must increment it from %d to %d", was.ReviewCount, was.ReviewCount+1))
	default:
		t.illegalReview(id, "reviewCount",
			fmt.Sprintf("reviewCount %d → %d, a review must increment it by 1", was.ReviewCount, s.ReviewCount))
	}
	t.outcome(*s)
}

// outcome holds that a reviewed story is approved or has changes requested, and that no one but the cap approves at the
// cap
// . That it does is not asked of the edit: Reviewed does it.
func (t *transition) outcome(s Story) {
	switch {
	case s.ReviewStatus == Approved && !s.Passes:
		t.illegalReview(s.ID, "passes", "reviewStatus is approved and passes is false, an approval sets both")
	case s.ReviewStatus == Approved && s.AtCap() && t.rules.FailAtCap:
		t.illegalReview(s.ID, "reviewFeedback",
			"reviewFeedback says "+AtCap+", and this run approves nothing at the cap; request changes")
	case s.ReviewStatus == Approved && s.ReviewCount < t.rules.cap() && s.AtCap():
		t.illegalReview(s.ID, "reviewFeedback",
			fmt.Sprintf("reviewFeedback says %s at review %d of %d", AtCap, s.ReviewCount, t.rules.cap()))
	case s.ReviewStatus == Approved:
	case s.ReviewStatus != ChangesRequested:
		t.illegalReview(s.ID, "reviewStatus",
			fmt.Sprintf("reviewStatus is %s, a review sets approved with passes=true, or changes_requested with reviewFeedback",
				s.ReviewStatus.shown()))
	case s.Passes:
		t.illegalReview(s.ID, "passes", "reviewStatus is changes_requested and passes is true")
	case strings.TrimSpace(s.ReviewFeedback) == "":
		t.illegalReview(s.ID, "reviewFeedback", "reviewStatus is changes_requested and reviewFeedback is empty")
	}
}

func (t *transition) illegalReview(id, field, details string) {
	t.found.add(transitionCheck, id, field, "Review iteration made illegal transition on story %s: %s.", id, details)
}
