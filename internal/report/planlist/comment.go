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
func Marker(name string) string { return "<!-- ralph:plan-list:" + wording.MarkerName(name) + " -->" }

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
	p.Part(listHeading + "\n\n" + planList(v, plan))
	p.Part(wording.JoinedBy(" Then ", "#### Change it\n\n**Edit this comment: the list is what runs.** Move, reword, delete "+
		"or add lines. A new story is a line such as `- [ ] Greet people by name`; what it must fulfil are lines below it such "+
		"as `  - an empty name is refused`.", wording.Sentence(v.Offer("approve", "runs the list as it is at that moment"))))
	if len(plan.VerifyCommands) > 0 {
		p.Part("**Verified by:** " + safetext.FirstN(safetext.Map(plan.VerifyCommands, func(c string) string { return v.Code(c, 100) }), 20))
	}
	block := ""
	if withBlock {
		block = planBlock(v, plan)
	}
	p.Part(wording.Folded("As ralph wrote it: tasks.json. It is made of the list; edit the list instead",
		block) + writtenBlock(block))
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

// Approved is the plan that a comment holds, as it is.
type Approved struct {
	Content []byte   // a tasks.json
	Changes []string // what someone has changed of the list since ralph wrote it, an item a story
	Notes   []string // what was settled without asking, a sentence each
}

// Read reads the plan of a comment that Comment wrote and people may have edited. The list is the plan; the
// tasks.json below it, which must be as ralph wrote it, only adds what the list does not show. The error is a
// *plan.Error of that name, which tells each line that is not understood.
func Read(name, comment string) (Approved, error) {
	comment = plainLines(comment)
	wrong := func(problems ...string) error { return &plan.Error{Name: name, Problems: problems} }
	block, there := onlyBlock(comment)
	if there && !strings.Contains(comment, writtenBlock(string(block))) {
		return Approved{}, wrong("the block of JSON was edited; the list above it is what runs, so undo that and make the change " +
			"in the list, or ask for a new plan")
	}
	before, _, err := plan.Read(name, block)
	if err != nil {
		before = plan.Plan{}
	}
	l := newListReader(before)
	l.read(strings.Split(comment, "\n"))
	plan := l.plan()
	if !l.begun && strings.Contains(comment, tooLarge) {
		return Approved{}, wrong("it is too large for a comment, so there is nothing to approve; ask for a smaller one, or commit " +
			"it to the repository")
	}
	if len(l.problems) > 0 {
		return Approved{}, wrong(l.problems...)
	}
	out := Approved{Content: plan.Marshal(), Notes: l.notes}
	if len(before.Stories) > 0 {
		out.Changes = changes(before, plan)
	}
	return out, nil
}

// plainLines is a comment with the line ends that GitHub does not give back.
func plainLines(comment string) string {
	comment = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(comment, "\uFEFF"))
	return strings.TrimLeft(comment, " \n")
}

// writtenBlock is a mark that tells later whether someone has edited the block of JSON. It prevents nothing: people who
// can edit the comment can approve it, too.
func writtenBlock(block string) string {
	if content, ok := onlyBlock(block); ok {
		block = string(content)
	}
	return fmt.Sprintf("<!-- ralph:plan-written:%.8x -->\n", sha256.Sum256([]byte(strings.TrimSpace(block))))
}

var jsonBlock = regex.Lazy("(?ms)^```json\n(.*?)^```$")

// onlyBlock is the block of JSON in a text: that of planBlock is the first, since a list holds none. ok is false without
// one.
func onlyBlock(text string) (content []byte, ok bool) {
	m := jsonBlock.FindStringSubmatch(text)
	if m == nil {
		return nil, false
	}
	return []byte(m[1]), true
}
