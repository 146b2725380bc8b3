package plan

import (
	"reflect"
	"strings"
	"testing"
)

func TestReviewed(t *testing.T) {
	rules := Rules{ReviewCap: 2}
	at := storyAt
	noted := func(s Story, notes string) Story { s.Notes = notes; return s }
	for name, row := range map[string]struct {
		was     Story
		opinion Opinion
		want    Story
	}{
		"approved": {at("A", false, NeedsReview, 0, ""), Opinion{Approve: true},
			noted(at("A", true, Approved, 1, ""), "Approved in review 1.")},
		"approved, with notes": {noted(at("A", false, NeedsReview, 0, ""), "See a.go"), Opinion{Approve: true},
			noted(at("A", true, Approved, 1, ""), "See a.go")},
		"approved at the cap": {at("A", false, NeedsReview, 1, ""), Opinion{Approve: true},
			noted(at("A", true, Approved, 2, ""), "Approved in review 2.")},
		"words of an approval": {at("A", false, NeedsReview, 0, "old"), Opinion{Approve: true, Feedback: AtCap},
			noted(at("A", true, Approved, 1, ""), "Approved in review 1.")},
		"rejected": {at("A", false, NeedsReview, 0, ""), Opinion{Feedback: " mend it\n"},
			at("A", false, ChangesRequested, 1, "mend it")},
		"without a word": {at("A", false, NeedsReview, 0, ""), Opinion{Feedback: "\n"},
			at("A", false, ChangesRequested, 1, noReason)},
		"rejected at the cap": {at("A", false, NeedsReview, 1, ""), Opinion{Feedback: "mend it"},
			noted(at("A", true, Approved, 2, "[AUTO-APPROVED AT CAP] mend it"), "Approved at the cap, in review 2.")},
		"beyond the cap": {noted(at("A", false, NeedsReview, 2, ""), "n"), Opinion{Feedback: "mend it"},
			noted(at("A", true, Approved, 3, "[AUTO-APPROVED AT CAP] mend it"), "n")},
		"no text of a file": {at("A", false, NeedsReview, 0, ""), Opinion{Feedback: "a\x00b\xffc"},
			at("A", false, ChangesRequested, 1, "ab\ufffdc")},
		"not handed in": {at("A", false, Unreviewed, 0, ""), Opinion{Approve: true},
			at("A", false, Unreviewed, 0, "")},
		"to be mended": {at("A", false, ChangesRequested, 1, "x"), Opinion{Approve: true},
			at("A", false, ChangesRequested, 1, "x")},
	} {
		other := at("B", false, NeedsReview, 0, "")
		before := planOfStories(row.was, other)
		got := before.Reviewed("A", row.opinion, rules)
		if !reflect.DeepEqual(*got.Story("A"), row.want) || !reflect.DeepEqual(*got.Story("B"), other) {
			t.Errorf("%s: %+v\nwant %+v", name, got.Stories, row.want)
		}
		if !reflect.DeepEqual(before, planOfStories(row.was, other)) {
			t.Errorf("%s: the plan before was changed", name)
		}
		if _, err := Parse("tasks.json", got.Marshal()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if row.was.ReviewStatus == NeedsReview {
			if broken := Compare(before, got, "A", Review, rules); len(broken) > 0 {
				t.Errorf("%s breaks the rules: %q", name, told(broken))
			}
		}
	}
	p := planOfStories(at("A", false, NeedsReview, 0, ""))
	if got := p.Reviewed("X", Opinion{Approve: true}, rules); !reflect.DeepEqual(got, p) {
		t.Errorf("a review of a story that there is not: %+v", got)
	}
	if got := p.Reviewed("A", Opinion{Feedback: "x"}, Rules{}); got.Stories[0].Passes {
		t.Error("without a cap the first rejection passed the story")
	}
	long := p.Reviewed("A", Opinion{Feedback: strings.Repeat("é", maxFeedback)}, rules).Stories[0].ReviewFeedback
	if len(long) > maxFeedback+100 || !strings.HasSuffix(long, "[... the rest was cut: too long ...]") {
		t.Errorf("%d bytes of feedback", len(long))
	}
}

func TestAgrees(t *testing.T) {
	rules := Rules{ReviewCap: 2}
	at := storyAt
	for name, row := range map[string]struct {
		count           int // before
		after           Story
		approve, reject string // "yes", "no" or "unedited"
	}{
		"left alone":              {0, at("A", false, NeedsReview, 0, ""), "unedited", "unedited"},
		"approved":                {0, at("A", true, Approved, 1, ""), "yes", "no"},
		"changes requested":       {0, at("A", false, ChangesRequested, 1, "other words"), "no", "yes"},
		"requested without words": {0, at("A", false, ChangesRequested, 1, " "), "no", "no"},
		"by half":                 {0, at("A", false, Approved, 1, ""), "no", "no"},
		"by the other half":       {0, at("A", true, NeedsReview, 1, ""), "no", "no"},
		"requested and passed":    {0, at("A", true, ChangesRequested, 1, "x"), "no", "no"},
		"only counted":            {0, at("A", false, NeedsReview, 1, ""), "no", "no"},
		"only words":              {0, at("A", false, NeedsReview, 0, "x"), "no", "no"},
		"a cap too early":         {0, at("A", true, Approved, 1, AtCap+" x"), "no", "no"},
		"approved at the cap":     {1, at("A", true, Approved, 2, ""), "yes", "no"},
		"by the cap":              {1, at("A", true, Approved, 2, AtCap+" x"), "yes", "yes"},
		"by the cap, no words":    {1, at("A", true, Approved, 2, AtCap+" "), "yes", "no"},
		"requested at the cap":    {1, at("A", false, ChangesRequested, 2, "x"), "no", "yes"},
		"deleted":                 {0, at("B", false, NeedsReview, 0, ""), "no", "no"},
	} {
		before, after := planOfStories(at("A", false, NeedsReview, row.count, "")), planOfStories(row.after)
		for want, opinion := range map[string]Opinion{row.approve + " ": {Approve: true}, row.reject: {Feedback: "mend it"}} {
			agrees, edited := Agrees(before, after, "A", opinion, rules)
			got := map[bool]string{true: "yes", false: "no"}[agrees]
			if !edited && agrees {
				got = "unedited"
			}
			if got != strings.TrimSpace(want) {
				t.Errorf("%s, approve %t: %s, want %s", name, opinion.Approve, got, want)
			}
		}
	}
	if agrees, _ := Agrees(planOfStories(), planOfStories(at("A", true, Approved, 1, "")), "A", Opinion{Approve: true},
		rules); agrees {
		t.Error("a story that was not there is approved")
	}
}
