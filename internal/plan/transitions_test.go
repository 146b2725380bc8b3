package plan

import (
	"fmt"

	"strings"
	"testing"
)

// TestTransitions: the fourteen cases of S4-118 by their letters, and what the table of S4 §5b says besides.
func TestTransitions(t *testing.T) {
	at := storyAt
	for _, row := range []struct {
		letter        string
		mode          Mode
		before, after []Story
		want          string // a line each; empty: it is legal
	}{
		{"a", Implement, []Story{at("A", false, Unreviewed, 0, "")}, []Story{at("A", true, Unreviewed, 0, "")},
			"Implement iterations cannot set passes=true or approve stories. Only review iterations may approve. Story A had " +
				"illegal transition: passes false → true."},
		{"b", Implement, []Story{at("A", false, Unreviewed, 0, "")}, []Story{at("A", false, Approved, 0, "")},
			"Implement iterations cannot set passes=true or approve stories. Only review iterations may approve. Story A had " +
				"illegal transition: reviewStatus null → approved."},
		{"c", Implement, []Story{at("A", false, Unreviewed, 0, "")}, []Story{at("A", false, Unreviewed, 1, "")},
			"Implement iterations cannot set passes=true or approve stories. Only review iterations may approve. Story A had " +
				"illegal transition: reviewCount 0 → 1."},
		{"d", Implement, []Story{at("A", false, Unreviewed, 0, "")}, []Story{at("A", false, NeedsReview, 0, "")}, ""},
		{"e", Implement, []Story{at("A", false, Unreviewed, 0, "")},
			[]Story{at("A", false, Unreviewed, 0, ""), at("B", false, Unreviewed, 0, "")}, ""},
		{"f", Implement, []Story{at("A", false, Unreviewed, 0, "")},
			[]Story{at("A", false, Unreviewed, 0, ""), at("B", true, Unreviewed, 0, "")},
			"New story B must start with passes false, reviewStatus null and reviewCount 0; its passes is true."},
		{"g", Review, []Story{at("A", false, NeedsReview, 1, "")}, []Story{at("A", true, Approved, 2, "")}, ""},
		{"h", Review, []Story{at("A", false, NeedsReview, 1, "")}, []Story{at("A", false, ChangesRequested, 2, "mend it")},
			""},
		{"i", Review, []Story{at("A", false, NeedsReview, 1, "")}, []Story{at("A", true, Approved, 1, "")},
			"Review iteration made illegal transition on story A: reviewCount unchanged, a review must increment it from 1 to 2."},
		{"j", Review, []Story{at("A", false, NeedsReview, 1, ""), at("B", false, NeedsReview, 0, "")},
			[]Story{at("A", true, Approved, 2, ""), at("B", true, Approved, 1, "")},
			"Review iteration made illegal transition on story A: the review fields of A and B changed, and a review may " +
				"change those of one story.\n" +
				"Review iteration made illegal transition on story B: the review fields of A and B changed, and a review may " +
				"change those of one story."},
		{"k", ReviewFix, []Story{at("A", false, ChangesRequested, 1, "mend it")},
			[]Story{at("A", true, ChangesRequested, 1, "mend it")},
			"Review-fix iterations cannot approve stories. Story A must go back to needs_review for re-review. Illegal " +
				"transition: passes false → true."},
		{"l", ReviewFix, []Story{at("A", false, ChangesRequested, 1, "mend it")}, []Story{at("A", false, NeedsReview, 1, "")},
			""},
		{"m", ReviewFix, []Story{at("A", false, ChangesRequested, 1, "mend it")}, []Story{at("A", false, NeedsReview, 2, "")},
			"Review-fix iterations cannot approve stories. Story A must go back to needs_review for re-review. Illegal " +
				"transition: reviewCount 1 → 2."},
		{"n", Implement, nil, []Story{at("A", true, Approved, 0, "")}, ""},

		{"two handed in", Implement, []Story{at("A", false, Unreviewed, 0, ""), at("B", false, Unreviewed, 0, "")},
			[]Story{at("A", false, NeedsReview, 0, ""), at("B", false, NeedsReview, 0, "")},
			"Stories A and B were submitted for review in one iteration; must be only one. Set the reviewStatus of B back to null."},
		{"deleted", Implement, []Story{at("A", false, Unreviewed, 0, ""), at("B", false, Unreviewed, 0, "")},
			[]Story{at("A", false, NeedsReview, 0, "")},
			"Story B was deleted; put it back as it was, stories of a plan stay in it."},
		{"nothing", Review, []Story{at("A", false, NeedsReview, 1, "")}, []Story{at("A", false, NeedsReview, 1, "")},
			"Review iteration made illegal transition on story A: reviewCount unchanged, a review must increment it from 1 to " +
				"2.\n" +
				"Review iteration made illegal transition on story A: reviewStatus is needs_review, a review sets approved with " +
				"passes=true, or changes_requested with reviewFeedback."},
		{"nothing to review", Review, []Story{at("A", true, Approved, 1, "")}, []Story{at("A", true, Approved, 1, "")},
			"Review iteration changed no story: reviewCount unchanged, and a review must increment that of one story."},
		{"by two", Review, []Story{at("A", false, NeedsReview, 1, "")}, []Story{at("A", true, Approved, 3, "")},
			"Review iteration made illegal transition on story A: reviewCount 1 → 3, a review must increment it by 1."},
		{"not handed in", Review, []Story{at("A", false, Unreviewed, 0, "")}, []Story{at("A", true, Approved, 1, "")},
			"Review iteration made illegal transition on story A: its reviewStatus was null, and only a story with " +
				"needs_review can be reviewed."},
		{"approved by half", Review, []Story{at("A", false, NeedsReview, 0, "")}, []Story{at("A", false, Approved, 1, "")},
			"Review iteration made illegal transition on story A: reviewStatus is approved and passes is false, an approval " +
				"sets both."},
		{"rejected without a word", Review, []Story{at("A", false, NeedsReview, 0, "")},
			[]Story{at("A", false, ChangesRequested, 1, "\n")},
			"Review iteration made illegal transition on story A: reviewStatus is changes_requested and reviewFeedback is empty."},
		{"a cap that is not reached", Review, []Story{at("A", false, NeedsReview, 3, "")},
			[]Story{at("A", true, Approved, 4, AtCap+" whatever")},
			"Review iteration made illegal transition on story A: reviewFeedback says [AUTO-APPROVED AT CAP] at review 4 of 5."},
		{"a new story", Review, []Story{at("A", false, NeedsReview, 0, "")},
			[]Story{at("A", true, Approved, 1, ""), at("B", false, Unreviewed, 0, "")},
			"Review iteration made illegal transition on story B: a review adds no story."},
		{"feedback kept", ReviewFix, []Story{at("A", false, ChangesRequested, 1, "mend it")},
			[]Story{at("A", false, NeedsReview, 1, "mend it")},
			"Story A was handed in again and still has its reviewFeedback; clear it when all of it is addressed."},
		{"no mode", "merge", []Story{at("A", false, Unreviewed, 0, "")}, []Story{at("A", false, Unreviewed, 0, "")},
			`The mode "merge" is unknown; must be one of implement, review and review-fix.`},
	} {
		var snapshot Snapshot // of (n) there is none
		if row.before != nil {
			snapshot = planOfStories(row.before...).Snapshot()
		}
		after := planOfStories(row.after...)
		rules := Rules{ReviewCap: 5}
		var got []string
		for _, v := range Transitions(snapshot, after, row.mode, rules) {
			got = append(got, v.Text)
		}
		if strings.Join(got, "\n") != row.want {
			t.Errorf("(%s) %s: got\n%s\nwant\n%s", row.letter, row.mode, strings.Join(got, "\n"), row.want)
		}
		rules.SkipReview = true
		if got := Transitions(snapshot, after, row.mode, rules); got != nil {
			t.Errorf("(%s) %s without reviews: %q", row.letter, row.mode, told(got))
		}
	}
	// (n): what an agent did to a story that it could not approve is still seen by Check 2
	if got := planOfStories(at("A", true, Unreviewed, 0, "")).Invariants(Rules{ReviewCap: 5}); len(got) != 1 {
		t.Errorf("(n) without a snapshot: %q", told(got))
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
