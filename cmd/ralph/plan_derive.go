package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ralph-loop/ralph/internal/derive"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/loop"
)

type planDerive struct {
	planFlags
	From         string         `placeholder:"FILE|NUMBER" help:"An issue: a Markdown file, or the number of an issue of this repository (needs GITHUB_TOKEN). Default: ralph/prd.md, or what you answer at the terminal."`
	Agent        *string        `placeholder:"NAME" help:"The coding agent: {agent_command}"`
	Model        *string        `placeholder:"NAME" help:"{agent_model} Default: the agent's own."`
	AgentTimeout *time.Duration `placeholder:"TIME" help:"{agent_timeout} Default: 20m."`
	Verbose      bool           `short:"V" help:"Verbose logging on standard error."`
	JSON         bool           `name:"json" help:"Print what was written as JSON on standard output, and everything else on standard error."`
}

// Run implements ralph plan derive.
func (c *planDerive) Run(ctx context.Context, p process, stderr io.Writer) error {
	out := p.out
	if c.JSON {
		out = stderr
	}
	plans, err := c.plans(p, out, stderr)
	if err != nil {
		return err
	}
	plans.Flags, plans.Verbose = c.layer(), c.Verbose
	d := derive.Derivation{From: c.From}
	if p.in != nil && term.IsTerminal(int(p.in.Fd())) && isTerminal(out) {
		d.In = p.in
	}
	found, err := derive.Derive(ctx, plans, d)
	switch {
	case err != nil && ctx.Err() != nil:
		return &endedError{loop.Interrupted.ExitCode(), errors.New("interrupted; nothing is written")}
	case err != nil:
		return planEnded(err)
	case c.JSON:
		_, err = fmt.Fprintf(p.out, "%s", plainJSON(found))
	}
	return err
}

// layer is the settings that the flags make.
func (c *planDerive) layer() config.Layer {
	agent := map[string]any{}
	given(agent, "command", c.Agent)
	given(agent, "model", c.Model)
	if c.AgentTimeout != nil {
		agent["timeout"] = c.AgentTimeout.String()
	}
	object := map[string]any{}
	if len(agent) > 0 {
		object["agent"] = agent
	}
	text, err := json.Marshal(object)
	if err != nil { // texts
		panic(err)
	}
	return config.Layer{Name: "flags", JSON: text}
}
