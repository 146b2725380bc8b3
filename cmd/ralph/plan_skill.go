package main

import (
	"context"
	"io"
)

type planSkill struct {
	ProjectDir string `name:"dir" aliases:"project-dir" short:"d" placeholder:"PATH" help:"The project. Default: the current directory."`
	Plugin     string `placeholder:"DIR" help:"Write a plugin for Claude Code into DIR instead: the skill, ralph's hooks, the templates, a marketplace."`
	Force      bool   `help:"Replace what is there."`
}

// Run implements ralph plan skill.
func (c *planSkill) Run(ctx context.Context, p process, stderr io.Writer) error {
	plans, err := planFlags{ProjectDir: c.ProjectDir, RalphDir: "ralph"}.plans(p, p.out, stderr)
	if err != nil {
		return err
	}
	if c.Plugin != "" {
		return planEnded(plans.Plugin(below(p.dir, c.Plugin), c.Force))
	}
	return planEnded(plans.Skill(ctx, c.Force))
}
