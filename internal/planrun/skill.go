package planrun

import (
	"context"
	"errors"
	"os"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/plan"
)

// Skill writes the skill ralph-plan and its slash command for Claude Code into the project. A file of another text is
// replaced only with force.
func (p *Plans) Skill(ctx context.Context, force bool) error {
	root, err := p.Open(ctx)
	if err != nil {
		return err
	}
	defer root.Close()
	return p.put(
		root,
		map[string]string{
			".claude/skills/ralph-plan/SKILL.md": plan.Skill(), ".claude/commands/ralph-plan.md": plan.Command(),
		},
		force,
	)
}

// Plugin writes a plugin for Claude Code, with its marketplace, into a directory of its own.
func (p *Plans) Plugin(dir string, force bool) error {
	p.Begin()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return invalid.Errorf("flag --plugin: %w", files.Advise(err))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return invalid.Errorf("flag --plugin: %w", files.Advise(err))
	}
	defer root.Close()
	if err := p.put(root, plan.Plugin(), force); err != nil {
		return err
	}
	p.Say("In Claude Code: /plugin marketplace add %s, then /plugin install ralph@ralph", dir)
	return nil
}

// put writes files. What somebody has changed stays unless force says otherwise, and then nothing is written at all.
func (p *Plans) put(root *os.Root, texts map[string]string, force bool) error {
	missing := map[string]bool{}
	var errs []error
	for _, name := range plan.Names(texts) {
		content, ok, err := files.ReadIfThere(root, name, MaxPlanFile)
		switch {
		case err != nil:
			errs = append(errs, err)
		case ok && string(content) != texts[name] && !force:
			errs = append(
				errs, invalid.Errorf("%s already exists, with another text; say --force to replace it", name),
			)
		default:
			missing[name] = !ok
		}
	}
	if err := errors.Join(errs...); err != nil {
		return invalid.Mark(err)
	}
	for _, name := range plan.Names(texts) {
		write := func() error { return files.ReplaceIn(root, name, texts[name]) }
		if missing[name] {
			write = func() error { _, err := files.Create(root, name, texts[name]); return err }
		}
		if err := write(); err != nil {
			return err
		}
		p.Say("%s", name)
	}
	return nil
}
