package main

import (
	"context"
	"io"
)

type planInit struct {
	planFlags
	Name string `placeholder:"NAME" help:"The feature: the branch of the plan is ralph/NAME. Default: the branch is for whoever writes the plan to name."`
}

// Run implements ralph plan init.
func (c *planInit) Run(ctx context.Context, p process, stderr io.Writer) error {
	plans, err := c.plans(p, p.out, stderr)
	if err != nil {
		return err
	}
	return planEnded(plans.Init(ctx, c.Name))
}
