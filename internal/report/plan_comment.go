package report

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/task"
)

// PlanMarker is the line by which the comment with a task's plan is found again. Like Marker it proves nothing by itself.
func PlanMarker(name string) string {
	return planMark + shorten(notRun.ReplaceAllString(name, ""), 80) + " -->"
}

const planMark = "<!-- ralph:plan:"

// planRoom says how much of a plan its comment tells in words; what runs is the block of JSON, which is there whole or not at all.
type planRoom struct {
	stories, criteria int // how many, of each story
	text              int // runes of a description
	nodes             int // of the graph
}

var planRooms = []planRoom{{200, 30, 600, 60}, {200, 10, 200, 60}, {200, 0, 0, 30}, {30, 0, 0, 0}, {}}

// PlanComment offers a plan to be edited and approved (B-04): the stories for people, and the tasks.json that runs when somebody approves.
// likely and most are how many iterations it takes. Its first line is PlanMarker of the view's task; it has at most 65,000 bytes. A plan
// that is too large for a comment is told without its block, and PlanFrom gets nothing out of it.
func PlanComment(v View, plan task.Plan, likely, most int) string {
	block, fits := v.planBlock(plan)
	for _, r := range planRooms {
		if !fits {
			break
		}
		if text := v.planText(plan, likely, most, block, r); len(text) <= commentLimit {
			return text
		}
	}
	for _, r := range planRooms {
		if text := v.planText(plan, likely, most, "", r); len(text) <= commentLimit {
			return text
		}
	}
	return PlanMarker(v.State.Start.Task) + "\nThe plan is too large for a comment.\n" // never: the last room has nothing of the plan's
}

// planBlock is the plan as a fenced block of JSON without secrets and without what nobody can see: what people approve is what they read.
func (v View) planBlock(plan task.Plan) (block string, ok bool) {
	marshalled := plan.Marshal()
	if len(marshalled) > 2*commentLimit { // whatever is taken out of it
		return "", false
	}
	content := v.clean(string(marshalled))
	if !json.Valid([]byte(content)) || len(content) > commentLimit {
		return "", false
	}
	return "```json\n" + strings.TrimRight(content, "\n") + "\n```\n", true
}

func (v View) planText(plan task.Plan, likely, most int, block string, r planRoom) string {
	var p page
	p.line("%s", PlanMarker(v.State.Start.Task))
	p.part("### 📋 " + joinedBy(": ", "The plan", v.text(plan.Project, 100)))
	p.part(fmt.Sprintf("**%d %s, about %d iterations** (at most %d).", len(plan.Stories), plural(len(plan.Stories), "story", "stories"), likely, most))
	if block == "" {
		p.part(fmt.Sprintf("⚠️ **This plan is too large for a comment**, so it cannot be edited or approved here. Ask for a smaller one with %s, or commit a plan to the repository as `ralph/tasks.json` and start the workflow with the input `plan` set to that path.",
			v.command("plan <hint>")))
	} else {
		p.part(fmt.Sprintf("**Edit this comment** until the plan is what you want: what counts is the block `tasks.json` at its end, not the list above it. Then comment %s, which runs it as it is written at that moment.",
			v.command("approve")))
	}
	if r.text > 0 {
		p.part(v.text(plan.Description, r.text))
	}
	for i, st := range plan.Stories {
		if i == r.stories {
			p.part(fmt.Sprintf("%d more stories are in the block below.", len(plan.Stories)-i))
			break
		}
		p.part(v.planStory(st, r))
	}
	p.part(graph(plan, r.nodes))
	if len(plan.VerifyCommands) > 0 && r.criteria > 0 {
		p.part("**Verified by:** " + v.planCommands(plan.VerifyCommands))
	}
	if block != "" {
		p.part("#### tasks.json\n\n" + block)
	}
	return p.String()
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

// planStory is one story for people.
func (v View) planStory(st task.Story, r planRoom) string {
	var b strings.Builder
	head := "**" + v.storyID(st) + "** " + v.text(st.Title, 120)
	if len(st.DependsOn) > 0 {
		var needs []string
		for i, id := range st.DependsOn {
			if i == 10 {
				needs = append(needs, fmt.Sprintf("%d more", len(st.DependsOn)-i))
				break
			}
			needs = append(needs, or(v.name(id, 40), "–"))
		}
		head += " — needs " + strings.Join(needs, ", ")
	}
	b.WriteString(head + "\n")
	if r.text > 0 && strings.TrimSpace(st.Description) != "" {
		b.WriteString("\n" + v.text(st.Description, r.text) + "\n")
	}
	if r.criteria > 0 {
		b.WriteString("\n")
	}
	for i, c := range st.AcceptanceCriteria {
		if i == r.criteria {
			if i > 0 {
				fmt.Fprintf(&b, "- %d more\n", len(st.AcceptanceCriteria)-i)
			}
			break
		}
		b.WriteString("- " + or(v.text(c, 300), "–") + "\n")
	}
	return b.String()
}
