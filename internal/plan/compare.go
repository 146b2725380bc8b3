package plan

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Compare is every rule that the harness holds an iteration to: Invariants, Transitions, and what no one may do to a
// plan while it is run : delete or rename a story, rewrite its title, description or criteria (a criterion may move to
// a new story, never vanish), change project, branch, description or verify commands, add a story that has passed,
// bring in a cycle. story is the one that the iteration was given; any other's review fields are out of bounds, and
// with SkipReview any other's passes.
func Compare(before, after Plan, story string, m Mode, r Rules) []Violation {
	c := comparison{transition{before: before.Snapshot(), after: after, rules: r, given: story}, before, m}
	if r.SkipReview {
		c.mode = Implement
		c.withoutReviews()
	} else {
		c.invariants()
		c.violations(m)
	}
	c.plan()
	c.stories()
	return c.found
}

// comparison is a plan before and after an iteration that was given a story.
type comparison struct {
	transition
	was  Plan
	mode Mode
}

// invariants hold of a plan whatever was changed. A count that was beyond the cap before, since someone has lowered
// the cap, is no one's fault.
func (c *comparison) invariants() {
	for _, v := range c.after.Invariants(c.rules) {
		if v.Field != "reviewCount" || c.before[v.Story].ReviewCount <= c.rules.cap() {
			c.found = append(c.found, v)
		}
	}
}

// withoutReviews is for a plan that is run without reviews: nothing but the story that the iteration was given may be
// passed, and no review field changes.
func (c *comparison) withoutReviews() {
	c.gone()
	c.newStories()
	for _, s := range c.after.Stories {
		was, known := c.before[s.ID]
		if !known {
			continue
		}
		for _, step := range was.stepsTo(s.standing()) {
			if step.field == "passes" && s.Passes && s.ID == c.given {
				continue
			}
			c.found.add(transitionCheck, s.ID, step.field,
				"Story %s had illegal transition: %s. Without reviews an iteration may set passes=true "+
					"for the story that it was given, %s, and nothing else.", s.ID, step, c.given)
		}
	}
}

// plan holds what is the plan's own, and that its stories can be done in some order. How the file orders them is free.
func (c *comparison) plan() {
	for _, key := range differing(c.was.own(), c.after.own()) {
		if !slices.Contains(planKeys, key) {
			key = safetext.Quoted(key)
		}
		c.fixed("", key, "The plan's "+key)
	}
	if _, err := c.after.Order(); err != nil {
		c.found.add(contentCheck, "", "dependsOn", "The plan cannot be done in any order: %v.", err)
	}
}

// own are the plan's members but its stories, as JSON.
func (p Plan) own() map[string]json.RawMessage {
	p.Stories = nil
	return members(p.Marshal())
}

func (c *comparison) fixed(story, field, what string) {
	c.found.add(contentCheck, story, field, "%s changed; put it back as it was.", what)
}

// stories holds what may change in a story besides its standing.
func (c *comparison) stories() {
	moved := map[string]bool{} // the criteria of new stories
	for _, s := range c.after.Stories {
		if c.was.Story(s.ID) == nil {
			for _, text := range s.AcceptanceCriteria {
				moved[safetext.OneLine(text)] = true
			}
		}
	}
	for _, s := range c.after.Stories {
		if s.Passes && strings.TrimSpace(s.Notes) == "" {
			c.found.add(schemaCheck, s.ID, "notes", "Story %s has passes=true and empty notes; say in notes what was done.",
				s.ID)
		}
		if w := c.was.Story(s.ID); w != nil {
			c.text(*w, s, moved)
			c.feedback(*w, s)
			c.untouched(*w, s)
		} else if s.ReviewFeedback != "" {
			c.found.add(contentCheck, s.ID, "reviewFeedback", "New story %s must start with empty reviewFeedback.", s.ID)
		}
	}
}

