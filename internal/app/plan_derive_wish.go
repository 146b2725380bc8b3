package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/app/plan"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/task"
)

// wish is what is asked for. It refuses what would lose somebody's work before anything is spent.
func (p *Plans) wish(ctx context.Context, root *os.Root, from string, d Derivation) (planWish, error) {
	var w planWish
	if info, err := root.Stat(p.dir); err != nil || !info.IsDir() {
		return w, invalid.Errorf("there is no directory %s: run ralph plan init first", p.dir)
	}
	kept, err := p.underWay(root)
	if err != nil {
		return w, err
	}
	content, _, err := files.ReadIfThere(root, p.file(prdFile), maxPlanFile)
	if err != nil {
		return w, err
	}
	prd := string(content)
	written := !plan.Unwritten(prd)
	switch {
	case d.From != "" && !p.isPRD(from, d.From):
		if written {
			return w, invalid.Errorf("%s says already what is wanted, and --from would replace it; leave --from out to derive its stories, or run ralph plan archive first", p.file(prdFile))
		}
		w, err = p.issue(ctx, from, d.From)
	case written:
		w = planWish{name: p.file(prdFile), prd: prd}
	case d.In == nil:
		err = invalid.Errorf("%s says nothing yet, and nobody is at a terminal to be asked: write it, name an issue with --from, or run ralph plan derive at a terminal", p.file(prdFile))
	default:
		w = planWish{name: "what the user says"}
	}
	w.kept = kept
	return w, err
}

// isPRD reports whether a file is the plan's own PRD.
func (p *Plans) isPRD(from, name string) bool {
	if !filepath.IsAbs(name) {
		name = filepath.Join(from, name)
	}
	a, err := os.Stat(name)
	b, other := os.Stat(filepath.Join(p.Dir, filepath.FromSlash(p.file(prdFile))))
	return err == nil && other == nil && os.SameFile(a, b)
}

// issue reads what is wanted from an issue's file, or from GitHub.
func (p *Plans) issue(ctx context.Context, from, ref string) (planWish, error) {
	if number, err := strconv.Atoi(strings.TrimPrefix(ref, "#")); err == nil && number > 0 {
		t, err := p.fromGitHub(ctx, number)
		return wishOf(fmt.Sprintf("issue #%d", number), t), err
	}
	name := ref
	if !filepath.IsAbs(name) {
		name = filepath.Join(from, name)
	}
	content, err := files.Read(name)
	if err != nil {
		return planWish{}, invalid.Errorf("flag --from is %q: %w; allowed are a file that says what is wanted, and an issue's number", ref, err)
	}
	t, err := task.FromFile(ref, string(content))
	if err != nil {
		return planWish{}, invalid.Mark(err)
	}
	return wishOf("the issue "+ref, t), nil
}

// wishOf is an issue as a wish. Its text has been sanitised where the task was made.
func wishOf(name string, t task.Task) planWish {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n", t.Title, strings.TrimSpace(t.Spec))
	if c := t.Completion; c != nil {
		if c.Outcome != "" {
			fmt.Fprintf(&b, "\n## Outcome\n\n%s\n", c.Outcome)
		}
		if len(c.Acceptance) > 0 {
			fmt.Fprintf(&b, "\n## Acceptance criteria\n\n- %s\n", strings.Join(c.Acceptance, "\n- "))
		}
	}
	for _, c := range t.Comments {
		fmt.Fprintf(&b, "\n## Comment by %s\n\n%s\n", c.Author, c.Text)
	}
	if t.Hint != "" {
		fmt.Fprintf(&b, "\n## Said by whoever asks for the plan\n\n%s\n", t.Hint)
	}
	return planWish{name: name, text: b.String(), foreign: true}
}

// underWay is what is set already; a plan that has come anywhere is not overwritten.
func (p *Plans) underWay(root *os.Root) (kept task.Plan, err error) {
	for _, name := range []string{planFile, foreignPlan} {
		file := p.file(name)
		content, ok, err := files.ReadIfThere(root, file, maxPlanFile)
		switch {
		case err != nil:
			return kept, err
		case !ok:
			continue
		case name == foreignPlan:
			return kept, invalid.Errorf("%s is a plan already: ralph plan run works on it, ralph plan archive puts it away", file)
		}
		if plan.Untouched(content) {
			kept.Project, kept.BranchName, kept.Description = plan.Named(content)
			continue
		}
		of, _, err := task.ReadPlan(file, content)
		if err != nil {
			return kept, invalid.Errorf("%s is there already, and is no plan that can be read: see ralph plan validate, or move it away", file)
		}
		for _, s := range of.Stories {
			if s.Passes || s.ReviewCount > 0 || s.ReviewStatus != task.Unreviewed {
				return kept, invalid.Errorf("%s is under way: %s; run ralph plan archive first, which keeps it", file, s.ID+" "+of.Standing(s.ID))
			}
		}
		kept = task.Plan{Project: of.Project, BranchName: of.BranchName, Description: of.Description}
	}
	return kept, nil
}
