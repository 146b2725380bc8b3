// Package planlist offers a plan as a list in a comment, which people edit, and reads it back from there.
package planlist

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/regex"
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

// Comment offers a plan to be edited and approved: the list of its stories, which is what runs when someone approves,
// and folded the tasks.json that was made of it. likely and most are how many iterations it takes. Its first line is
// PlanMarker of the view's task; it has at most 65,000 bytes. A plan that is too large for a comment has no list there,
// and Read returns an error for it.
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

// planBlock is the plan as a fenced block of JSON without secrets and without what no one can see; empty if that is no
// longer JSON.
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

// Approved is the plan that a comment holds, as it is.
type Approved struct {
	Content []byte   // a tasks.json
	Edited  bool     // someone has edited the list since ralph wrote it
	Changes []string // what they changed, an item a story
	Notes   []string // what was settled without asking, a sentence each
}

// Read reads the plan of a comment that Comment wrote and people may have edited. The list is the plan; the
// tasks.json below it only adds what the list does not show, and when it was edited too it adds nothing. The error is a
// *task.PlanError of that name, which tells each line that is not understood.
func Read(name, comment string) (Approved, error) {
	comment = plainLines(comment)
	wrong := func(problems ...string) error { return &plan.Error{Name: name, Problems: problems} }
	if strings.HasPrefix(comment, oldPlanMark) {
		content, ok := from(comment)
		if !ok {
			return Approved{}, wrong("its comment must hold one block of JSON that begins with ```json and ends with ```, " +
				"and no other one; edit it, or ask for a new plan")
		}
		return Approved{Content: content}, nil
	}
	block, _ := onlyBlock(comment)
	before, _, err := plan.Read(name, block)
	if err != nil {
		before = plan.Plan{}
	}
	list, json := writtenMarks(comment)
	out := Approved{Edited: list != digest(listOfComment(comment))}
	untouched := json == digest(string(block))
	switch {
	case !untouched && !out.Edited && len(block) > 0:
		return out, wrong("the block of JSON was edited, and the list above it was not; the list is what runs, so make the " +
			"change there")
	case !untouched:
		if json != "" && len(block) > 0 {
			out.Notes = append(out.Notes, "the block of JSON was edited, too; only the list counts, so what was changed there "+
				"is left out")
		}
		for i := range before.Stories {
			before.Stories[i].Notes, before.Stories[i].Extra = "", nil
		}
		before.Extra = nil
	}
	l := newListReader(before)
	l.read(strings.Split(comment, "\n"))
	plan := l.plan()
	if !l.begun && strings.Contains(comment, tooLarge) {
		return out, wrong("it is too large for a comment, so there is nothing to approve; ask for a smaller one, or commit " +
			"it to the repository")
	}
	if len(l.problems) > 0 {
		return out, wrong(l.problems...)
	}
	out.Content, out.Notes = plan.Marshal(), append(out.Notes, l.notes...)
	if out.Edited && len(before.Stories) > 0 {
		out.Changes = changes(before, plan)
	}
	return out, nil
}

// plainLines is a comment with the line ends that GitHub does not give back.
func plainLines(comment string) string {
	comment = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(comment, "\uFEFF"))
	return strings.TrimLeft(comment, " \n")
}

// writtenPlan is a mark that tells later whether someone has edited the list, or the block. It prevents nothing: people
// who can edit the comment can approve it, too.
func writtenPlan(list, block string) string {
	content, _ := onlyBlock(block)
	return fmt.Sprintf("<!-- ralph:plan-written:%s:%s -->\n", digest(list), digest(string(content)))
}

var writtenMark = regex.Lazy(`(?m)^<!-- ralph:plan-written:([0-9a-f]{16}):([0-9a-f]{16}) -->$`)

func writtenMarks(comment string) (list, json string) {
	m := writtenMark.FindAllStringSubmatch(comment, -1)
	if len(m) != 1 {
		return "", ""
	}
	return m[0][1], m[0][2]
}

func digest(text string) string {
	return fmt.Sprintf("%.8x", sha256.Sum256([]byte(strings.TrimSpace(text))))
}

// listOfComment are the lines below the list's heading, up to the next heading.
func listOfComment(comment string) string {
	_, after, ok := strings.Cut("\n"+comment, "\n"+listHeading+"\n")
	if !ok {
		return ""
	}
	list, _, _ := strings.Cut(after, "\n#")
	return list
}

var fenceOpen = regex.Lazy("^ {0,3}(`{3,}|~{3,})[ \t]*([^` \t]*)[^`]*$")

// from takes the tasks.json out of a comment that holds its plan as one block of JSON, as ralph wrote them before the list counted. ok is
// false for another comment, and unless there is exactly one closed block of JSON: of two no one knows which one was approved.
func from(comment string) (content []byte, ok bool) {
	comment = plainLines(comment)
	if !strings.HasPrefix(comment, oldPlanMark) {
		return nil, false
	}
	return onlyBlock(comment)
}

// onlyBlock is the one closed block of JSON in a text; ok is false without exactly one.
func onlyBlock(text string) (content []byte, ok bool) {
	var blocks [][]byte
	var open, info string
	var block strings.Builder
	for _, line := range strings.Split(text, "\n") {
		m := fenceOpen.FindStringSubmatch(line)
		switch {
		case open == "" && m != nil:
			open, info = m[1], strings.ToLower(m[2])
			block.Reset()
		case open != "" && closes(line, open):
			if info == "json" {
				blocks = append(blocks, []byte(block.String()))
			}
			open = ""
		case open != "":
			block.WriteString(line + "\n")
		}
	}
	if open != "" || len(blocks) != 1 {
		return nil, false
	}
	return blocks[0], true
}
