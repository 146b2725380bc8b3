package task

import (
	"errors"
	"fmt"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// source is a text that someone wrote: what it is called, and how many lines are above it where he sees it.
type source struct {
	name       string
	lineOffset int
}

// mostProblems is how many mistakes are told at once.
const mostProblems = 10

// at is a mistake at a place: "TASK-001.yaml, line 3, column 5: id is …". Without a line it names the text alone.
func (s source) at(line, col int, format string, args ...any) error {
	said := fmt.Sprintf(format, args...)
	switch {
	case line <= 0:
		return fmt.Errorf("%s: %s", s.name, said)
	case col <= 0:
		return fmt.Errorf("%s, line %d: %s", s.name, line+s.lineOffset, said)
	}
	return fmt.Errorf("%s, line %d, column %d: %s", s.name, line+s.lineOffset, col, said)
}

// joined is the mistakes as one error, a line each; nil when there are none.
func joined(mistakes []error) error {
	if len(mistakes) > mostProblems {
		mistakes = append(mistakes[:mostProblems:mostProblems], fmt.Errorf("and %d more", len(mistakes)-mostProblems))
	}
	return errors.Join(mistakes...)
}

// meant is "; did you mean X?" when one of the allowed words may have been meant.
func meant[T ~string](found string, allowed []T) string {
	if best := safetext.Nearest(found, allowed); best != "" {
		return "; did you mean " + string(best) + "?"
	}
	return ""
}
