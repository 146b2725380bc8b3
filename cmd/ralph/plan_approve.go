package main

import (
	"context"
	"io"
)

type planApprove struct {
	IDs []string `arg:"" name:"id" help:"The stories."`
	planFlags
}

// Help implements kong.HelpProvider.
func (c *planApprove) Help() string {
	return "A story that somebody approves by hand is not reviewed again, and everything that shows the plan says who " +
		"approved it. " +
		"Approvals that are in the plan's file alone, and on nobody's record, are not believed: a run reviews those stories."
}

// Run implements ralph plan approve.
func (c *planApprove) Run(ctx context.Context, p process, stderr io.Writer) error {
	plans, err := c.plans(p, p.out, stderr)
	if err != nil {
		return err
	}
	return planEnded(plans.Approve(ctx, c.IDs))
}
