package planrun

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Validated is what resulted from holding a plan against its rules.
type Validated struct {
	Legal      bool             `json:"legal"`
	Violations []plan.Violation `json:"violations"`
	Note       string           `json:"note,omitempty"` // what else there is to know, a sentence

	name string // what was examined
	said string // of a legal plan: what it is
}

// Validate holds the plan in a file, or if that is empty the plan of the project, against its rules. The error is for
// what keeps it from looking; what is wrong with the plan are violations.
func (p *Plans) Validate(ctx context.Context, file string) (Validated, error) {
	from := p.Dir
	root, err := p.Open(ctx)
	if err != nil {
		return Validated{}, err
	}
	defer root.Close()
	if file != "" {
		name := file
		if !filepath.IsAbs(file) {
			name = filepath.Join(from, file)
		}
		content, err := files.Read(name)
		if err != nil {
			return Validated{}, invalid.Errorf("the plan: reading %s: %w; give a tasks.json", file, files.Advise(err))
		}
		return validPlan(file, content, p.Rules()), nil
	}
	src, err := ReadPlanIn(p.Dir, p.PlanDir)
	if err != nil {
		return Validated{}, err
	}
	on, err := FindOnBranch(ctx, &p.Session, src)
	if err != nil {
		return Validated{}, err
	}
	if on.Branch != "" {
		src = on.Source
	}
	found := validPlan(on.Name(src.File), src.Content, p.Rules())
	found.Note = on.Note()
	return found, nil
}

// validPlan looks at one plan.
func validPlan(name string, content []byte, rules plan.Rules) Validated {
	of, foreign, err := plan.Read(name, content)
	if err != nil {
		return Validated{Violations: malformed(err, content), name: name}
	}
	if broken := of.Invariants(rules); len(broken) > 0 {
		return Validated{Violations: broken, name: name}
	}
	said := fmt.Sprintf(
		"a plan of %s, of which %d have passed", safetext.Counted(len(of.Stories), "story", "stories"), of.Passed(),
	)
	if foreign {
		said += "; its stories have no fields of reviews, which a run adds"
	}
	return Validated{Legal: true, Violations: []plan.Violation{}, name: name, said: said}
}

// malformed is what is wrong with a file that is no plan.
func malformed(err error, content []byte) []plan.Violation {
	var wrong *plan.Error
	problems := []string{err.Error()}
	if errors.As(err, &wrong) {
		problems = wrong.Problems
	}
	var out []plan.Violation
	if plan.Untouched(content) {
		out = append(
			out,
			plan.Violation{
				Check: "1",
				Text:  "the plan is still the template: write its stories, or let an agent derive them with ralph plan derive",
			},
		)
	}
	for _, text := range problems {
		out = append(out, plan.Violation{Check: "1", Text: text})
	}
	return out
}

// Text is what resulted from it, a line each.
func (v Validated) Text() string {
	var b strings.Builder
	if v.Note != "" {
		fmt.Fprintf(&b, "note: %s\n", v.Note)
	}
	if v.Legal {
		fmt.Fprintf(&b, "%s: %s\n", v.name, v.said)
	}
	for _, w := range v.Violations {
		fmt.Fprintf(&b, "%s: check %s: %s\n", v.name, w.Check, safetext.OneLine(w.Text))
	}
	return b.String()
}
