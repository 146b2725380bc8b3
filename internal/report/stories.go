package report

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// storyItem is a story in a task list, an open one with what its review asks for.
func (v View) storyItem(st plan.Story) string {
	box, loud, state := "[ ] ", "", wording.StoryState(st)
	asks := v.Text(st.ReviewFeedback, 300)
	if st.Done(v.State.Rules()) {
		box, asks = "[x] ", ""
	}
	if st.AtCap() {
		loud, state = "⚠️ ", "**"+state+"**"
	}
	state += reviews(v.State, st)
	if st.ID == current(v.State) {
		state += " ⏳"
	}
	return wording.JoinedBy(" — ", box+loud+wording.JoinedBy(" ", v.storyID(st), v.Text(st.Title, 100)), wording.JoinedBy(": ", state, asks))
}

// storyList is the check list of the plan's stories. Of many it shows those that matter now, and counts the others.
func (v View) storyList(most int) string {
	if v.State.Plan == nil {
		return ""
	}
	shown := urgent(v.State, most)
	list := items(safetext.Map(shown, v.storyItem), len(shown))
	if more := len(v.State.Plan.Stories) - len(shown); more > 0 {
		list += fmt.Sprintf("- %d more\n", more)
	}
	return list
}

// atCap says loudly which stories no one approved but the cap of reviews, and what is open in them.
func (v page) atCap() string {
	var capped []string
	if v.State.Plan != nil {
		for _, st := range v.State.Plan.Stories {
			if st.AtCap() {
				text := fmt.Sprintf("⚠️ **`%s`** %s was approved because its %s %s used up", plan.AtCap, v.storyID(st),
					safetext.Count(st.ReviewCount, "review"), safetext.WasWere(st.ReviewCount))
				capped = append(capped, wording.Sentence(wording.JoinedBy("; its open points: ", text,
					v.Text(wording.OpenPoints(st), v.most(1200)))))
			}
		}
	}
	if len(capped) == 0 {
		return ""
	}
	return "> " + strings.ReplaceAll(strings.TrimSpace(items(capped, v.most(10))), "\n", "\n> ") + "\n"
}
