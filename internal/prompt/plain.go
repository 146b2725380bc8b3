package prompt

import "github.com/ralph-loop/ralph/internal/loop"

// Plain passes on a prompt as somebody wrote it, with what the checks said about the last iteration and nothing else (S1-70…S1-74).
type Plain struct {
	Writer
	// Base is the prompt. It is asked for before every iteration: a prompt file may change while the run goes on (S1-71).
	Base func() (string, error)
}

// For writes the prompt of the next iteration.
func (p Plain) For(s loop.State, step loop.Step) (string, error) {
	base, err := p.Base()
	if err != nil {
		return "", err
	}
	var told []loop.Verdict
	for _, v := range failures(s) {
		if v.FailAction != "" { // a guardrail's, not the harness's own
			told = append(told, v)
		}
	}
	return p.counted(combine(base, told, 0), s, step), nil
}
