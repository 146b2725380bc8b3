package planrun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
)

// Validation holds a plan against its rules, or a change of it against what a mode allows.
type Validation struct {
	File          string // empty: the plan of the project
	Before, After string // instead of File: two files, of which the second is the first after an iteration
	Mode          plan.Mode
	Story         string // that the iteration was for; empty: the one whose review fields changed
	SkipReview    bool
	ReviewCap     int
}

// Validated is what resulted from it.
type Validated struct {
	Legal      bool             `json:"legal"`
	Violations []plan.Violation `json:"violations"`
	Story      string           `json:"story,omitempty"` // that a change was held to
	Mode       plan.Mode        `json:"mode,omitempty"`
	Note       string           `json:"note,omitempty"` // what else there is to know, a sentence

	name string // what was examined
	said string // of a legal plan: what it is
}

// planModes are those of an iteration of a plan.
var planModes = []plan.Mode{plan.Implement, plan.Review, plan.ReviewFix}

// Validate looks at one file (Check 1, its order and Check 2), or at two (Check 1, 2, 2.5 and what no one may do to a
// plan). The error is for what keeps it from looking; what is wrong with the plan are violations.
func (p *Plans) Validate(ctx context.Context, v Validation) (Validated, error) {
	from := p.Dir
	root, err := p.Open(ctx)
	if err != nil {
		return Validated{}, err
	}
	defer root.Close()
	rules := plan.Rules{SkipReview: v.SkipReview, ReviewCap: v.ReviewCap}
	switch {
	case v.File != "" && (v.Before != "" || v.After != ""):
		return Validated{}, invalid.Errorf(
			"a FILE and --before with --after exclude each other: name one plan, or a plan before and after an iteration",
		)
	case (v.Before == "") != (v.After == ""):
		return Validated{}, invalid.Errorf(
			"--before and --after belong together: name the plan before the iteration, and after it",
		)
	case v.Before != "":
		return v.change(from, rules)
	case v.Mode != "" || v.Story != "":
		return Validated{}, invalid.Errorf(
			"--mode and --story are for a change: name the plan before and after it with --before FILE --after FILE",
		)
	}
	if v.File == "" {
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
		found := validPlan(on.Name(src.File), src.Content, rules)
		found.Note = on.Note()
		return found, nil
	}
	content, err := planContent("the plan", from, v.File)
	if err != nil {
		return Validated{}, err
	}
	return validPlan(v.File, content, rules), nil
}

// validPlan looks at one plan.
func validPlan(name string, content []byte, rules plan.Rules) Validated {
	of, foreign, err := plan.Read(name, content)
	if err != nil {
		return illegal(name, malformed(err, content))
	}
	if broken := of.Invariants(rules); len(broken) > 0 {
		return illegal(name, broken)
	}
	said := fmt.Sprintf(
		"a plan of %s, of which %d have passed", safetext.Counted(len(of.Stories), "story", "stories"), of.Passed(),
	)
	if foreign {
		said += "; its stories have no fields of reviews, which a run adds"
	}
	return Validated{Legal: true, Violations: []plan.Violation{}, name: name, said: said}
}

// change looks at a plan before and after an iteration.
func (v Validation) change(from string, rules plan.Rules) (Validated, error) {
	if !slices.Contains(planModes, v.Mode) {
		return Validated{}, invalid.Errorf("flag --mode is %q; must be implement, review or review-fix", v.Mode)
	}
	contents := [2][]byte{}
	for i, f := range []struct{ flag, name string }{{"flag --before", v.Before}, {"flag --after", v.After}} {
		var err error
		if contents[i], err = planContent(f.flag, from, f.name); err != nil {
			return Validated{}, err
		}
	}
	before, err := plan.Parse(v.Before, contents[0])
	if err != nil {
		return Validated{}, invalid.Errorf("flag --before: %w", err)
	}
	if v.Story != "" && before.Story(v.Story) == nil {
		return Validated{}, invalid.Errorf("flag --story is %q, and %s has no such story", v.Story, v.Before)
	}
	after, err := plan.Parse(v.After, contents[1])
	if err != nil {
		return illegal(v.After, malformed(err, contents[1])), nil
	}
	out := Validated{Legal: true, Violations: []plan.Violation{}, name: v.After, Story: v.Story, Mode: v.Mode}
	if out.Story == "" {
		out.Story = plan.Given(before.Snapshot(), after, v.Mode)
	}
	out.Violations = append(out.Violations, plan.Compare(before, after, out.Story, v.Mode, rules)...)
	out.Legal = len(out.Violations) == 0
	out.said = "legal in mode " + string(v.Mode)
	if out.Story != "" {
		out.said += " for " + out.Story
	}
	return out, nil
}

// malformed is what is wrong with a file that is no plan.
func malformed(err error, content []byte) []plan.Violation {
	problems := []string{err.Error()}
	if wrong, ok := errors.AsType[*plan.Error](err); ok {
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
	return append(out, safetext.Map(problems, func(text string) plan.Violation { return plan.Violation{Check: "1", Text: text} })...)
}

func illegal(name string, why []plan.Violation) Validated {
	return Validated{Violations: why, name: name}
}

// planContent reads a file that the user names.
func planContent(what, from, name string) ([]byte, error) {
	content, err := session.ReadNamed(from, name)
	if err != nil {
		return nil, invalid.Errorf("%s: reading %s: %w; give a tasks.json", what, name, files.Advise(err))
	}
	return content, nil
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
