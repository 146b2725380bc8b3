package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Tally counts the stories that are done, and those of them that no one approved but the cap; "" for a run
// without a plan.
func (v View) Tally() string {
	p := v.State.Plan
	if p == nil {
		return ""
	}
	done, atCap := 0, 0
	for _, st := range p.Stories {
		if v.StoryDone(st) {
			done++
		}
		if st.AtCap() {
			atCap++
		}
	}
	word := "approved"
	if v.State.Rules().SkipReview {
		word = "done without a review"
	}
	text := fmt.Sprintf("%d of %d %s %s", done, len(p.Stories), safetext.Plural(len(p.Stories), "story", "stories"), word)
	if atCap > 0 {
		text += fmt.Sprintf(", %d of them only at the cap", atCap)
	}
	return text
}

// StoryDone reports whether a story needs nothing more.
func (v View) StoryDone(st plan.Story) bool {
	return st.Passes && (st.ReviewStatus == plan.Approved || v.State.Rules().SkipReview)
}

// reviews says how many of a story's reviews are used up: ", review 2/5"; "" before the first.
func (v View) reviews(st plan.Story) string {
	rules := v.State.Rules()
	if rules.SkipReview || st.ReviewCount == 0 {
		return ""
	}
	return fmt.Sprintf(", review %d/%d", st.ReviewCount, rules.ReviewCap)
}

// current is the story that the run is at; "" between two and after the end.
func (v View) current() string {
	s := v.State
	switch last := s.Last(); {
	case s.Plan == nil || s.End != nil:
		return ""
	case s.Turning != nil:
		return s.Turning.Story
	case last != nil && !last.Judged:
		return last.Story
	}
	return ""
}

func (v View) storyID(st plan.Story) string { return cmp.Or(v.name(st.ID, 40), "–") }

// storyItem is a story as one item of a task list.
func (v View) storyItem(st plan.Story, title int) string {
	box, loud := "[ ]", ""
	if v.StoryDone(st) {
		box = "[x]"
	}
	state := wording.StoryState(st)
	if st.AtCap() {
		loud, state = "⚠️ ", "**"+state+"**"
	}
	item := fmt.Sprintf("- %s %s%s", box, loud, v.storyID(st))
	if t := v.Text(st.Title, title); t != "" {
		item += " " + t
	}
	item += " — " + state + v.reviews(st)
	if st.ID == v.current() {
		item += " ⏳"
	}
	return item + "\n"
}

// storySection is the list under a heading of its own.
func (v View) storySection(r room) string {
	return wording.Titled("Stories", v.storyList(r))
}

// storyList is the list alone: the headline has the tally.
func (v View) storyList(r room) string {
	return strings.Trim(strings.TrimPrefix(v.stories(r), storyLead+v.Tally()+"\n"), "\n")
}

const storyLead = "**Stories:** "

// stories is the check list of the plan's stories. Of many it shows those that matter now, and folds the whole list.
func (v View) stories(r room) string {
	p := v.State.Plan
	if p == nil {
		return ""
	}
	text := storyLead + v.Tally() + "\n"
	if r.stories == 0 || len(p.Stories) == 0 {
		return text
	}
	text += "\n"
	if len(p.Stories) <= r.stories {
		return text + v.storyItems(p.Stories, 100)
	}
	shown := v.urgent(r.stories)
	text += v.storyItems(shown, 100) + fmt.Sprintf("- %d more\n", len(p.Stories)-len(shown))
	if r.folded == 0 {
		return text
	}
	text += fmt.Sprintf("\n<details><summary>All %d stories</summary>\n\n%s", len(p.Stories),
		v.storyItems(p.Stories[:min(r.folded, len(p.Stories))], 60))
	if rest := len(p.Stories) - r.folded; rest > 0 {
		text += fmt.Sprintf("- %d more\n", rest)
	}
	return text + "\n</details>\n"
}

func (v View) storyItems(stories []plan.Story, title int) string {
	var b strings.Builder
	for _, st := range stories {
		b.WriteString(v.storyItem(st, title))
	}
	return b.String()
}

// urgent are the stories to look at first, in the plan's order: the present one, those in review, those at the cap, the
// open ones.
func (v View) urgent(most int) []plan.Story {
	order := make([]int, len(v.State.Plan.Stories))
	for i := range order {
		order[i] = i
	}
	rank := func(st plan.Story) int {
		switch {
		case st.ID == v.current():
			return 0
		case st.AtCap():
			return 3
		case v.StoryDone(st):
			return 5
		case st.ReviewStatus == plan.ChangesRequested:
			return 1
		case st.ReviewStatus == plan.NeedsReview:
			return 2
		}
		return 4
	}
	all := v.State.Plan.Stories
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(all[a]), rank(all[b])) })
	order = order[:most]
	slices.Sort(order)
	var out []plan.Story
	for _, i := range order {
		out = append(out, all[i])
	}
	return out
}

// step names the story that the run is at, with its mode: "US-002, review 2 of 5"; "" when there is none.
func (v View) step() string {
	id := v.current()
	if id == "" {
		return ""
	}
	mode := loop.Mode("")
	if t := v.State.Turning; t != nil {
		mode = t.Mode
	} else if last := v.State.Last(); last != nil {
		mode = last.Mode
	}
	text := v.name(id, 40) + ", " + v.mode(mode)
	if st := v.State.Plan.Story(id); st != nil && mode == loop.Review {
		text += fmt.Sprintf(" %d of %d", v.reviewOf(*st), v.State.Rules().ReviewCap)
	}
	return text
}

// reviewOf is the number of the review that a story is in: while the turn runs it has not been counted.
func (v View) reviewOf(st plan.Story) int {
	last := v.State.Last()
	if v.State.Turning == nil && last != nil && last.Commit != nil && last.Commit.Plan != nil &&
		last.Commit.Plan.Opinion != nil {
		return st.ReviewCount
	}
	return st.ReviewCount + 1
}

// open reports whether a story of the plan is not done.
func (v View) open() bool {
	return slices.ContainsFunc(v.State.Plan.Stories, func(st plan.Story) bool { return !v.StoryDone(st) })
}
