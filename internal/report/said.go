package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// title is what was asked in one line.
func (w Words) title(s loop.State) string {
	if title := w.Text(s.Start.Title, 200); title != "" {
		return "**" + title + "**\n"
	}
	return ""
}

// wording quotes what was asked as it was when it was asked, and the maintainers' hints.
func (v page) wording() string {
	s := v.State
	var p wording.Markdown
	if strings.TrimSpace(s.Start.Spec) != "" {
		p.Part(v.quote(s.Start.Spec, v.most(8<<10)))
	}
	p.Part(items(safetext.Map(s.Hints, func(h loop.TakenHint) string { return "Hint: " + v.Text(h.Text, 500) }), v.most(10)))
	return p.String()
}

// task is what was asked in one line, with its wording folded.
func (v page) task() string {
	return wording.JoinedBy("\n", v.title(v.State), wording.Folded("The task as it was asked", v.wording()))
}

// question is what the agent says that it waits for, if the headline does not have all of it.
func (v page) question() string {
	s := v.State
	last := s.Last()
	if s.End == nil || s.End.Outcome != loop.Waiting || last == nil || !s.Waits {
		return ""
	}
	question := strings.TrimSpace(asked(last))
	if v.Text(question, mostCause) == v.Text(question, 2<<10) && !strings.Contains(question, "\n") {
		return ""
	}
	return v.quote(question, v.most(2<<10))
}

// asked is what an agent says that waits for an answer: its question, if it asks one.
func asked(it *loop.Iteration) string {
	if it.Turn.Claim.Asks() {
		return it.Turn.Claim.Text
	}
	return wording.Spoken(it)
}

// openHints names the hints that a run which has ended did not read, or did not get done.
func (v View) openHints() (lines []string) {
	s := v.State
	for _, h := range s.Hints {
		text := fmt.Sprintf("“%s”", v.Text(h.Text, mostCause))
		if by := v.Text(h.By, 60); by != "" {
			text += " from " + by
		}
		switch {
		case s.End == nil || s.End.Outcome == loop.Invalid && h.ID == "":
		case h.ReadIn == 0:
			lines = append(lines, "Hint not read: "+text)
		case h.Undone && s.Back != nil:
			text = fmt.Sprintf("Hint not done: %s. The result was not approved: %s", text, v.Text(s.Back.Reason, mostReason))
			if kept := v.branch(s.GivenUp()); kept != "" {
				text += "; it is kept on " + kept
			}
			lines = append(lines, text)
		}
	}
	return lines
}

// inItsWords is what the agent said of the newest change.
func (w Words) inItsWords(s loop.State) string {
	for _, it := range slices.Backward(s.Iterations) {
		if it.Mode == loop.Review {
			continue
		}
		if said := w.Text(wording.Spoken(it), 300); said != "" && it.Commit != nil && !it.Commit.Empty {
			return said
		}
	}
	return ""
}

// asking is the beginning of the question that the agent asks.
func (v View) asking() string {
	last := v.State.Last()
	if last == nil {
		return ""
	}
	if question := v.firstLine(asked(last)); question != "" {
		return "“" + question + "”"
	}
	return ""
}

// askedToAccept lists the findings that wait for an answer.
func (v page) askedToAccept() string {
	return items(safetext.Map(v.State.ToAccept(), func(c loop.Concern) string { return v.Code(c.Name, 120) + v.whatOf(c) }),
		v.most(10))
}
