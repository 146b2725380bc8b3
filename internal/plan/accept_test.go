package plan

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// agreed is a plan in the middle of its run, whose story B is the next in a mode.
func agreed(m Mode) Plan {
	a, b, c := storyAt("A", true, Approved, 1, ""), storyAt("B", false, Unreviewed, 0, ""),
		storyAt("C", false, Unreviewed, 0, "")
	b.AcceptanceCriteria = []string{"B shows", "B hides", "B stays"}
	b.Description, b.Extra = "As a user I want B", map[string]json.RawMessage{"points": json.RawMessage(`3`)}
	c.Priority, c.DependsOn = 2, []string{"B"}
	switch m {
	case Review:
		b.ReviewStatus, b.ReviewCount = NeedsReview, 1
	case ReviewFix:
		b.ReviewStatus, b.ReviewCount, b.ReviewFeedback = ChangesRequested, 2, "mend it"
	}
	p := planOfStories(a, b, c)
	p.Extra = map[string]json.RawMessage{"owner": json.RawMessage(`"us"`)}
	return p
}

// edited is the plan after an edit, through a file.
func edited(t *testing.T, p Plan, edit func(p *Plan, a, b, c *Story)) Plan {
	t.Helper()
	out, err := Parse("tasks.json", p.Marshal())
	noError(t, err)
	edit(&out, &out.Stories[0], &out.Stories[1], &out.Stories[2])
	return out
}

