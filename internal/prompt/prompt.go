// Package prompt writes prompts: one template a role, filled with sections that the harness makes of the run's state.
package prompt

import (
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

func writerTemplate(r task.Role) string {
	if r == task.Tester {
		return "tester.md"
	}
	return "implement.md"
}

// Verbatim passes on a prompt as someone wrote it, with what the checks said about the last iteration and nothing else,
// but for what people have said meanwhile, and what done means when the run has criteria.
type Verbatim struct {
	Writer
	// Base returns the prompt. It is called before every iteration, because a prompt file can change during the run.
	Base func() (string, error)
}

// For writes the prompt of the next iteration.
func (p Verbatim) For(s loop.State, step loop.Step) (string, error) {
	base, err := p.Base()
	if err != nil {
		return "", err
	}
	var told []loop.Verdict
	left := ""
	for _, it := range judged(s, 1) {
		for _, v := range it.Verdicts {
			if failed(v) && v.PromptText != "" && v.FailAction != "" { // a guardrail's, not the harness's own
				told = append(told, v)
			}
		}
		left = it.Turn.Claim.LeftOut()
	}
	text := joinedParts(combine(base, told), left, hints(s),
		completion(s, task.Coder, step.Iteration, p.section(s, task.Coder), fence(s.Start.Run)))
	return p.counted(text, s, step), nil
}

// For writes the prompt of the next iteration.
func (w Writer) For(s loop.State, step loop.Step) (string, error) {
	if s.Plan != nil {
		return w.forStory(s, step)
	}
	role := step.Role
	if role == "" {
		role = task.Coder
	}
	border := fence(s.Start.Run)
	p := parts{common: common{
		Role: string(role), Iteration: step.Iteration, MaxIterations: s.MaxIterations,
		Title: border.Around(title(s)), Task: w.taskText(s, border, forWriters), Hints: asides(s, border),
		Completion: completion(s, role, step.Iteration, w.section(s, role), border),
	}, writing: writing{Criteria: criteria(s), Notes: notes(s, step, border), Exit: w.exit(s, role)}}
	p.Shift, p.Context = w.escalated(s, step.Tier, border, maxContext)
	room := maxAdded - maxFrame - len(p.Hints) - len(p.Criteria) - len(p.Notes) - len(p.Shift) - len(p.Context)
	attempts, elsewhere := attempts(s, room, border)
	p.Attempts = attempts
	text, err := w.Templates.render(writerTemplate(role), p)
	if err != nil {
		return "", err
	}
	text = combine(text, printed(border, elsewhere))
	return w.counted(p.complete(text, writerSections(p)), s, step), nil
}
