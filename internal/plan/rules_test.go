package plan

import (
	"strings"
	"testing"
)

// TestReviewIntegrity: the eight cases of S4-117, from the text of a file.
func TestReviewIntegrity(t *testing.T) {
	for _, row := range []struct {
		letter, story string
		skip          bool
		want          string // empty: it passes
	}{
		{"1", `"passes":true,"reviewStatus":null,"reviewCount":0,"reviewFeedback":""`, false,
			"2 Story US-001 has passes=true but reviewStatus is 'null', not 'approved'. Only review iterations may approve " +
				"stories. Set passes back to false or complete the review cycle."},
		{"2", `"passes":true,"reviewStatus":"needs_review","reviewCount":0,"reviewFeedback":""`, false,
			"2 Story US-001 has passes=true but reviewStatus is 'needs_review', not 'approved'. Only review iterations may " +
				"approve stories. Set passes back to false or complete the review cycle."},
		{"3", `"passes":true,"reviewStatus":"changes_requested","reviewCount":1,"reviewFeedback":"mend it"`, false,
			"2 Story US-001 has passes=true but reviewStatus is 'changes_requested', not 'approved'. Only review iterations " +
				"may approve stories. Set passes back to false or complete the review cycle."},
		{"4", `"passes":true,"reviewStatus":"approved","reviewCount":1,"reviewFeedback":""`, false, ""},
		{"5", `"passes":false,"reviewStatus":"changes_requested","reviewCount":1,"reviewFeedback":" "`, false,
			"2 Story US-001 has reviewStatus 'changes_requested' but reviewFeedback is empty. Feedback is required: write what must be fixed and where."},
		{"6", `"passes":false,"reviewStatus":"approved","reviewCount":1,"reviewFeedback":""`, false,
			"2 Story US-001 has reviewStatus 'approved' but passes=false; the two must be in sync. Set reviewStatus back to " +
				"what it was or complete the review cycle."},
		{"7", `"passes":false,"reviewStatus":null,"reviewCount":-1,"reviewFeedback":""`, false,
			"1 story US-001: reviewCount is -1 (a number); must be a whole number from 0 to 1000"},
		{"8", `"passes":true,"reviewStatus":null,"reviewCount":0,"reviewFeedback":""`, true, ""},
		// and its bound, S4-67
		{"6 of 5", `"passes":false,"reviewStatus":"needs_review","reviewCount":6,"reviewFeedback":""`, false, ""},
		{"7 of 5", `"passes":false,"reviewStatus":"needs_review","reviewCount":7,"reviewFeedback":""`, false,
			"2 Story US-001 has reviewCount 7; must be 0 to 6, one more than the review cap. Set it back to what it was."},
	} {
		var got []string
		p, err := Parse("tasks.json", []byte(withStory(row.story)))
		for _, said := range problemsOf(t, err) {
			got = append(got, "1 "+said)
		}
		got = append(got, told(p.Invariants(Rules{SkipReview: row.skip, ReviewCap: 5}))...)
		if strings.Join(got, "\n") != row.want {
			t.Errorf("%s: got %q, want %q", row.letter, got, row.want)
		}
	}
}

// withStory is a plan's text with one story, whose review fields are given.
func withStory(reviewFields string) string {
	return `{"project":"P","branchName":"ralph/p","description":"D","userStories":[{"id":"US-001","title":"T","acceptanceCriteria":["it works"],` +
		`"priority":1,"notes":"Done.",` + reviewFields + `}]}`
}
