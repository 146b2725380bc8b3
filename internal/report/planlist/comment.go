// Package planlist offers a plan as a list in a comment, which people edit, and reads it back from there.
package planlist

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Marker is the line by which the comment with a task's plan is found again. Like a run's own it proves nothing by
// itself.
func Marker(name string) string { return planMark + wording.MarkerName(name) + " -->" }

// OldMarker is the line that comments began with in which the block of JSON was the plan.
func OldMarker(name string) string { return oldPlanMark + wording.MarkerName(name) + " -->" }

const (
	planMark    = "<!-- ralph:plan-list:"
	oldPlanMark = "<!-- ralph:plan:"
)

// tooLarge is what the comment says of a plan that it does not hold.
const tooLarge = "This plan is too large for a comment"

// Comment offers a plan to be edited and approved: the list of its stories, which is what runs when someone
// approves, and folded the tasks.json that was made of it. likely and most are how many iterations it takes. Its first
// line is PlanMarker of the view's task; it has at most 65,000 bytes. A plan that is too large for a comment is told
// without its list, and ReadPlan gets nothing out of it.
func Comment(v report.View, pl plan.Plan, likely, most int) string {
	shown, ok := plan.Plan{}, false
	if len(pl.Marshal()) <= 2*report.CommentLimit { // whatever is taken out of it
		shown, ok = listedPlan(v, pl)
	}
	for _, block := range []bool{true, false} { // the list is there whole or not at all
		if text := planText(v, shown, likely, most, block); ok && len(text) <= report.CommentLimit {
			return text
		}
	}
	var p wording.Markdown
	p.Line("%s", Marker(v.State.Start.Task))
	p.Part("### 📋 " + wording.JoinedBy(": ", "The plan", v.Text(pl.Project, 100)))
	p.Part(planSize(pl, likely, most) + ".")
	p.Part(wording.JoinedBy(" ", "⚠️ **"+tooLarge+"**, so it cannot be edited or approved here.",
		wording.Sentence(v.Offer("plan <hint>", "asks for a smaller one")), "Or commit a plan to the repository as "+
			"`ralph/tasks.json` and start the workflow with the input `plan` set to that path."))
	return p.String()
}

func planSize(plan plan.Plan, likely, most int) string {
	return fmt.Sprintf("**%d %s, about %d iterations** (at most %d)", len(plan.Stories),
		safetext.Plural(len(plan.Stories), "story", "stories"), likely, most)
}

func planText(v report.View, plan plan.Plan, likely, most int, withBlock bool) string {
	var p wording.Markdown
	p.Line("%s", Marker(v.State.Start.Task))
	p.Part("### 📋 " + wording.JoinedBy(": ", "The plan", v.Text(plan.Project, 100)))
	p.Part(wording.JoinedBy(" ", planSize(plan, likely, most)+".", wording.Sentence(v.Offer("approve", "runs it"))))
	p.Part(v.Text(plan.Description, 600))
	list := planList(v, plan)
	p.Part(listHeading + "\n\n" + list)
	p.Part(wording.JoinedBy(" Then ", "#### Change it\n\n**Edit this comment: the list is what runs.** Move, reword, delete "+
		"or add lines. A new story is a line such as `- [ ] Greet people by name`; what it must fulfil are lines below it such "+
		"as `  - an empty name is refused`.", wording.Sentence(v.Offer("approve", "runs the list as it is at that moment"))))
	if len(plan.VerifyCommands) > 0 {
		p.Part("**Verified by:** " + planCommands(v, plan.VerifyCommands))
	}
	block := ""
	if withBlock {
		block = planBlock(v, plan)
	}
	p.Part(wording.Folded("As ralph wrote it: tasks.json. It is made of the list; edit the list instead",
		block) + writtenPlan(list, block))
	return p.String()
}

// planBlock is the plan as a fenced block of JSON without secrets and without what no one can see; empty when that is
// no JSON any more.
func planBlock(v report.View, plan plan.Plan) string {
	content := v.Clean(string(plan.Marshal()))
	if !json.Valid([]byte(content)) {
		return ""
	}
	return "```json\n" + strings.TrimRight(content, "\n") + "\n```\n"
}

func planCommands(v report.View, commands []string) string {
	var names []string
	for i, c := range commands {
		if i == 20 {
			names = append(names, fmt.Sprintf("%d more", len(commands)-i))
			break
		}
		names = append(names, v.Code(c, 100))
	}
	return strings.Join(names, ", ")
}
