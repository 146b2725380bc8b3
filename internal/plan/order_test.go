package plan

import (
	"strings"
	"testing"
)

func TestPlanOrder(t *testing.T) {
	on := func(id string, priority float64, ids ...string) Story {
		return Story{ID: id, Priority: priority, DependsOn: ids}
	}
	for name, row := range map[string]struct {
		stories []Story
		want    string
	}{
		"no stories":          {nil, ""},
		"as in the file":      {[]Story{on("B", 1), on("A", 1), on("C", 1)}, "B A C"},
		"by priority":         {[]Story{on("A", 3), on("B", -1), on("C", 2.5)}, "B C A"},
		"dependencies first":  {[]Story{on("A", 1, "C"), on("B", 2), on("C", 3)}, "B C A"},
		"one ready meanwhile": {[]Story{on("A", 9), on("B", 1, "C"), on("C", 5), on("D", 2)}, "D C B A"},
		"a diamond":           {[]Story{on("D", 1, "B", "C"), on("C", 2, "A"), on("B", 3, "A"), on("A", 4)}, "A C B D"},
		"one named twice":     {[]Story{on("A", 1, "B", "B"), on("B", 2)}, "B A"},
		"none of it": {[]Story{on("A", 1, "B")},
			`story A depends on "B", which is no story here; add it, or take it out of dependsOn`},
		"of another case": {[]Story{on("A", 1, "b"), on("B", 1)},
			`story A depends on "b", which is no story here; add it, or take it out of dependsOn`},
		"on itself": {[]Story{on("A", 1, "A")},
			"stories wait for each other: A → A; take one of these out of dependsOn"},
		"two": {[]Story{on("US-001", 1), on("US-002", 1, "US-003"), on("US-003", 1, "US-002")},
			"stories wait for each other: US-002 → US-003 → US-002; take one of these out of dependsOn"},
		"one that waits there": {[]Story{on("A", 1, "B"), on("B", 1, "D", "C"), on("C", 1, "B"), on("D", 1)},
			"stories wait for each other: B → C → B; take one of these out of dependsOn"},
	} {
		order, err := Plan{Stories: row.stories}.Order()
		got := strings.Join(order, " ")
		if err != nil {
			got = err.Error()
		}
		if got != row.want {
			t.Errorf("%s: got %s, want %s", name, got, row.want)
		}
	}
}

// TestPlanOrderOfALongCycle: a message stays one that can be read.
func TestPlanOrderOfALongCycle(t *testing.T) {
	stories := manyStories(maxStories)
	for i := range stories {
		stories[i].DependsOn = []string{stories[(i+1)%len(stories)].ID}
	}
	_, err := Plan{Stories: stories}.Order()
	if err == nil || !strings.Contains(err.Error(), ": US-1000 → US-001 → ") || len(err.Error()) > 700 {
		t.Errorf("%v", err)
	}
}

// TestMode: the row of S4-18, and with SkipReview of S4-96.
func TestMode(t *testing.T) {
	null, needs, changes, done := storyAt("N", false, Unreviewed, 0, ""), storyAt("R", false, NeedsReview, 0, ""),
		storyAt("C", false, ChangesRequested, 1, "mend it"), storyAt("D", true, Approved, 1, "")
	for _, row := range []struct {
		stories []Story
		want    Mode
	}{
		{nil, Implement},
		{[]Story{null}, Implement},
		{[]Story{done}, Implement},
		{[]Story{null, needs, done}, Review},
		{[]Story{needs, changes, null}, ReviewFix},
		{[]Story{changes, needs}, ReviewFix},
		{[]Story{null, changes, done}, ReviewFix},
	} {
		p := Plan{Stories: row.stories}
		if got := p.Mode(Rules{}); got != row.want {
			t.Errorf("%+v: %s, want %s", p.Snapshot(), got, row.want)
		}
		if got := p.Mode(Rules{SkipReview: true}); got != Implement {
			t.Errorf("%+v without reviews: %s", p.Snapshot(), got)
		}
	}
}

