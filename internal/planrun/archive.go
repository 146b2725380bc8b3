package planrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/report/status"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// ArchiveDir is the directory of archived plans, next to the plan's own directory.
const ArchiveDir = "ralph-archive"

// filed is a file of an archived plan.
type filed struct {
	name    string
	content []byte
}

// Archive archives the plan: its files move to a directory of the archive, with a summary, fresh ones take their place,
// and only that is committed. label names the directory; empty: the plan's branch does.
func (p *Plans) Archive(ctx context.Context, label string) error {
	if label != "" &&
		!strings.ContainsFunc(
			label, func(r rune) bool { return r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r)) },
		) {
		return invalid.Errorf("flag --label is %q; must be a text with letters or digits, as in todo-list", label)
	}
	root, err := p.Open(ctx)
	if err != nil {
		return err
	}
	defer root.Close()
	unlock, err := p.Alone(journal.Lock(p.Dir, p.Log)) // no run may be at work
	if err != nil {
		return err
	}
	defer unlock()
	archived, err := p.toArchive(ctx, root)
	if err != nil {
		return err
	}
	inClone, err := p.committable(ctx)
	if err != nil {
		return err
	}
	name, summary := p.summarize(archived, label)
	to, err := newDirectory(root, path.Join(path.Dir(p.PlanDir), ArchiveDir), name)
	if err != nil {
		return err
	}
	if err := p.move(root, append(archived, filed{"summary.md", []byte(summary)}), to); err != nil {
		return err
	}
	p.Say("archived %s as %s", p.PlanDir, to)
	project := filepath.Base(filepath.Join(p.Dir, filepath.FromSlash(path.Dir(p.PlanDir))))
	if err := p.scaffold(root, project, "", ""); err != nil {
		return err
	}
	if !inClone {
		p.Say("%s is in no git repository, so nothing is committed", p.Dir)
		return nil
	}
	return p.commitArchive(ctx, archived, to)
}

// toArchive are the files of the plan, if anyone has written anything into them: as the branch of its run has them, or
// the clone if there is no run.
func (p *Plans) toArchive(ctx context.Context, root *os.Root) ([]filed, error) {
	read := func(name string) ([]byte, bool, error) { return files.ReadIfThere(root, name, MaxPlanFile) }
	if src, err := ReadPlanIn(p.Dir, p.PlanDir); err == nil {
		on, err := FindOnBranch(ctx, &p.Session, src)
		switch {
		case err != nil:
			return nil, err
		case on.Note() != "":
			return nil, invalid.Errorf("nothing is archived: %s", on.Note())
		case on.Branch != "":
			read = on.Read
			p.Say("the files of the plan are those of %s", on.Branch)
		}
	}
	var archived []filed
	written := false
	for _, f := range []struct {
		name  string
		blank func(content string) bool
	}{
		{PrdFile, plan.Unwritten},
		{PlanFile, func(s string) bool { return plan.Untouched([]byte(s)) }},
		{ForeignPlan, func(string) bool { return false }},
		{ProgressFile, noProgress},
	} {
		content, ok, err := read(p.File(f.name))
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if err := p.SecretFree(p.File(f.name), string(content)); err != nil {
			return nil, err
		}
		written = written || !f.blank(string(content))
		archived = append(archived, filed{f.name, content})
	}
	if !written {
		return nil, invalid.Errorf("there is nothing to archive in %s: no plan has been written there", p.PlanDir)
	}
	return archived, nil
}

var progressBlank = regex.Lazy(
	`(?m)^(# Ralph Progress Log|Started: .*|PRD: .*|## Codebase Patterns|- \(Reusable patterns .*\)|---)?\r?$`,
)

// noProgress reports whether a log of iterations is the template.
func noProgress(content string) bool {
	return strings.TrimSpace(progressBlank.ReplaceAllString(content, "")) == ""
}