// TestCompareContent: what nobody may do to a plan while it is run (C8), and what is free. Each row is tried in each
// mode that it names, beside the step that an iteration of the mode takes.
func TestCompareContent(t *testing.T) {
	type edit = func(p *Plan, a, b, c *Story)
	work, all := []Mode{Implement, ReviewFix}, modes
	changed := func(what string) string { return "content " + what + " changed; put it back as it was." }
	reviewed := func(field, story string) string {
		return "content The review changed " + field + " of story " + story +
			"; a review changes nothing but the review fields and notes of its story."
	}
	lost := func(criterion string) string {
		return `content Story B lost the acceptance criterion "` + criterion + `"; put it back word for word, or move it into a new story.`
	}
	const deleted = "2.5 Story C was deleted; put it back as it was, stories of a plan stay in it."
	fresh := func(id string, criteria ...string) Story {
		s := storyAt(id, false, Unreviewed, 0, "")
		s.AcceptanceCriteria = append(s.AcceptanceCriteria, criteria...)
		return s
	}
	for name, row := range map[string]struct {
		in   []Mode
		edit edit
		want string
	}{
		"nothing besides":  {all, func(*Plan, *Story, *Story, *Story) {}, ""},
		"notes of its own": {all, func(_ *Plan, _, b, _ *Story) { b.Notes = "See b.go" }, ""},
		"notes of others":  {work, func(_ *Plan, a, _, c *Story) { a.Notes, c.Notes = "Done twice", "Mind b.go" }, ""},
		"a review's notes": {[]Mode{Review}, func(_ *Plan, a, _, _ *Story) { a.Notes = "Done twice" }, reviewed("notes", "A")},
		"no notes of a passed": {work, func(_ *Plan, a, _, _ *Story) { a.Notes = " " },
			"1 Story A has passes=true and empty notes; say in notes what was done."},
		"priorities":              {work, func(_ *Plan, _, b, c *Story) { b.Priority, c.Priority = 9, -1 }, ""},
		"a review's priorities":   {[]Mode{Review}, func(_ *Plan, _, b, _ *Story) { b.Priority = 9 }, reviewed("priority", "B")},
		"dependencies":            {work, func(_ *Plan, _, b, c *Story) { b.DependsOn, c.DependsOn = []string{"A"}, nil }, ""},
		"a review's dependencies": {[]Mode{Review}, func(_ *Plan, _, _, c *Story) { c.DependsOn = nil }, reviewed("dependsOn", "C")},
		"a cycle": {work, func(_ *Plan, _, b, _ *Story) { b.DependsOn = []string{"C"} },
			"content The plan cannot be done in any order: stories wait for each other: B → C → B; take one of these out of " +
				"dependsOn."},
		"none of the plan": {work, func(_ *Plan, _, b, _ *Story) { b.DependsOn = []string{"Z"} },
			`content The plan cannot be done in any order: story B depends on "Z", which is no story here; add it, or take it out of dependsOn.`},
		"the order of the file": {all, func(p *Plan, _, _, _ *Story) { slices.Reverse(p.Stories) }, ""},
		"a new story":           {work, func(p *Plan, _, _, _ *Story) { p.Stories = append(p.Stories, fresh("D")) }, ""},
		"a review's new story": {[]Mode{Review}, func(p *Plan, _, _, _ *Story) { p.Stories = append(p.Stories, fresh("D")) },
			"2.5 Review iteration made illegal transition on story D: a review adds no story."},
		"a new story, waited for": {work, func(p *Plan, _, _, c *Story) { c.DependsOn = []string{"D"}; p.Stories = append(p.Stories, fresh("D")) }, ""},
		"one that has feedback": {work, func(p *Plan, _, _, _ *Story) {
			d := fresh("D")
			d.ReviewFeedback = "x"
			p.Stories = append(p.Stories, d)
		}, "content New story D must start with empty reviewFeedback."},
		"one that is approved": {work, func(p *Plan, _, _, _ *Story) { p.Stories = append(p.Stories, storyAt("D", true, Approved, 0, "")) },
			"2.5 New story D must start with passes false, reviewStatus null and reviewCount 0; its passes is true.\n" +
				"2.5 New story D must start with passes false, reviewStatus null and reviewCount 0; its reviewStatus is approved."},
		"a deleted story":          {all, func(p *Plan, _, _, _ *Story) { p.Stories = p.Stories[:2] }, deleted},
		"a renamed story":          {work, func(_ *Plan, _, _, c *Story) { c.ID = "D" }, deleted},
		"a renamed story, by case": {work, func(_ *Plan, _, _, c *Story) { c.ID = "c" }, deleted},
		"a title":                  {all, func(_ *Plan, _, b, _ *Story) { b.Title += "!" }, changed("The title of story B")},
		"a description":            {all, func(_ *Plan, _, b, _ *Story) { b.Description = "" }, changed("The description of story B")},
		"a criterion more": {work, func(_ *Plan, _, b, c *Story) {
			b.AcceptanceCriteria = append(b.AcceptanceCriteria, "B glows")
			c.AcceptanceCriteria = append(c.AcceptanceCriteria, "C glows")
		}, ""},
		"a review's criterion":    {[]Mode{Review}, func(_ *Plan, _, b, _ *Story) { b.AcceptanceCriteria = append(b.AcceptanceCriteria, "B glows") }, reviewed("acceptanceCriteria", "B")},
		"another order":           {work, func(_ *Plan, _, b, _ *Story) { slices.Reverse(b.AcceptanceCriteria) }, ""},
		"other white space":       {work, func(_ *Plan, _, b, _ *Story) { b.AcceptanceCriteria[0] = " B\n shows" }, ""},
		"a criterion of a passed": {work, func(_ *Plan, a, _, _ *Story) { a.AcceptanceCriteria = append(a.AcceptanceCriteria, "A glows") }, changed("The acceptance criteria of story A, which has passed,")},
		"a lost criterion":        {work, func(_ *Plan, _, b, _ *Story) { b.AcceptanceCriteria = b.AcceptanceCriteria[1:] }, lost("B shows")},
		"a weaker criterion":      {work, func(_ *Plan, _, b, _ *Story) { b.AcceptanceCriteria[0] = "B may show" }, lost("B shows")},
		"a moved criterion": {work, func(p *Plan, _, b, _ *Story) {
			b.AcceptanceCriteria = b.AcceptanceCriteria[:1]
			p.Stories = append(p.Stories, fresh("B-2", "B  stays", "B hides"))
		}, ""},
		"moved to an old story": {work, func(_ *Plan, _, b, c *Story) {
			b.AcceptanceCriteria = b.AcceptanceCriteria[:2]
			c.AcceptanceCriteria = append(c.AcceptanceCriteria, "B stays")
		}, lost("B stays")},
		"all of them moved": {work, func(p *Plan, _, b, _ *Story) {
			p.Stories = append(p.Stories, fresh("B-2", b.AcceptanceCriteria...))
			p.Stories[1].AcceptanceCriteria = []string{"B is"}
		}, "content Story B lost all of its acceptance criteria; keep at least one of them."},
		"the project":            {all, func(p *Plan, _, _, _ *Story) { p.Project = "Q" }, changed("The plan's project")},
		"the branch":             {all, func(p *Plan, _, _, _ *Story) { p.BranchName = "main" }, changed("The plan's branchName")},
		"the plan's description": {all, func(p *Plan, _, _, _ *Story) { p.Description = "" }, changed("The plan's description")},
		"the commands":           {all, func(p *Plan, _, _, _ *Story) { p.VerifyCommands = []string{"true"} }, changed("The plan's verifyCommands")},
		"an unknown field": {all, func(p *Plan, _, _, _ *Story) { p.Extra["owner"] = json.RawMessage(`"them"`) },
			"content The plan's \"owner\" changed; put it back as it was."},
		"a new unknown field": {all, func(p *Plan, _, _, _ *Story) { p.Extra["model"] = json.RawMessage(`1`) },
			"content The plan's \"model\" changed; put it back as it was."},
		"no unknown field": {all, func(p *Plan, _, _, _ *Story) { p.Extra = nil },
			"content The plan's \"owner\" changed; put it back as it was."},
		"written otherwise": {all, func(p *Plan, _, _, _ *Story) { p.Extra["owner"] = json.RawMessage(`"\u0075s"`) }, ""},
		"a story's unknown": {work, func(_ *Plan, _, b, _ *Story) { b.Extra["points"] = json.RawMessage(`5`) }, ""},
		"a review's unknown": {[]Mode{Review}, func(_ *Plan, _, b, _ *Story) { b.Extra["points"] = json.RawMessage(`5`) },
			"content \"points\" of story B changed; put it back as it was."},
		"feedback of another":       {all, func(_ *Plan, a, _, _ *Story) { a.ReviewFeedback = "fine" }, changed("The reviewFeedback of story A")},
		"feedback without a review": {[]Mode{Implement}, func(_ *Plan, _, b, _ *Story) { b.ReviewFeedback = "fine" }, changed("The reviewFeedback of story B")},
	} {
		for _, m := range row.in {
			before := agreed(m)
			after := edited(t, before, func(p *Plan, a, b, c *Story) {
				switch m {
				case Implement:
					b.ReviewStatus = NeedsReview
				case Review:
					b.ReviewStatus, b.ReviewCount, b.Passes, b.Notes = Approved, 2, true, "Done."
				case ReviewFix:
					b.ReviewStatus, b.ReviewFeedback = NeedsReview, ""
				}
				row.edit(p, a, b, c)
			})
			got, broken := Accept(before, after, "B", m, Rules{ReviewCap: 5})
			if said := strings.Join(told(broken), "\n"); said != row.want {
				t.Errorf("%s, %s: got\n%s\nwant\n%s", name, m, said, row.want)
			}
			switch {
			case row.want == "" && !reflect.DeepEqual(got, after):
				t.Errorf("%s, %s: what is legal was not taken: %+v", name, m, got)
			case row.want != "" && !reflect.DeepEqual(got.Story("B").standing(), before.Story("B").standing()):
				t.Errorf("%s, %s: B stands at %+v", name, m, got.Story("B"))
			}
		}
	}
}

