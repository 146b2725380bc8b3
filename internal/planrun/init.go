package planrun

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/plan"
)

// Init makes the missing files of a plan. name is the feature, which names the branch; empty: the author of the plan
// names it.
func (p *Plans) Init(ctx context.Context, name string) error {
	root, err := p.Open(ctx)
	if err != nil {
		return err
	}
	defer root.Close()
	branch, err := planBranch(ctx, name)
	if err != nil {
		return err
	}
	if err := p.nothingThere(root); err != nil {
		return err
	}
	project := filepath.Base(filepath.Join(p.Dir, filepath.FromSlash(path.Dir(p.PlanDir))))
	if err := p.scaffold(root, project, name, branch); err != nil {
		return err
	}
	if err := p.ignore(root); err != nil {
		return err
	}
	p.Say("")
	p.Say("Next:")
	p.Say("  1. Write what you want into %s, or let an agent ask you: ralph plan derive", p.File(PrdFile))
	p.Say("  2. Let an agent derive the stories from it: ralph plan derive, or /ralph-plan in")
	p.Say("     Claude Code after ralph plan skill; or write %s yourself", p.File(PlanFile))
	p.Say("  3. Look at them: ralph plan validate, ralph plan status")
	p.Say("  4. Commit %s, and run the plan: ralph plan run", p.PlanDir)
	return nil
}

// planBranch is the branch of a feature; empty when it has no name.
func planBranch(ctx context.Context, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	branch := "ralph/" + strings.TrimPrefix(name, "ralph/")
	if err := git.CheckBranchName(ctx, branch); err != nil {
		return "", invalid.Errorf(
			"flag --name is %q: %w; must be letters, digits, dots, dashes, underscores and slashes, as in todo-list",
			name, err,
		)
	}
	return branch, nil
}

// nothingThere refuses to overwrite an existing plan.
func (p *Plans) nothingThere(root *os.Root) error {
	for _, name := range []string{PlanFile, ForeignPlan} {
		file := p.File(name)
		content, ok, err := files.ReadIfThere(root, file, MaxPlanFile)
		if err != nil {
			return err
		}
		if ok && !plan.Untouched(content) {
			return invalid.Errorf("%s already exists; ralph plan status shows it, ralph plan archive puts it away", file)
		}
	}
	return nil
}

// scaffold writes the files that do not exist yet.
func (p *Plans) scaffold(root *os.Root, project, name, branch string) error {
	title := cmp.Or(name, project)
	for _, f := range []struct{ name, content string }{
		{PrdFile, plan.PRD(title)},
		{PlanFile, plan.Tasks(project, branch)},
		{ProgressFile, plan.Progress(p.Clock().Local().Format("2006-01-02"), title)},
		{promptMD, plan.Prompt()},
	} {
		made, err := files.Create(root, p.File(f.name), f.content)
		switch {
		case err != nil:
			return err
		case made:
			p.Say("created %s", p.File(f.name))
		default:
			p.Say("%s already exists, and stays as it is", p.File(f.name))
		}
	}
	return nil
}

// ignore keeps the marker of a run out of commits, also in clones that ralph has not run in; elsewhere the clone's own
// exclude file does.
func (p *Plans) ignore(root *os.Root) error {
	const name = ".gitignore"
	content, _, err := files.ReadIfThere(root, name, MaxPlanFile)
	if err != nil {
		return err
	}
	changed, added := plan.Ignoring(content, engine.ActiveFile)
	if !added {
		return nil
	}
	if err = files.ReplaceIn(root, name, string(changed)); err == nil {
		p.Say("added %s to %s", engine.ActiveFile, name)
	}
	return err
}

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

// put writes files. What someone has changed stays unless force says otherwise, and then nothing is written at all.
func (p *Plans) put(root *os.Root, texts map[string]string, force bool) error {
	var errs []error
	for _, name := range plan.Names(texts) {
		content, ok, err := files.ReadIfThere(root, name, MaxPlanFile)
		switch {
		case err != nil:
			errs = append(errs, err)
		case ok && string(content) != texts[name] && !force:
			errs = append(
				errs, invalid.Errorf("%s already exists, with other text; pass --force to replace it", name),
			)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return invalid.Mark(err)
	}
	for _, name := range plan.Names(texts) {
		if err := files.ReplaceIn(root, name, texts[name]); err != nil {
			return err
		}
		p.Say("%s", name)
	}
	return nil
}