// committable reports whether there is a clone. Its error says why a part of it cannot be committed.
func (p *Plans) committable(ctx context.Context) (inClone bool, err error) {
	clone, ok := git.Beside(ctx, p.Dir, proc.Environment(p.Parent, proc.Allowed), nil)
	if !ok {
		return false, nil
	}
	_, merging, err := clone.Run(ctx, []string{"rev-parse", "--quiet", "--verify", "MERGE_HEAD"})
	if err == nil && merging {
		err = invalid.Errorf("a merge is in progress in %s, and git would commit all of it; finish it first", p.Dir)
	}
	return true, err
}

var started = regex.Lazy(`(?m)^Started: *(\d{4}-\d{2}-\d{2})\b`)

// summarize is the directory's name and its summary.
func (p *Plans) summarize(archived []filed, label string) (name, summary string) {
	today := p.Clock().Local().Format("2006-01-02")
	v, title, why, from := status.PlanView{Rules: p.Rules(), Redact: p.Redact}, "", "", today
	for _, f := range archived {
		switch f.name {
		case ProgressFile:
			if match := started.FindStringSubmatch(string(f.content)); match != nil {
				from = match[1]
			}
		case PlanFile, ForeignPlan:
			of, _, err := readPlan(p.File(f.name), f.content)
			if err != nil && v.Plan.Stories == nil {
				why = err.Error()
			} else if err == nil && v.Plan.Stories == nil {
				v.Plan, why, title = of, "", of.Project
			}
		}
	}
	label = cmp.Or(label, v.Plan.BranchName, filepath.Base(p.Dir))
	return today + "-" + safetext.Slug(strings.TrimSpace(label), 40), status.PlanSummary(v, cmp.Or(title, label), from, today, why)
}

// newDirectory makes a directory that did not exist: name, or name-2 and so on.
func newDirectory(root *os.Root, in, name string) (string, error) {
	if err := root.MkdirAll(in, 0o755); err != nil {
		return "", invalid.Errorf("making %s: %w", in, files.Advise(err))
	}
	for n := 1; n <= 1000; n++ {
		dir := path.Join(in, name)
		if n > 1 {
			dir = fmt.Sprintf("%s-%d", dir, n)
		}
		err := root.Mkdir(dir, 0o755)
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", invalid.Errorf("making %s: %w", dir, files.Advise(err))
		}
	}
	return "", invalid.Errorf("%s holds 1,000 directories %s; pass another name with --label", in, name)
}

// move writes the files to a directory, and removes those of the plan here once all are there.
func (p *Plans) move(root *os.Root, archived []filed, to string) error {
	for _, f := range archived {
		if _, err := files.Create(root, path.Join(to, f.name), string(f.content)); err != nil {
			return errors.Join(err, root.RemoveAll(to))
		}
	}
	for _, f := range archived {
		if err := root.Remove(p.File(f.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return invalid.Errorf("%s is archived as %s and not removed: %w", p.File(f.name), to, files.Advise(err))
		}
	}
	return nil
}

// commitArchive commits the archive and what took the plan's place, and nothing else that is staged or changed.
func (p *Plans) commitArchive(ctx context.Context, archived []filed, to string) error {
	names := append([]string{PrdFile, PlanFile, ProgressFile, promptMD}, safetext.Map(archived, func(f filed) string { return f.name })...)
	paths := append([]string{to}, safetext.Map(names, p.File)...)
	message := "ralph: archive the plan " + path.Base(to)
	sha, err := git.CommitPaths(
		ctx, p.Dir, p.Parent, git.Identity{Name: "ralph", Email: "ralph@localhost"}, message+"\n", paths,
	)
	switch {
	case err != nil:
		return fmt.Errorf("the plan is archived as %s and not committed: %w", to, err)
	case sha == "":
		return fmt.Errorf(
			"the plan is archived as %s and not committed, since git ignores it: take it out of .gitignore and commit it",
			to,
		)
	}
	p.Say("committed: %s", message)
	return nil
}
