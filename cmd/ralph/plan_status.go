package main

import (
	"context"
	"io"

	"github.com/ralph-loop/ralph/internal/safetext"
)

type planStatus struct {
	planFlags
	JSON    bool `name:"json" xor:"form" help:"Print it as one JSON object."`
	Mermaid bool `xor:"form" help:"Print the stories and what they depend on as a graph of Mermaid."`
}

// Run implements ralph plan status.
func (c *planStatus) Run(ctx context.Context, p process, stderr io.Writer) error {
	plans, err := c.plans(p, p.out, stderr)
	if err != nil {
		return err
	}
	st, err := plans.Look(ctx)
	if err != nil {
		return planEnded(err)
	}
	text := ""
	switch {
	case c.JSON:
		text = string(plainJSON(st))
	case c.Mermaid:
		text = safetext.InertLines(st.Mermaid())
	default:
		text = safetext.InertLines(st.Text())
	}
	_, err = io.WriteString(p.out, text)
	return err
}
