package derive

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/planrun"
	"github.com/ralph-loop/ralph/internal/task"
)

// requestFrom reads the request. It fails before anything is spent if someone's work would be lost.
func requestFrom(ctx context.Context, p *planrun.Plans, root *os.Root, from string, d Derivation) (Request, error) {
	var w Request
	if info, err := root.Stat(p.PlanDir); err != nil || !info.IsDir() {
		return w, invalid.Errorf("there is no directory %s: run ralph plan init first", p.PlanDir)
	}
	kept, err := underWay(p, root)
	if err != nil {
		return w, err
	}
	content, _, err := files.ReadIfThere(root, p.File(planrun.PrdFile), planrun.MaxPlanFile)
	if err != nil {
		return w, err
	}
	prd := string(content)
	written := !plan.Unwritten(prd)
	switch {
	case d.From != "" && !isPRD(p, from, d.From):
		if written {
			return w, invalid.Errorf(
				"%s already describes the request, and --from would replace it; leave --from out to derive its stories, or run "+
					"ralph plan archive first",
				p.File(planrun.PrdFile),
			)
		}
		w, err = fromIssue(ctx, p, from, d.From)
	case written:
		w = Request{name: p.File(planrun.PrdFile), PRD: prd}
	case d.In == nil:
		err = invalid.Errorf(
			"%s is empty, and there is no terminal for questions: write it, name an issue with --from, or run ralph "+
				"plan derive at a terminal",
			p.File(planrun.PrdFile),
		)
	default:
		w = Request{name: "what the user says"}
	}
	w.Kept = kept
	return w, err
}

// isPRD reports whether a file is the plan's own PRD.
func isPRD(p *planrun.Plans, from, name string) bool {
	if !filepath.IsAbs(name) {
		name = filepath.Join(from, name)
	}
	a, err := os.Stat(name)
	b, other := os.Stat(filepath.Join(p.Dir, filepath.FromSlash(p.File(planrun.PrdFile))))
	return err == nil && other == nil && os.SameFile(a, b)
}

// fromIssue reads what is needed from an issue's file, or from GitHub.
func fromIssue(ctx context.Context, p *planrun.Plans, from, ref string) (Request, error) {
	if number, err := strconv.Atoi(strings.TrimPrefix(ref, "#")); err == nil && number > 0 {
		t, err := p.FromGitHub(ctx, number)
		return RequestOf(fmt.Sprintf("issue #%d", number), t), err
	}
	name := ref
	if !filepath.IsAbs(name) {
		name = filepath.Join(from, name)
	}
	content, err := files.Read(name)
	if err != nil {
		return Request{}, invalid.Errorf(
			"flag --from is %q: %w; must be a file that describes the request, or an issue's number", ref, err,
		)
	}
	t, err := task.FromFile(ref, string(content))
	if err != nil {
		return Request{}, invalid.Mark(err)
	}
	return RequestOf("the issue "+ref, t), nil
}

// RequestOf is an issue as a wish. Its text has been sanitised where the task was made.
func RequestOf(name string, t task.Task) Request {
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
		fmt.Fprintf(&b, "\n## Text of the requester\n\n%s\n", t.Hint)
	}
	return Request{name: name, Text: b.String(), foreign: true}
}

// underWay is what is set already; a plan that has come anywhere is not overwritten.
func underWay(p *planrun.Plans, root *os.Root) (kept plan.Plan, err error) {
	foreign, file := p.File(planrun.ForeignPlan), p.File(planrun.PlanFile)
	if _, err := root.Lstat(foreign); err == nil {
		return kept, invalid.Errorf(
			"%s is a plan already: ralph plan run works on it, ralph plan archive puts it away", foreign,
		)
	}
	content, ok, err := files.ReadIfThere(root, file, planrun.MaxPlanFile)
	if err != nil || !ok {
		return kept, err
	}
	if plan.Untouched(content) {
		kept.Project, kept.BranchName, kept.Description = plan.Named(content)
		return kept, nil
	}
	of, _, err := plan.Read(file, content)
	if err != nil {
		return kept, invalid.Errorf(
			"%s already exists, and is no plan that can be read: see ralph plan validate, or move it away",
			file,
		)
	}
	for _, s := range of.Stories {
		if s.Passes || s.ReviewCount > 0 || s.ReviewStatus != plan.Unreviewed {
			return kept, invalid.Errorf(
				"%s is in progress: %s; run ralph plan archive first, which keeps it", file,
				s.ID+" "+of.Standing(s.ID),
			)
		}
	}
	return plan.Plan{Project: of.Project, BranchName: of.BranchName, Description: of.Description}, nil
}

// Derivation is a plan to derive.
type Derivation struct {
	// an issue: a file, or a number; empty: the PRD that exists, or what the person at the terminal says
	From string
	In   io.Reader // that terminal; nil: no one is there
}
