package report

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// PlanMarker is the line by which the comment with a task's plan is found again. Like Marker it proves nothing by
// itself.
func PlanMarker(name string) string { return planMark + planName(name) + " -->" }

// OldPlanMarker is the line that comments began with in which the block of JSON was the plan.
func OldPlanMarker(name string) string { return oldPlanMark + planName(name) + " -->" }

const (
	planMark    = "<!-- ralph:plan-list:"
	oldPlanMark = "<!-- ralph:plan:"
)

func planName(name string) string { return safetext.Shorten(notRun.ReplaceAllString(name, ""), 80) }

// planRoom says what a plan's comment has besides its list, which is there whole or not at all.
type planRoom struct {
	block bool // the tasks.json
	nodes int  // of the graph
}

var planRooms = []planRoom{{true, 60}, {true, 0}, {false, 60}, {false, 0}}

// tooLarge is what the comment says of a plan that it does not hold.
const tooLarge = "This plan is too large for a comment"

// PlanComment offers a plan to be edited and approved: the list of its stories, which is what runs when somebody
// approves, and folded the tasks.json that was made of it. likely and most are how many iterations it takes. Its first
// line is PlanMarker of the view's task; it has at most 65,000 bytes. A plan that is too large for a comment is told
// without its list, and ReadPlan gets nothing out of it.
func PlanComment(v View, pl plan.Plan, likely, most int) string {
	shown, ok := plan.Plan{}, false
	if len(pl.Marshal()) <= 2*commentLimit { // whatever is taken out of it
		shown, ok = v.listedPlan(pl)
	}
	for _, r := range planRooms {
		if !ok {
			break
		}
		if text := v.planText(shown, likely, most, r); len(text) <= commentLimit {
			return text
		}
	}
	var p page
	p.line("%s", PlanMarker(v.State.Start.Task))
	p.part("### 📋 " + joinedBy(": ", "The plan", v.text(pl.Project, 100)))
	p.part(planSize(pl, likely, most) + ".")
	p.part(fmt.Sprintf("⚠️ **"+tooLarge+"**, so it cannot be edited or approved here. Ask for a smaller one with %s, or "+
		"commit a plan to the repository as `ralph/tasks.json` and start the workflow with the input `plan` set to that path.",
		v.command("plan <hint>")))
	return p.String()
}

func planSize(plan plan.Plan, likely, most int) string {
	return fmt.Sprintf("**%d %s, about %d iterations** (at most %d)", len(plan.Stories),
		safetext.Plural(len(plan.Stories), "story", "stories"), likely, most)
}

func (v View) planText(plan plan.Plan, likely, most int, r planRoom) string {
	var p page
	p.line("%s", PlanMarker(v.State.Start.Task))
	p.part("### 📋 " + joinedBy(": ", "The plan", v.text(plan.Project, 100)))
	p.part(fmt.Sprintf("%s. %s runs it.", planSize(plan, likely, most), v.command("approve")))
	p.part(v.text(plan.Description, 600))
	list := v.planList(plan)
	p.part(listHeading + "\n\n" + list)
	p.part(fmt.Sprintf("#### Change it\n\n**Edit this comment: the list is what runs.** Move, reword, delete or add "+
		"lines. A new story is a line such as `- [ ] Greet people by name`; what it must fulfil are lines below it such as "+
		"`  - an empty name is refused`. Then comment %s, which runs the list as it stands at that moment.",
		v.command("approve")))
	if len(plan.VerifyCommands) > 0 {
		p.part("**Verified by:** " + v.planCommands(plan.VerifyCommands))
	}
	block := ""
	if r.block {
		block = v.planBlock(plan)
	}
	p.part(v.folded("As ralph wrote it: tasks.json. It is made of the list; edit the list instead",
		joinedBy("\n", graph(plan, r.nodes), block)) + writtenPlan(list, block))
	return p.String()
}

// planBlock is the plan as a fenced block of JSON without secrets and without what nobody can see; empty when that is
// no JSON any more.
func (v View) planBlock(plan plan.Plan) string {
	content := v.clean(string(plan.Marshal()))
	if !json.Valid([]byte(content)) {
		return ""
	}
	return "```json\n" + strings.TrimRight(content, "\n") + "\n```\n"
}

func (v View) planCommands(commands []string) string {
	var names []string
	for i, c := range commands {
		if i == 20 {
			names = append(names, fmt.Sprintf("%d more", len(commands)-i))
			break
		}
		names = append(names, v.code(c, 100))
	}
	return strings.Join(names, ", ")
}
