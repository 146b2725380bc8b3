package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ralph-loop/ralph/internal/local"
	"github.com/ralph-loop/ralph/internal/session"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/safetext"
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
func (c *promptCommand) Run(ctx context.Context, p process, stderr io.Writer) error {
	env, err := config.ReadEnvironment(environment(p.environ))
	if err == nil {
		err = c.validate()
	}
	if err != nil {
		return &endedError{loop.Invalid.ExitCode(), err}
	}
	if c.Template != "" {
		text, _ := prompt.Template(c.Template)
		_, err := io.WriteString(p.out, text)
		return err
	}
	t := &local.Preview{
		Session: session.Session{Env: env, Parent: p.environ, Dir: p.dir, Out: p.out, Err: stderr, Clock: now,
			Flags: config.Layer{Name: "flags", JSON: []byte("{}")},
			Again: session.Again{Resume: c.Resume, Fresh: c.Fresh}},
		Issue: c.Issue, Task: c.Task, Plan: c.Plan, Prompt: c.Prompt, PromptFile: c.PromptFile, Role: task.Role(c.Role),
	}
	if isTerminal(p.out) {
		t.Live = safetext.Raw(p.out)
	}
	err = t.Show(ctx)
	if invalid.Is(err) {
		err = &endedError{loop.Invalid.ExitCode(), err}
	}
	return err
}

// validate says what is wrong with the flags, one sentence.
func (c *promptCommand) validate() error {
	given := 0
	for _, text := range []string{c.Prompt, c.PromptFile, c.Issue, c.Task, c.Plan, c.Template} {
		if text != "" {
			given++
		}
	}
	if given != 1 {
		return errors.New("say of what with one of --issue FILE|NUMBER, --task FILE|ID, --plan DIR, --prompt TEXT and " +
			"--prompt-file FILE, or print a template with --template NAME; see ralph prompt --help")
	}
	if _, ok := prompt.Template(c.Template); c.Template != "" && !ok {
		return fmt.Errorf("invalid --template %q: must be one of %s", c.Template,
			strings.ReplaceAll(strings.Join(prompt.Names(), ", "), ".md", ""))
	}
	if _, err := roleNamed(c.Role); c.Role != "" && err != nil {
		return err
	}
	return nil
}

// roleNamed is the role of a name.
func roleNamed(name string) (task.Role, error) {
	for _, r := range task.Roles {
		if string(r) == name {
			return r, nil
		}
	}
	return "", fmt.Errorf("invalid --role %q: must be coder, tester, reviewer or qa", name)
}
