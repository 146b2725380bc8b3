package report

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/report/wording"
)

// atCap says loudly which stories no one approved but the cap of reviews, and what is open in them.
func (v View) atCap(r room) string {
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
	most := max(r.remarks, 1)
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

// unapproved lists the stories that are not done, each with what its review asked for.
func (v View) unapproved(r room) string {
	if v.State.Plan == nil || r.remarks == 0 {
		return ""
	}
	var b strings.Builder
	listed, more := 0, 0
	told := v.State.End != nil && v.failing() == "" // of the first one, by the headline
	for _, st := range v.State.Plan.Stories {
		switch {
		case v.StoryDone(st):
		case told && len([]rune(st.ReviewFeedback)) <= mostCause:
			told = false
		case listed == 2*r.remarks:
			more++
		default:
			told = false
			listed++
			item := fmt.Sprintf("- **%s** %s — %s%s", v.storyID(st), v.Text(st.Title, 100), wording.StoryState(st),
				v.reviews(st))
			if said := v.Text(st.ReviewFeedback, 600); said != "" {
				item += ": " + said
			}
			b.WriteString(item + "\n")
		}
	}
	if more > 0 {
		fmt.Fprintf(&b, "- %d more\n", more)
	}
	return b.String()
}
