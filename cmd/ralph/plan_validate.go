package main

import (
	"context"
	"fmt"
	"io"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/planrun"
	"github.com/ralph-loop/ralph/internal/safetext"

	"github.com/ralph-loop/ralph/internal/loop"
)

type planValidate struct {
	File string `arg:"" optional:"" help:"A tasks.json. Default: the plan of the project."`
	planFlags
	Before     string `placeholder:"FILE" help:"Instead of one plan: as it was before an iteration."`
	After      string `placeholder:"FILE" help:"As it is after it."`
	Mode       string `placeholder:"MODE" help:"What the iteration was for: implement, review or review-fix."`
	Story      string `placeholder:"ID" help:"The story that the iteration was for. Default: the one whose review fields changed."`
	ReviewCap  int    `default:"5" placeholder:"N" help:"How many reviews a story may take. Default: 5."`
	SkipReview bool   `help:"By the rules of a run without reviews."`
	JSON       bool   `name:"json" help:"Print JSON for programs: whether it is legal, and every violation."`
}

// Run implements ralph plan validate: exit code 0 for what is legal, 1 for what is not, 2 for what cannot be looked at.
func (c *planValidate) Run(ctx context.Context, p process, stderr io.Writer) error {
	plans, err := c.plans(p, p.out, stderr)
	if err != nil {
		return err
	}
	if c.ReviewCap < 1 {
		return &endedError{loop.Invalid.ExitCode(),
			fmt.Errorf("invalid --review-cap \"%d\": must be a whole number from 1", c.ReviewCap)}
	}
	found, err := plans.Validate(ctx, planrun.Validation{
		File: c.File, Before: c.Before, After: c.After, Mode: plan.Mode(c.Mode), Story: c.Story, SkipReview: c.SkipReview,
		ReviewCap: c.ReviewCap,
	})
	if err != nil {
		return planEnded(err)
	}
	text := safetext.InertLines(found.Text())
	if c.JSON {
		text = string(plainJSON(found))
	}
	if _, err := io.WriteString(p.out, text); err != nil {
		return err
	}
	if !found.Legal {
		return &endedError{loop.Failed.ExitCode(), nil}
	}
	return nil
}
