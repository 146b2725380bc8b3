package main

import (
	"context"
	"io"
)

type planArchive struct {
	planFlags
	Label string `placeholder:"LABEL" help:"What the archive is called, after the date. Default: the plan's branch."`
}

// Run implements ralph plan archive.
func (c *planArchive) Run(ctx context.Context, p process, stderr io.Writer) error {
	plans, err := c.plans(p, p.out, stderr)
	if err != nil {
		return err
	}
	return planEnded(plans.Archive(ctx, c.Label))
}
