package task

import (
	"fmt"
	"strings"
)

// PlanError is everything that is wrong with a plan's file, one sentence each.
type PlanError struct {
	Name     string // of the file
	Problems []string
}

// Error is a line for each problem, which begins with the file's name.
func (e *PlanError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = e.Name + ": " + p
	}
	return strings.Join(lines, "\n")
}

// mostPlanProblems bounds what is told of one file: whoever has fixed these asks again.
const mostPlanProblems = 50

// planProblems collects what is wrong with a plan's file.
type planProblems struct {
	told []string
	more int // beyond what is told
}

func (p *planProblems) add(format string, args ...any) {
	if len(p.told) == mostPlanProblems-1 {
		p.more++
		return
	}
	p.told = append(p.told, fmt.Sprintf(format, args...))
}

// as is the problems as an error about a file; nil when there are none.
func (p *planProblems) as(name string) error {
	if len(p.told) == 0 {
		return nil
	}
	told := p.told
	if p.more > 0 {
		told = append(told[:len(told):len(told)], fmt.Sprintf("and %d more problems", p.more))
	}
	return &PlanError{Name: name, Problems: told}
}
