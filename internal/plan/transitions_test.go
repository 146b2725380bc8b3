package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/archive"
)

// TestTransitions: the cases of testdata/transitions.txtar. Each is a mode, with the stories before and after: id, passes,
// status, reviews and feedback; says is what is wrong with that. Of n there is no snapshot.
func TestTransitions(t *testing.T) {
	for _, c := range archive.Cases(t, "testdata/transitions.txtar") {
		mode, lines, _ := strings.Cut(c.Text, "\n")
		stories := map[string][]Story{}
		for line := range strings.Lines(lines) {
			var when, status string
			s := storyAt("", false, "", 0, "")
			if n, err := fmt.Sscanf(line, "%s %s %t %s %d %q", &when, &s.ID, &s.Passes, &status, &s.ReviewCount, &s.ReviewFeedback); n != 6 {
				t.Fatalf("%s: %q, %v", c.Name, line, err)
			}
			stories[when] = append(stories[when], storyAt(s.ID, s.Passes, ReviewStatus(strings.TrimPrefix(status, "null")), s.ReviewCount, s.ReviewFeedback))
		}
		var snapshot Snapshot
		if stories["was"] != nil {
			snapshot = planOfStories(stories["was"]...).Snapshot()
		}
		after, rules, got := planOfStories(stories["is"]...), Rules{ReviewCap: 5}, ""
		for _, v := range Transitions(snapshot, after, Mode(mode), rules) {
			got += v.Text + "\n"
		}
		if got != c.Files["says"] {
			t.Errorf("(%s) %s: got\n%s\nwant\n%s", c.Name, mode, got, c.Files["says"])
		}
		rules.SkipReview = true
		if got := Transitions(snapshot, after, Mode(mode), rules); got != nil {
			t.Errorf("(%s) %s without reviews: %q", c.Name, mode, told(got))
		}
	}
	// What an agent did to a story that it could not approve is still seen without a snapshot.
	if got := planOfStories(storyAt("A", true, Unreviewed, 0, "")).Invariants(Rules{ReviewCap: 5}); len(got) != 1 {
		t.Errorf("without a snapshot: %q", told(got))
	}
}

// legal is the table of S4 §5b for one story, written down again: may a story that stood so stand so after an iteration
// of a mode?
func legal(m Mode, was, is ReviewState, feedback string) bool {
	unchanged := was.Passes == is.Passes && was.ReviewCount == is.ReviewCount
	switch fmt.Sprintf("%s: %s to %s", m, was.ReviewStatus, is.ReviewStatus) {
	case "implement:  to needs_review":
		return unchanged
	case "review-fix: changes_requested to needs_review":
		return unchanged && feedback == ""
	case "review: needs_review to approved":
		return is.Passes && is.ReviewCount-was.ReviewCount == 1
	case "review: needs_review to changes_requested":
		return !is.Passes && is.ReviewCount-was.ReviewCount == 1 && feedback != ""
	}
	return m != Review && unchanged && was.ReviewStatus == is.ReviewStatus
}

// inOrder is S4-64…S4-67 for one story, written down again.
func inOrder(s ReviewState, feedback string, most int) bool {
	return s.Passes == (s.ReviewStatus == Approved) && (s.ReviewStatus != ChangesRequested || feedback != "") &&
		s.ReviewCount >= 0 && s.ReviewCount <= most+1
}

// ownFeedback reports whether an iteration of a mode may change the feedback of its story as it did.
func ownFeedback(m Mode, was, is ReviewState) bool {
	return m == Review || m == ReviewFix && was.ReviewStatus == ChangesRequested && is.ReviewStatus == NeedsReview
}

// standings are all that a story can have, up to one review more than the cap.
func standings(most int) []ReviewState {
	var out []ReviewState
	for _, passes := range []bool{false, true} {
		for _, status := range append([]ReviewStatus{Unreviewed}, reviewStatuses...) {
			for count := range most + 2 {
				out = append(out, ReviewState{passes, status, count})
			}
		}
	}
	return out
}

var modes = []Mode{Implement, Review, ReviewFix}

// TestEveryTransition asks for every row that there can be: each mode, each standing before, each after, each with
// feedback and without.
func TestEveryTransition(t *testing.T) {
	const most = 5
	rules := Rules{ReviewCap: most}
	rows, allowed := 0, 0
	for _, m := range modes {
		for _, was := range standings(most) {
			for _, is := range standings(most) {
				for _, words := range []string{"", "mend it"} {
					rows++
					before := planOfStories(storyAt("A", was.Passes, was.ReviewStatus, was.ReviewCount, "mend it"))
					after := planOfStories(storyAt("A", is.Passes, is.ReviewStatus, is.ReviewCount, words))
					want := legal(m, was, is, words)
					got := Transitions(before.Snapshot(), after, m, rules)
					if want != (len(got) == 0) {
						t.Errorf("%s: %+v → %+v %q: legal is %t, got %q", m, was, is, words, want, told(got))
					}
					whole := want && inOrder(is, words, most) && (words == "mend it" || ownFeedback(m, was, is))
					if got := Compare(before, after, "A", m, rules); whole != (len(got) == 0) {
						t.Errorf("compared, %s: %+v → %+v %q: legal is %t, got %q", m, was, is, words, whole, told(got))
					}
					if whole {
						allowed++
					}
				}
			}
		}
	}
	if rows != 3*56*56*2 || allowed == 0 {
		t.Errorf("%d rows, %d legal", rows, allowed)
	}
}