// TestGivenStory: only the story that the iteration was given makes a step, whatever the others could.
func TestGivenStory(t *testing.T) {
	for _, row := range []struct {
		mode     Mode
		was, is  Story // of X, which is not given
		givenWas Story
		want     string
	}{
		{Implement, storyAt("X", false, Unreviewed, 0, ""), storyAt("X", false, NeedsReview, 0, ""),
			storyAt("A", false, Unreviewed, 0, ""),
			"2.5 Story X was handed in for review, and the iteration was for story A; set its reviewStatus back to null. One " +
				"story an iteration."},
		{ReviewFix, storyAt("X", false, ChangesRequested, 1, "mend it"), storyAt("X", false, NeedsReview, 1, ""),
			storyAt("A", false, ChangesRequested, 1, "mend it"),
			"2.5 Story X was handed in for review, and the iteration was for story A; set its reviewStatus back to " +
				"changes_requested. One story an iteration.\n" +
				"content The reviewFeedback of story X changed; put it back as it was."},
		{Review, storyAt("X", false, NeedsReview, 1, ""), storyAt("X", true, Approved, 2, ""),
			storyAt("A", false, NeedsReview, 0, ""),
			"2.5 Review iteration made illegal transition on story A: reviewCount unchanged, a review must increment it from " +
				"0 to 1.\n" +
				"2.5 Review iteration made illegal transition on story A: reviewStatus is needs_review, a review sets approved " +
				"with passes=true, or changes_requested with reviewFeedback.\n" +
				"2.5 Review iteration made illegal transition on story X: passes false → true, and the story to review was A.\n" +
				"content The review changed notes of story X; a review changes nothing but the review fields and notes of its " +
				"story."},
	} {
		before, after := planOfStories(row.givenWas, row.was), planOfStories(row.givenWas, row.is)
		got, broken := Accept(before, after, "A", row.mode, Rules{ReviewCap: 5})
		if said := strings.Join(told(broken), "\n"); said != row.want {
			t.Errorf("%s: got\n%s\nwant\n%s", row.mode, said, row.want)
		}
		if !reflect.DeepEqual(got.Snapshot(), before.Snapshot()) {
			t.Errorf("%s: %+v", row.mode, got.Snapshot())
		}
		if broken := Compare(before, after, "", row.mode, Rules{ReviewCap: 5}); len(broken) == 0 {
			t.Errorf("%s: nobody was given a story, and X made its step", row.mode)
		}
	}
}

