package plan

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Error is everything that is wrong with a plan's file, one sentence each.
type Error struct {
	Name     string // of the file
	Problems []string
}

// Error is a line for each problem, which begins with the file's name.
func (e *Error) Error() string {
	return strings.Join(safetext.Map(e.Problems, func(p string) string { return e.Name + ": " + p }), "\n")
}

// mostProblems bounds what is told of one file: whoever has fixed these asks again.
const mostProblems = 50

// problems collects what is wrong with a plan's file.
type problems struct {
	told []string
	more int // beyond what is told
}

func (p *problems) add(format string, args ...any) {
	if len(p.told) == mostProblems-1 {
		p.more++
		return
	}
	p.told = append(p.told, fmt.Sprintf(format, args...))
}

// as is the problems as an error about a file; nil when there are none.
func (p *problems) as(name string) error {
	if len(p.told) == 0 {
		return nil
	}
	told := p.told
	if p.more > 0 {
		told = append(told[:len(told):len(told)], fmt.Sprintf("and %d more problems", p.more))
	}
	return &Error{Name: name, Problems: told}
}