// text holds what a story asks for.
func (c *comparison) text(was, is Story, moved map[string]bool) {
	if was.Title != is.Title {
		c.fixed(is.ID, "title", "The title of story "+is.ID)
	}
	if was.Description != is.Description {
		c.fixed(is.ID, "description", "The description of story "+is.ID)
	}
	if slices.Equal(was.AcceptanceCriteria, is.AcceptanceCriteria) {
		return
	}
	if was.Passes { // what it was approved for
		c.fixed(is.ID, "acceptanceCriteria", "The acceptance criteria of story "+is.ID+", which has passed,")
		return
	}
	stays := map[string]bool{}
	for _, text := range is.AcceptanceCriteria {
		stays[safetext.OneLine(text)] = true
	}
	kept := 0
	for _, text := range was.AcceptanceCriteria {
		switch key := safetext.OneLine(text); {
		case stays[key]:
			kept++
		case !moved[key]:
			c.found.add(contentCheck, is.ID, "acceptanceCriteria",
				"Story %s lost the acceptance criterion %s; put it back word for word, "+
					"or move it into a new story.", is.ID, safetext.Quoted(text))
		}
	}
	if kept == 0 && len(was.AcceptanceCriteria) > 0 {
		c.found.add(contentCheck, is.ID, "acceptanceCriteria",
			"Story %s lost all of its acceptance criteria; keep at least one of them.", is.ID)
	}
}

// feedback checks that only the review, or the iteration that addresses it, changes a review's words.
func (c *comparison) feedback(was, is Story) {
	reviewed := c.mode == Review && is.ID == c.given
	again := c.mode == ReviewFix && is.ID == c.given && was.ReviewStatus == ChangesRequested &&
		is.ReviewStatus == NeedsReview
	if was.ReviewFeedback != is.ReviewFeedback && (c.rules.SkipReview || !reviewed && !again) {
		c.fixed(is.ID, "reviewFeedback", "The reviewFeedback of story "+is.ID)
	}
}

// untouched holds that a review changes nothing but what it says of its story.
func (c *comparison) untouched(was, is Story) {
	if c.mode != Review {
		return
	}
	before, _ := was.MarshalJSON()
	after, _ := is.MarshalJSON()
	for _, key := range differing(members(before), members(after)) {
		switch {
		case !slices.Contains(storyKeys, key):
			c.fixed(is.ID, safetext.Quoted(key), safetext.Quoted(key)+" of story "+is.ID)
		case key == "acceptanceCriteria", key == "priority", key == "dependsOn", key == "notes" && is.ID != c.given:
			c.found.add(contentCheck, is.ID, key,
				"The review changed %s of story %s; a review changes nothing but the review fields and notes of its story.",
				key, is.ID)
		} // the others are not a review's alone
	}
}

// differing are the keys whose values are not the same JSON in both, sorted.
func differing(a, b map[string]json.RawMessage) []string {
	var out []string
	for key, value := range a {
		if other, ok := b[key]; !ok || !sameJSON(value, other) {
			out = append(out, key)
		}
	}
	for key := range maps.Keys(b) {
		if _, ok := a[key]; !ok {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// sameJSON compares the values of two texts: a rewritten file can have é for \u00e9.
func sameJSON(a, b json.RawMessage) bool {
	if string(a) == string(b) {
		return true
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// Accept is what the harness takes of an iteration's edit: after, when there are no violations; else after with the review
// fields of before, when that breaks no rule any more; else before. In a review that a harness has the verdict of, what
// is taken is what Reviewed makes of it: Agrees.
func Accept(before, after Plan, story string, m Mode, r Rules) (Plan, []Violation) {
	found := violations(Compare(before, after, story, m, r))
	if len(found) == 0 && !after.fits() {
		found.add(contentCheck, "", "userStories", "The plan is larger than %d stories or %d bytes; take out what was added.",
			maxStories, maxPlan)
	}
	if len(found) == 0 {
		return after, nil
	}
	if rest := after.Restored(before); rest.fits() && len(Compare(before, rest, story, m, r)) == 0 {
		return rest, found
	}
	return before, found
}

// fits reports whether Parse would read what Marshal writes.
func (p Plan) fits() bool {
	return len(p.Stories) <= maxStories && len(p.Marshal()) <= maxPlan
}
