package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestBound: what a plan's file says of reviews counts as far as it is on record.
func TestBound(t *testing.T) {
	todo := Story{ID: "A", AcceptanceCriteria: []string{"it works"}}
	asks := todo
	asks.ReviewStatus, asks.ReviewCount, asks.ReviewFeedback = ChangesRequested, 3, "more"
	waits := todo
	waits.ReviewStatus, waits.ReviewCount = NeedsReview, 4
	approved := todo
	approved.Passes, approved.ReviewStatus, approved.ReviewCount, approved.Notes = true, Approved, 4, "n"
	passed := todo
	passed.Passes, passed.Notes = true, "n"
	marked := func(s Story, mark string) Story { s.ReviewFeedback = mark; return s }
	byReview := RecordedReview{Story: "A", Reviews: 2, By: ByReview, Criteria: todo.Digest(), At: time.Unix(1, 0)}
	byCap := RecordedReview{Story: "A", Reviews: 5, By: ByCap, Criteria: todo.Digest(), Open: "no test", At: time.Unix(1, 0)}
	byAlice := RecordedReview{Story: "A", By: ByPerson, Who: "Alice", Criteria: todo.Digest(), At: time.Unix(2, 0)}
	other := byReview
	other.Criteria = "other"
	tests := []struct {
		name    string
		file    Story
		skip    bool
		on      []RecordedReview
		want    string // standing, reviews, feedback
		claimed bool
	}{
		{name: "not begun", file: todo, want: "not handed in 0 "},
		{name: "an approval on record", file: approved, on: []RecordedReview{byReview}, want: "approved in review 2 2 "},
		{name: "an approval on nobody's record", file: approved, want: "waits for its review 0 ", claimed: true},
		{name: "of which two reviews are on record", file: approved, on: []RecordedReview{{Story: "A", Reviews: 2}},
			want: "waits for its review 2 ", claimed: true},
		{name: "of another story", file: approved,
			on: []RecordedReview{{Story: "B", Reviews: 2, By: ByReview, Criteria: todo.Digest()}}, want: "waits for its review 0 ",
			claimed: true},
		{name: "of other criteria", file: approved, on: []RecordedReview{other}, want: "waits for its review 2 ", claimed: true},
		{name: "reviews that were not", file: waits, want: "waits for its review 0 "},
		{name: "fewer reviews than there were, as its user wants it", file: todo, on: []RecordedReview{byReview},
			want: "not handed in 0 "},
		{name: "changes are asked for", file: asks, on: []RecordedReview{{Story: "A", Reviews: 1}},
			want: "changes were requested in review 1 1 more"},
		{name: "at the cap", file: approved, on: []RecordedReview{byCap},
			want: "approved at the cap of 5 reviews 5 [AUTO-APPROVED AT CAP] no test"},
		{name: "at the cap, and marked", file: marked(approved, AtCap+" no name"), on: []RecordedReview{byCap},
			want: "approved at the cap of 5 reviews 5 [AUTO-APPROVED AT CAP] no name"},
		{name: "marked as approved by a person who did not", file: marked(approved, "[APPROVED BY Alice]"),
			on: []RecordedReview{byReview}, want: "approved in review 2 2 "},
		{name: "by a person alone", file: marked(approved, "[APPROVED BY Bob]"), on: []RecordedReview{byAlice},
			want: "approved by Alice 0 [APPROVED BY Alice]"},
		{name: "by a person after the cap", file: approved, on: []RecordedReview{byCap, byAlice},
			want: "approved by Alice 5 [APPROVED BY Alice]"},
		{name: "done without a review", file: passed, skip: true, want: "not handed in 0 ", claimed: true},
		{name: "done without a review, on record", file: passed, skip: true,
			on: []RecordedReview{{Story: "A", By: Unexamined, Criteria: todo.Digest()}}, want: "done without a review 0 "},
		{name: "done without a review, and reviews are asked for", file: passed,
			on: []RecordedReview{{Story: "A", By: Unexamined, Criteria: todo.Digest()}}, want: "waits for its review 0 ",
			claimed: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := Rules{ReviewCap: 5, SkipReview: tt.skip}
			bound, record, claims := Plan{Stories: []Story{tt.file}}.Bound(r, nil, tt.on)
			s := bound.Stories[0]
			if got := fmt.Sprintf("%s %d %s", bound.Standing("A"), s.ReviewCount, s.ReviewFeedback); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if (len(claims) > 0) != tt.claimed {
				t.Errorf("claims: %+v", claims)
			}
			if bad := bound.Invariants(r); len(bad) > 0 {
				t.Errorf("it breaks %v", bad)
			}
			// What it was bound by binds it again to the same.
			for i := range record {
				record[i].Open = strings.TrimSpace(strings.TrimPrefix(s.ReviewFeedback, AtCap))
			}
			again, _, _ := Plan{Stories: []Story{tt.file}}.Bound(r, record)
			if string(again.Marshal()) != string(bound.Marshal()) {
				t.Errorf("again: %s", again.Marshal())
			}
		})
	}
}

// TestFailAtCap: with that rule, the last review approves nothing that it did not find good.
func TestFailAtCap(t *testing.T) {
	p := Plan{Stories: []Story{{ID: "A", ReviewStatus: NeedsReview, ReviewCount: 4}}}
	for _, tt := range []struct {
		fail bool
		want string
	}{{false, "approved at the cap of 5 reviews"}, {true, "changes were requested in review 5"}} {
		r := Rules{ReviewCap: 5, FailAtCap: tt.fail}
		after := p.Reviewed("A", Opinion{Feedback: "no"}, r)
		if got := after.Standing("A"); got != tt.want {
			t.Errorf("fail: %v: %s, want %s", tt.fail, got, tt.want)
		}
		capped := p.Reviewed("A", Opinion{Feedback: "no"}, Rules{ReviewCap: 5})
		if agrees, _ := Agrees(p, capped, "A", Opinion{Feedback: "no"}, r); agrees == tt.fail {
			t.Errorf("fail: %v: an edit that approves at the cap agrees: %v", tt.fail, agrees)
		}
	}
}
