package report

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/loop"
)

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
