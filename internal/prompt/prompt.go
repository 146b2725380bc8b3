// Package prompt writes what an agent is told: one template a role, filled with sections that the harness makes of the
// run's state.
package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// attempts reports the last attempts, newest last: the facts of the state file, which are what every check said and
// the outputs of those that failed, verbatim within the room, and the agents' last words. Of many outputs the newest
// come first. What of the newest attempt stands elsewhere in the prompt is returned, as far as it fits.
func attempts(s loop.State, room int, border safetext.Border) (text string, elsewhere []loop.Verdict) {
	its := judged(s, loop.Window)
	if len(its) == 0 {
		return "First attempt", nil
	}
	room -= maxHeads
	out := make([]string, len(its))
	seen := map[string]int{}
	for i := len(its) - 1; i >= 0; i-- {
		it := its[i]
		newest := i == len(its)-1
		texts := outputs(*it, newest, seen)
		room -= shareRoom(texts, room)
		for _, o := range texts {
			if o.moved && !o.lost {
				v := it.Verdicts[o.verdict]
				v.PromptText = o.text
				elsewhere = append(elsewhere, v)
			}
			if key := o.key; key != "" && seen[key] == 0 {
				seen[key] = it.N
			}
		}
		out[i] = attemptText(*it, texts)
	}
	return asData(border, "what was tried and what came of it", strings.Join(out, "\n\n")) +
		"\n\nWhat those attempts changed is committed and lies before you. Build on it, or undo what was wrong.", elsewhere
}

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

// Comment is a remark by someone with write access.
type Comment struct{ Author, Text string }

// escalated is what a run is told that is stuck, empty when it is not: the strategy shift, and excerpts of files within
// a room.
func (w Writer) escalated(s loop.State, tier loop.Tier, border safetext.Border,
	room int) (shifted, context string) {
	if tier == loop.Shift || tier == loop.Expand {
		shifted = shift(s, border)
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

// counted puts how far the run has come before the prompt, when that is needed.
func (w Writer) counted(text string, s loop.State, step loop.Step) string {
	switch {
	case !w.IterationCount:
		return text
	case s.MaxIterations == 0:
		return fmt.Sprintf("Iteration %d.\n\n%s", step.Iteration, text)
	}
	return fmt.Sprintf("Iteration %d of %d, %d remaining.\n\n%s", step.Iteration, s.MaxIterations,
		s.MaxIterations-step.Iteration, text)
}

// printed are failed checks whose texts are between borders.
func printed(border safetext.Border, failed []loop.Verdict) []loop.Verdict {
	out := slices.Clone(failed)
	for i := range out {
		out[i].PromptText = asData(border, "what a check says", out[i].PromptText)
	}
	return out
}

// combine puts the failed checks' texts into the prompt: REPLACE results first form the base, in order, then PREPEND
// and APPEND are applied in order, two newlines between.
func combine(base string, failed []loop.Verdict) string {
	var replaced []string
	for _, v := range failed {
		if v.FailAction == loop.Replace {
			replaced = append(replaced, v.PromptText)
		}
	}
	if len(replaced) > 0 {
		base = strings.Join(replaced, "\n\n")
	}
	for _, v := range failed {
		switch v.FailAction {
		case loop.Prepend:
			base = v.PromptText + "\n\n" + base
		case loop.Append, "":
			base = base + "\n\n" + v.PromptText
		case loop.Replace:
		}
	}
	return base
}

// Verbatim passes on a prompt as someone wrote it, with what the checks said about the last iteration and nothing else,
// but for what people have said meanwhile, and what done means when the run has criteria.
type Verbatim struct {
	Writer
	// Base is the prompt. It is asked for before every iteration: a prompt file may change while the run continues.
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
	text := combine(base, told)
	if left != "" {
		text += "\n\n" + left
	}
	if said := hints(s); said != "" {
		text += "\n\n" + said
	}
	if s.Start.Completion != nil {
		text += "\n\n" + completion(s, task.Coder, step.Iteration, p.section(s, task.Coder), fence(s.Start.Run))
	}
	return p.counted(text, s, step), nil
}

type pattern = regex.Pattern

// lazy is a pattern that is compiled when it is first asked.
func lazy(text string) *pattern { return regex.Lazy(text) }