// TestReviewOfNothing: a review of a story that there is not is none.
func TestReviewOfNothing(t *testing.T) {
	p := agreed(Review)
	for given, want := range map[string]string{
		"":  "2.5 Review iteration changed no story: reviewCount unchanged, and a review must increment that of one story.",
		"Z": "2.5 Review iteration made illegal transition on story Z: there was no such story to review.",
	} {
		if got := told(Compare(p, p, given, Review, Rules{})); !slices.Equal(got, []string{want}) {
			t.Errorf("%q", got)
		}
	}
	none := edited(t, p, func(p *Plan, _, _, _ *Story) { p.Stories = p.Stories[:1] })
	none.Stories = append(none.Stories, p.Stories[2])
	const want = "2.5 Story B was deleted; put it back as it was, stories of a plan stay in it."
	if got := told(Compare(p, none, "B", Review, Rules{})); len(got) != 2 || got[0] != want { // and C waits for it
		t.Errorf("%q", got)
	}
}

// TestCompareWithoutReviews: S4-96 and S4-42.
func TestCompareWithoutReviews(t *testing.T) {
	rules := Rules{SkipReview: true, ReviewCap: 5}
	const only = " Without reviews an iteration may set passes=true for the story that it was given, B, and nothing else."
	for name, row := range map[string]struct {
		edit func(p *Plan, a, b, c *Story)
		want string
	}{
		"passes":  {func(_ *Plan, _, b, _ *Story) { b.Passes, b.Notes = true, "Done." }, ""},
		"nothing": {func(*Plan, *Story, *Story, *Story) {}, ""},
		"without notes": {func(_ *Plan, _, b, _ *Story) { b.Passes = true },
			"1 Story B has passes=true and empty notes; say in notes what was done."},
		"another": {func(_ *Plan, _, _, c *Story) { c.Passes, c.Notes = true, "Done." },
			"2.5 Story C had illegal transition: passes false → true." + only},
		"no more": {func(_ *Plan, a, _, _ *Story) { a.Passes = false },
			"2.5 Story A had illegal transition: passes true → false." + only},
		"a review status": {func(_ *Plan, _, b, _ *Story) { b.Passes, b.Notes, b.ReviewStatus = true, "Done.", Approved },
			"2.5 Story B had illegal transition: reviewStatus null → approved." + only},
		"a review count": {func(_ *Plan, _, b, _ *Story) { b.ReviewCount = 1 },
			"2.5 Story B had illegal transition: reviewCount 0 → 1." + only},
		"feedback": {func(_ *Plan, _, b, _ *Story) { b.ReviewFeedback = "fine" },
			"content The reviewFeedback of story B changed; put it back as it was."},
		"a new one": {func(p *Plan, _, _, _ *Story) {
			p.Stories = append(p.Stories, storyAt("D", false, Unreviewed, 0, ""))
		}, ""},
		"a new one, done": {func(p *Plan, _, _, _ *Story) {
			p.Stories = append(p.Stories, storyAt("D", true, Unreviewed, 0, ""))
		}, "2.5 New story D must start with passes false, reviewStatus null and reviewCount 0; its passes is true."},
		"a deleted one": {func(p *Plan, _, _, _ *Story) { p.Stories = p.Stories[:2] },
			"2.5 Story C was deleted; put it back as it was, stories of a plan stay in it."},
		"a title": {func(_ *Plan, _, b, _ *Story) { b.Title = "" },
			"content The title of story B changed; put it back as it was."},
	} {
		for _, m := range []Mode{Implement, Review} { // there is one mode
			before := agreed(Implement)
			after := edited(t, before, row.edit)
			got, broken := Accept(before, after, "B", m, rules)
			if said := strings.Join(told(broken), "\n"); said != row.want {
				t.Errorf("%s: got %s, want %s", name, said, row.want)
			}
			if row.want != "" && !reflect.DeepEqual(got.Snapshot(), before.Snapshot()) {
				t.Errorf("%s: accepted %+v", name, got.Snapshot())
			}
		}
	}
}

