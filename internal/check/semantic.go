package check

import (
	"cmp"
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// Asker asks a model one question in a fresh context, without tools, with an answer of the form SemanticSchema. model
// is the one that the criteria name; empty: a cheap one. Stages that run side by side ask one after another. The turn's
// class reports a model that gave no answer.
type Asker func(ctx context.Context, prompt, model string) (loop.Turn, error)

// semantic verifies by what the output means: no negative pattern is in it, and a model finds the
// criteria met. Without any questions there is nothing to ask a model; without patterns too, the acceptance criteria
// are the questions.
func (c *Verify) semantic(ctx context.Context, config *task.Verification, s subject) (result, error) {
	patterns := said(config.NegativePatterns)
	for _, pattern := range patterns {
		if containsFold(s.text, pattern) {
			return result{reason: "Found negative pattern: " + pattern}, nil
		}
	}
	if len(patterns) > 0 && s.lost && !s.gone {
		return result{reason: "No negative pattern was found, but not everything that the agent said could be read"}, nil
	}
	questions := said(config.CheckFor.Of(c.Acceptance))
	if len(config.CheckFor) == 0 && len(patterns) == 0 {
		questions = said(c.Acceptance)
	}
	switch {
	case len(questions) > 0 && c.Ask == nil && s.gone:
		return result{pass: true, reason: "All criteria appear met (in words of an earlier iteration, and no model could " +
			"be asked)"}, nil
	case len(questions) > 0 && c.Ask == nil:
		return heuristic(questions, s.text), nil
	case len(questions) > 0:
		return c.ask(ctx, questions, config.Model, s)
	case len(patterns) > 0:
		return result{pass: true, reason: "All criteria appear met"}, nil
	}
	return c.fallBack(s, "the criteria name nothing to verify"), nil
}

// said are the texts that say anything, each on one line.
func said(texts []string) (out []string) {
	for _, text := range texts {
		if text = safetext.OneLine(text); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// heuristic looks for the words of each criterion. It is all there is when no model can be asked, and says so.
func heuristic(questions []string, text string) result {
	const only = " (no model could be asked, so ralph only searched for the words)"
	for _, question := range questions {
		if !containsFold(safetext.OneLine(text), question) {
			return result{reason: "Criterion not evident: " + question + only}
		}
	}
	return result{pass: true, reason: "All criteria appear met" + only}
}

// ask asks the model. One that fails is logged, and string_match takes its place for this iteration; one that
// answers in another way than it was asked to has verified nothing.
func (c *Verify) ask(ctx context.Context, questions []string, model string, s subject) (result, error) {
	prompt, err := c.question(ctx, questions, s)
	if err != nil {
		return result{}, err
	}
	turn, spent, err := c.answered(ctx, prompt, model)
	switch {
	case ctx.Err() != nil:
		return result{reason: "the run was stopped"}, nil
	case err != nil:
		return c.fallBack(s, "no model could be asked: "+err.Error()), nil
	case turn.Class != loop.OK:
		r := c.fallBack(s, "the model did not answer: "+turn.Reason)
		r.usage, r.killed = spent, turn.Class == loop.Killed
		return r, nil
	}
	r := result{usage: spent}
	verified, reason, ok := readAnswer(turn)
	reason = safetext.Shorten(safetext.OneLine(reason), 300)
	switch {
	case !ok:
		c.log("the model's answer cannot be read: %s", reason)
		r.reason = "the model's answer does not end with VERIFIED or NOT_VERIFIED, which verifies nothing: " + reason
	case verified:
		r.pass, r.reason = true, cmp.Or(reason, "All criteria appear to be met")
	default:
		r.reason = cmp.Or(reason, "the model does not find the criteria met and does not say why")
	}
	return r, nil
}

// answered asks until there is an answer that can be read, as often as it may, and says what all of it has spent.
func (c *Verify) answered(ctx context.Context, prompt, model string) (turn loop.Turn, spent *loop.Usage, err error) {
	c.asking.Lock()
	defer c.asking.Unlock()
	for n := 0; n <= c.Again; n++ {
		if turn, err = c.Ask(ctx, prompt, model); err != nil || ctx.Err() != nil {
			return turn, spent, err
		}
		spent = sum(spent, &turn.Usage)
		if _, _, ok := readAnswer(turn); ok || turn.Class != loop.OK && turn.Class != loop.Empty {
			break
		}
	}
	return turn, spent, nil
}

// fallBack verifies by string_match for this iteration, and says why.
func (c *Verify) fallBack(s subject, why string) result {
	c.log("%s; string_match is used for this iteration", why)
	r := c.stringMatch(s)
	r.reason += fmt.Sprintf(" (string_match for this iteration: %s)", why)
	return r
}
