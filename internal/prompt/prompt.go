// Package prompt writes what an agent is told: one template a role, filled with sections that the harness makes of the
// run's state.
package prompt

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// Writer writes the prompts of one run.
type Writer struct {
	Completion     string // setting completionResponse
	IterationCount bool   // setting includeIterationCountInPrompt
	Comments       []Comment
	Templates      Set // those of the repository; the zero Set is ralph's own
	// Look finds what a failure says is missing, for a run that is stuck on it; nil where there is no repository to look
	// in.
	Look func(s loop.State, v loop.Verdict) Found
	Plan PlanFiles // of a run of a plan
}

// Comment is a remark by somebody with write access.
type Comment struct{ Author, Text string }

// For writes the prompt of the next iteration.
func (w Writer) For(s loop.State, step loop.Step) (string, error) {
	if s.Plan != nil {
		return w.forStory(s, step)
	}
	role := step.Role
	if role == "" {
		role = task.Coder
	}
	p := parts{
		Role: string(role), Iteration: step.Iteration, MaxIterations: s.MaxIterations,
		Title: title(s), Task: w.taskText(s, fence(s.Start.Run), forWriters), Hints: asides(s, fence(s.Start.Run)), Criteria: criteria(s), Notes: notes(s, step),
		Completion: completion(s, role, step.Iteration, w.section(s, role)), Exit: w.exit(s, role),
	}
	p.Shift, p.Context = w.escalated(s, step.Tier, fence(s.Start.Run), maxContext)
	room := maxAdded - maxFrame - len(p.Hints) - len(p.Criteria) - len(p.Notes) - len(p.Shift) - len(p.Context)
	attempts, elsewhere := attempts(s, room)
	p.Attempts = attempts
	text, err := w.Templates.render(writerTemplate(role), p)
	if err != nil {
		return "", err
	}
	text = combine(text, elsewhere)
	return w.counted(p.complete(text, writerSections(p)), s, step), nil
}

// escalated is what a run is told that is stuck, empty when it is not: the strategy shift, and excerpts of files within
// a room.
func (w Writer) escalated(s loop.State, tier loop.Tier, border string, room int) (shifted, context string) {
	if tier == loop.Shift || tier == loop.Expand {
		shifted = shift(s)
	}
	if tier == loop.Expand && w.Look != nil {
		if f := s.Spins().Failure; f != nil {
			context = w.Look(s, *f).section(border, room)
		}
	}
	return shifted, context
}

func writerTemplate(r task.Role) string {
	if r == task.Tester {
		return "tester.md"
	}
	return "implement.md"
}

// counted puts how far the run has come before the prompt, when that is wanted.
func (w Writer) counted(text string, s loop.State, step loop.Step) string {
	switch {
	case !w.IterationCount:
		return text
	case s.MaxIterations == 0:
		return fmt.Sprintf("Iteration %d.\n\n%s", step.Iteration, text)
	}
	return fmt.Sprintf("Iteration %d of %d, %d remaining.\n\n%s", step.Iteration, s.MaxIterations, s.MaxIterations-step.Iteration, text)
}

// judged are the newest iterations that the checks have spoken about, at most so many, oldest first.
func judged(s loop.State, most int) []*loop.Iteration {
	var out []*loop.Iteration
	for i := len(s.Iterations) - 1; i >= 0 && len(out) < most; i-- {
		if s.Iterations[i].Judged {
			out = append([]*loop.Iteration{s.Iterations[i]}, out...)
		}
	}
	return out
}

// combine puts the failed checks' texts into the prompt: REPLACE results first form the base, in order, then PREPEND
// and APPEND are applied in order, two newlines between.
func combine(base string, failed []loop.Verdict) string {
	var replaced []string
	for _, v := range failed {
		if v.FailAction == loop.Replace {
			replaced = append(replaced, v.Tell)
		}
	}
	if len(replaced) > 0 {
		base = strings.Join(replaced, "\n\n")
	}
	for _, v := range failed {
		switch v.FailAction {
		case loop.Prepend:
			base = v.Tell + "\n\n" + base
		case loop.Append, "":
			base = base + "\n\n" + v.Tell
		case loop.Replace:
		}
	}
	return base
}