// TestAcceptKeepsWork: of an edit whose review fields alone are illegal the rest is kept; of any other nothing is.
func TestAcceptKeepsWork(t *testing.T) {
	before := agreed(Implement)
	edit := func(p *Plan, _, b, c *Story) {
		b.Notes, b.Priority, c.DependsOn = "Almost", 7, []string{"D"}
		p.Stories = append(p.Stories, storyAt("D", false, Unreviewed, 0, ""))
	}
	want := edited(t, before, edit)
	illegal := want.With()
	illegal.Stories[1].Passes = true
	got, broken := Accept(before, illegal, "B", Implement, Rules{ReviewCap: 5})
	if len(broken) == 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("%q\n%+v\nwant\n%+v", told(broken), got, want)
	}
	illegal.Stories[1].Title = "Easier"
	if got, _ := Accept(before, illegal, "B", Implement, Rules{ReviewCap: 5}); !reflect.DeepEqual(got, before) {
		t.Errorf("of another title: %+v", got)
	}
}

// TestAcceptStaysReadable: no edit makes a plan that would not be read any more.
func TestAcceptStaysReadable(t *testing.T) {
	before := planOfStories(manyStories(2)...)
	many := before.With(manyStories(maxStories + 1)...)
	if got, broken := Accept(before, many, "US-001", Implement, Rules{}); len(got.Stories) != 2 ||
		!slices.Equal(told(broken), []string{"content The plan is larger than 1000 stories or 4194304 bytes; take out what " +
			"was added."}) {
		t.Errorf("%d stories, %q", len(got.Stories), told(broken))
	}
	long := before.With()
	long.Stories[1].Notes = strings.Repeat("n", maxPlan)
	if got, broken := Accept(before, long, "US-001", Implement, Rules{}); len(broken) != 1 || got.Stories[1].Notes != "" {
		t.Errorf("%d bytes of notes, %q", len(got.Stories[1].Notes), told(broken))
	}
}

// TestALoweredCap: a count that was legal before the cap was lowered does not fail every iteration after.
func TestALoweredCap(t *testing.T) {
	rules := Rules{ReviewCap: 1}
	before := planOfStories(storyAt("A", false, ChangesRequested, 4, "mend it"))
	again := planOfStories(storyAt("A", false, NeedsReview, 4, ""))
	if broken := Compare(before, again, "A", ReviewFix, rules); len(broken) > 0 {
		t.Errorf("handing in again: %q", told(broken))
	}
	reviewed := again.Reviewed("A", Opinion{Feedback: "still"}, rules)
	if broken := Compare(again, reviewed, "A", Review, rules); len(broken) > 0 || !reviewed.Complete(rules) {
		t.Errorf("reviewing: %q, %+v", told(broken), reviewed.Stories)
	}
}
