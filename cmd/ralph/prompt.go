package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/local"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
	"github.com/ralph-loop/ralph/internal/task"
)

type promptCommand struct {
	Prompt     string `short:"p" placeholder:"TEXT" help:"Of a run with this prompt."`
	PromptFile string `short:"f" placeholder:"FILE" help:"Of a run with this file as its prompt."`
	Issue      string `placeholder:"FILE|NUMBER" help:"Of a run of this issue."`
	Task       string `placeholder:"FILE|ID" help:"Of a run of this task."`
	Plan       string `placeholder:"DIR" help:"Of a run of the plan in this directory: ralph."`
	Role       string `placeholder:"ROLE" help:"Role of the prompt: coder, tester, reviewer or qa. Default: the role of the next turn."`
	Resume     bool   `xor:"again" help:"Continue the last run, even when it has ended."`
	Fresh      bool   `xor:"again" help:"Start over, even if a run can be resumed."`
	Template   string `placeholder:"NAME" help:"Print a template of ralph's own instead, to begin one in .ralph/prompts from: implement, tester, review, qa, plan-implement, plan-review or plan-review-fix."`
}

// Run implements ralph prompt.
func (c *promptCommand) Run(ctx context.Context, p process, s session.Session, stderr io.Writer) error {
	if err := c.validate(); err != nil {
		return invalid.Mark(err)
	}
	if c.Template != "" {
		text, _ := prompt.Template(c.Template)
		_, err := io.WriteString(p.out, text)
		return err
	}
	s.Err, s.Flags, s.Again = stderr, setBy(struct{}{}, nil), session.Again{Resume: c.Resume, Fresh: c.Fresh}
	if isTerminal(p.out) {
		s.Live = safetext.Raw(p.out)
	}
	return (&local.Preview{Session: s, Issue: c.Issue, Task: c.Task, Plan: c.Plan, Prompt: c.Prompt,
		PromptFile: c.PromptFile, Role: task.Role(c.Role)}).Show(ctx)
}

// validate says what is wrong with the flags, one sentence.
func (c *promptCommand) validate() error {
	if said(c.Prompt, c.PromptFile, c.Issue, c.Task, c.Plan, c.Template) != 1 {
		return errors.New("say of what with one of --issue FILE|NUMBER, --task FILE|ID, --plan DIR, --prompt TEXT and " +
			"--prompt-file FILE, or print a template with --template NAME; see ralph prompt --help")
	}
	if _, ok := prompt.Template(c.Template); c.Template != "" && !ok {
		return fmt.Errorf("invalid --template %q: must be one of %s", c.Template,
			strings.ReplaceAll(strings.Join(prompt.Names(), ", "), ".md", ""))
	}
	if c.Role != "" && !slices.Contains(task.Roles, task.Role(c.Role)) {
		return fmt.Errorf("invalid --role %q: must be coder, tester, reviewer or qa", c.Role)
	}
	return nil
}
