package prompt

import (
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// Verbatim passes on a prompt as somebody wrote it, with what the checks said about the last iteration and nothing else,
// but for what people have said meanwhile, and what done means when the run has criteria.
type Verbatim struct {
	Writer
	// Base is the prompt. It is asked for before every iteration: a prompt file may change while the run goes on.
	Base func() (string, error)
}

// For writes the prompt of the next iteration.
func (p Verbatim) For(s loop.State, step loop.Step) (string, error) {
	base, err := p.Base()
	if err != nil {
		return "", err
	}
	var told []loop.Verdict
	for _, it := range judged(s, 1) {
		for _, v := range it.Verdicts {
			if failed(v) && v.PromptText != "" && v.FailAction != "" { // a guardrail's, not the harness's own
				told = append(told, v)
			}
		}
	}
	text := combine(base, told)
	if said := hints(s); said != "" {
		text += "\n\n" + said
	}
	if s.Start.Completion != nil {
		text += "\n\n" + completion(s, task.Coder, step.Iteration, p.section(s, task.Coder), fence(s.Start.Run))
	}
	return p.counted(text, s, step), nil
}
