package report

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/report/wording"
)

// storyItems are stories as a task list, each open one with what its review asks for.
func (v View) storyItems(stories []plan.Story, title, feedback int) (list string) {
	for _, st := range stories {
		box, loud := "[ ]", ""
		if StoryDone(v.State, st) {
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
		item += " — " + state + reviews(v.State, st)
		if st.ID == current(v.State) {
			item += " ⏳"
		}
		if said := v.Text(st.ReviewFeedback, feedback); said != "" && feedback > 0 && !StoryDone(v.State, st) {
			item += ": " + said
		}
		list += item + "\n"
	}
	return list
}

// stories is the tally with the list below it; "" for a run without a plan.
func (v page) stories() string {
	if v.State.Plan == nil {
		return ""
	}
	return wording.JoinedBy("\n\n", "**Stories:** "+Tally(v.State), v.storyList())
}

// storyList is the check list of the plan's stories. Of many it shows those that matter now, and folds the whole list.
func (v page) storyList() string {
	p := v.State.Plan
	if p == nil || v.room.stories == 0 || len(p.Stories) == 0 {
		return ""
	}
	if len(p.Stories) <= v.room.stories {
		return v.storyItems(p.Stories, 100, 300)
	}
	shown := urgent(v.State, v.room.stories)
	text := v.storyItems(shown, 100, 300) + fmt.Sprintf("- %d more\n", len(p.Stories)-len(shown))
	if v.folded == 0 {
		return text
	}
	all := v.storyItems(p.Stories[:min(v.folded, len(p.Stories))], 60, 0)
	if rest := len(p.Stories) - v.folded; rest > 0 {
		all += fmt.Sprintf("- %d more\n", rest)
	}
	return text + "\n" + wording.Folded(fmt.Sprintf("All %d stories", len(p.Stories)), all)
}

// atCap says loudly which stories no one approved but the cap of reviews, and what is open in them.
func (v page) atCap() string {
	var capped []plan.Story
	if v.State.Plan != nil {
		for _, st := range v.State.Plan.Stories {
			if st.AtCap() {
				capped = append(capped, st)
			}
		}
	}
	if len(capped) == 0 {
		return ""
	}
	most := max(v.remarks, 1)
	var b strings.Builder
	for i, st := range capped {
		if i == most {
			fmt.Fprintf(&b, ">\n> ⚠️ **`%s`** %d more stories, too.\n", plan.AtCap, len(capped)-i)
			break
		}
		if i > 0 {
			b.WriteString(">\n")
		}
		fmt.Fprintf(&b, "> ⚠️ **`%s`** %s was approved because its %s used up", plan.AtCap, v.storyID(st),
			were(st.ReviewCount))
		if open := v.Text(wording.OpenPoints(st), 120*most); open != "" {
			b.WriteString("; its open points: " + wording.Sentence(open) + "\n")
		} else {
			b.WriteString(".\n")
		}
	}
	return b.String()
}

func were(reviews int) string {
	if reviews == 1 {
		return "1 review was"
	}
	return fmt.Sprintf("%d reviews were", reviews)
}