// TestNextStory: the highest priority of those whose dependencies have passed (S4-87).
func TestNextStory(t *testing.T) {
	at := func(id string, priority float64, passes bool, status ReviewStatus, on ...string) Story {
		s := storyAt(id, passes, status, 0, "")
		s.Priority, s.DependsOn = priority, on
		return s
	}
	for name, row := range map[string]struct {
		mode    Mode
		stories []Story
		want    string
		skipped string // with SkipReview
	}{
		"the best priority": {Implement, []Story{at("A", 2, false, ""), at("B", 1, false, ""), at("C", 1, false, "")},
			"B", "B"},
		"what it waits for":     {Implement, []Story{at("A", 1, false, "", "B"), at("B", 2, false, "")}, "B", "B"},
		"waited for":            {Implement, []Story{at("A", 1, false, "", "B"), at("B", 2, true, Approved)}, "A", "A"},
		"passed and not so":     {Implement, []Story{at("A", 1, false, "", "B"), at("B", 2, true, "")}, "", "A"},
		"in review":             {Implement, []Story{at("A", 1, false, NeedsReview)}, "", "A"},
		"all done":              {Implement, []Story{at("A", 1, true, Approved)}, "", ""},
		"none":                  {Implement, nil, "", ""},
		"an unknown dependency": {Implement, []Story{at("A", 1, false, "", "X")}, "", ""},
		"the best review": {Review,
			[]Story{at("A", 2, false, NeedsReview), at("B", 1, false, NeedsReview), at("C", 0, false, "")}, "B", ""},
		"a review in any case": {Review, []Story{at("A", 1, false, NeedsReview, "B"), at("B", 1, false, "")}, "A", ""},
		"the best fix": {ReviewFix,
			[]Story{at("A", 2, false, ChangesRequested), at("B", 1, false, ChangesRequested), at("C", 0, false, NeedsReview)},
			"B", ""},
		"a fix in any case": {ReviewFix, []Story{at("A", 1, false, ChangesRequested, "B"), at("B", 1, false, "")}, "A",
			""},
		"a mode that there is no": {"merge", []Story{at("A", 1, false, "")}, "", ""},
	} {
		for skip, want := range map[bool]string{false: row.want, true: row.skipped} {
			s, ok := Plan{Stories: row.stories}.Next(row.mode, Rules{SkipReview: skip})
			if s.ID != want || ok != (want != "") {
				t.Errorf("%s, SkipReview %t: %q %t, want %q", name, skip, s.ID, ok, want)
			}
		}
	}
}

func TestComplete(t *testing.T) {
	for name, row := range map[string]struct {
		stories           []Story
		reviewed, without bool
		passed            int
	}{
		"no stories": {nil, false, false, 0},
		"all approved": {[]Story{storyAt("A", true, Approved, 1, ""), storyAt("B", true, Approved, 5, AtCap+" x")},
			true, true, 2},
		"one that is not": {[]Story{storyAt("A", true, Approved, 1, ""), storyAt("B", false, NeedsReview, 1, "")}, false,
			false, 1},
		"passed, no review":   {[]Story{storyAt("A", true, Unreviewed, 0, "")}, false, true, 1},
		"approved and failed": {[]Story{storyAt("A", false, Approved, 1, "")}, false, false, 0},
	} {
		p := Plan{Stories: row.stories}
		if got := p.Complete(Rules{}); got != row.reviewed {
			t.Errorf("%s: %t", name, got)
		}
		if got := p.Complete(Rules{SkipReview: true}); got != row.without {
			t.Errorf("%s without reviews: %t", name, got)
		}
		if got := p.Passed(); got != row.passed {
			t.Errorf("%s: %d passed", name, got)
		}
	}
}

// TestEstimate: five stories take about fifteen iterations (S4-133), and one takes ten at the most with a cap of five.
func TestEstimate(t *testing.T) {
	five := Rules{ReviewCap: 5}
	for name, row := range map[string]struct {
		stories      []Story
		rules        Rules
		likely, most int
	}{
		"five":           {manyStories(5), five, 15, 50},
		"one":            {manyStories(1), five, 3, 10},
		"no cap":         {manyStories(1), Rules{}, 3, 10},
		"a cap of one":   {manyStories(2), Rules{ReviewCap: 1}, 4, 4},
		"without":        {manyStories(4), Rules{SkipReview: true, ReviewCap: 5}, 4, 4},
		"all done":       {[]Story{storyAt("A", true, Approved, 1, "")}, five, 0, 0},
		"to review":      {[]Story{storyAt("A", false, NeedsReview, 0, "")}, five, 2, 9},
		"once reviewed":  {[]Story{storyAt("A", false, NeedsReview, 3, "")}, five, 2, 3},
		"the last":       {[]Story{storyAt("A", false, NeedsReview, 4, "")}, five, 1, 1},
		"to mend":        {[]Story{storyAt("A", false, ChangesRequested, 1, "x")}, five, 2, 8},
		"beyond the cap": {[]Story{storyAt("A", false, ChangesRequested, 5, "x")}, five, 2, 2},
	} {
		if likely, most := (Plan{Stories: row.stories}).Estimate(row.rules); likely != row.likely || most != row.most {
			t.Errorf("%s: %d to %d, want %d to %d", name, likely, most, row.likely, row.most)
		}
	}
}
