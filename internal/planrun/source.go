package planrun

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
	"github.com/ralph-loop/ralph/internal/task"
)

// The files of a plan, in its directory.
const (
	PlanFile     = "tasks.json"
	ForeignPlan  = "prd.json"
	PrdFile      = "prd.md"
	ProgressFile = "progress.txt"
	promptMD     = "prompt.md"
)

// MaxPlanFile bounds what is read of a plan's files: a plan has at most a thousand stories.
const MaxPlanFile = 4 << 20

// Source is a plan as someone gave it.
type Source struct {
	Dir     string // "ralph": its directory, from the top of the repository
	File    string // "ralph/tasks.json"
	Content []byte // of File
	PRD     string // of prd.md; empty: no such file
	Prompt  string // of prompt.md; empty: no such file
	// Commands says that the plan may say what is run: it is the user's own, or of the base commit.
	Commands bool
	Plan     plan.Plan // as Content says
	// Reviews are what is believed of the stories' reviews, by source: what Content says of them is held against these.
	// nil: Content is a run's own record.
	Reviews [][]plan.RecordedReview
	// ReviewCost is what a review of this plan has cost before, in US dollars; 0: no one knows.
	ReviewCost float64
	// Write is what the harness puts into the repository before the first turn, by path; nil: the plan is there
	// already.
	Write map[string][]byte
}

// ReadPlanIn reads the plan in a directory of the user's, given from the top of the clone. No link leads out of it.
func ReadPlanIn(top, dir string) (Source, error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return Source{}, fmt.Errorf("reading the plan: %w", err)
	}
	defer root.Close()
	src := Source{Dir: dir, Commands: true}
	src.File = path.Join(dir, PlanFile)
	src.Content, err = files.ReadIn(root, src.File, MaxPlanFile)
	_, second := root.Lstat(path.Join(dir, ForeignPlan))
	switch {
	case second != nil:
	case errors.Is(err, fs.ErrNotExist), err == nil && plan.Untouched(src.Content):
		src.File = path.Join(dir, ForeignPlan)
		src.Content, err = files.ReadIn(root, src.File, MaxPlanFile)
	default: // no one knows which of them was reviewed
		return src, invalid.Errorf(
			"there are two plans in %s: %s and %s; move the one that you do not mean out of the directory, then run again",
			dir, PlanFile, ForeignPlan,
		)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return src, invalid.Errorf(
			"there is no plan in %s: neither %s nor %s is there; make one with: ralph plan init", dir, PlanFile,
			ForeignPlan,
		)
	case err != nil:
		return src, invalid.Errorf("reading %s: %w", src.File, err)
	}
	for name, to := range map[string]*string{PrdFile: &src.PRD, promptMD: &src.Prompt} {
		text, err := files.ReadIn(root, path.Join(dir, name), MaxPlanFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return src, invalid.Errorf("reading %s: %w", path.Join(dir, name), err)
		}
		*to = string(text)
	}
	return src, nil
}

// ReadPlanAt reads the plan that a commit holds, by the path of its file.
func ReadPlanAt(ctx context.Context, tree *git.Tree, commit, file string) (Source, error) {
	src := Source{Dir: path.Dir(file), File: file, Commands: true}
	content, ok, err := tree.Read(ctx, commit, file, MaxPlanFile+1)
	if err != nil {
		return src, fmt.Errorf("reading the plan: %w", err)
	}
	if !ok {
		return src, invalid.Mark(&noPlanError{file, tree.BaseBranch()})
	}
	src.Content = content
	for name, to := range map[string]*string{PrdFile: &src.PRD, promptMD: &src.Prompt} {
		text, _, err := tree.Read(ctx, commit, path.Join(src.Dir, name), MaxPlanFile+1)
		if err != nil {
			return src, fmt.Errorf("reading the plan: %w", err)
		}
		*to = string(text)
	}
	return src, nil
}

// noPlanError says that a commit has no plan where one is named.
type noPlanError struct{ file, branch string }

func (e *noPlanError) Error() string {
	return fmt.Sprintf(
		"there is no plan %s on %s: give the path of a tasks.json or prd.json from the top of the repository", e.file,
		e.branch,
	)
}

// Task is the plan as what someone wants done: one task whose parts are its stories.
func (src Source) Task() (task.Task, plan.Plan, error) {
	plan, _, err := readPlan(src.File, src.Content)
	if err != nil {
		return task.Task{}, plan, invalid.Mark(err)
	}
	return task.Task{ID: planID(plan), Title: planTitle(plan),
		Spec: cmp.Or(safetext.FirstBytes(src.PRD, MaxPlanSpec), plan.Description)}, plan, nil
}

// planID is the task that a run of a plan is.
func planID(p plan.Plan) string {
	return "plan-" + safetext.Slug(strings.TrimPrefix(p.BranchName, "ralph/"), 40)
}

// MaxPlanSpec bounds the PRD in a run's record; the agent reads the file itself.
const MaxPlanSpec = 64 << 10

func planTitle(p plan.Plan) string {
	first, _, _ := strings.Cut(strings.TrimSpace(p.Description), "\n")
	title := strings.Join(strings.Fields(p.Project+": "+first), " ")
	return safetext.Shorten(strings.Trim(title, ": "), 200)
}

// Paths are the plan's own files, those of the layout that it is not of among them.
func (src Source) Paths() []string {
	usual := []string{PlanFile, ForeignPlan, PrdFile, ProgressFile, promptMD}
	return append([]string{src.File}, safetext.Map(usual, func(name string) string { return path.Join(src.Dir, name) })...)
}

// Without are the names that are not the plan's.
func (src Source) Without(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return src.Dir != "" && strings.HasPrefix(name, src.Dir+"/")
	})
}

// TakeAlong makes the run begin with the plan's files as they are in a clone, by their names from its top.
func (src *Source) TakeAlong(top string, names []string) error {
	root, err := os.OpenRoot(top)
	if err != nil {
		return fmt.Errorf("reading the plan: %w", err)
	}
	defer root.Close()
	for _, name := range names {
		text, ok, err := files.ReadIfThere(root, name, MaxPlanFile)
		if err != nil {
			return invalid.Errorf("reading %s: %w", name, err)
		}
		if ok {
			src.write(name, text)
		}
	}
	return nil
}

func (src *Source) write(name string, text []byte) {
	if src.Write == nil {
		src.Write = map[string][]byte{}
	}
	src.Write[name] = text
}

// OnBranch is a plan as the branch of its newest run has it, with what people have approved since. The zero value: there
// is no run, or its branch does not have the plan.
type OnBranch struct {
	Source
	// Read reads a file as the branch has it; ok is false if it has none.
	Read   func(name string) (content []byte, ok bool, err error)
	Branch string
	Task   task.Task
	// Own are the plan's files in the clone that someone has edited: the branch never had them so.
	Own []string
	// Behind are the stories that are done on the branch and not in the clone's copy, unless the clone is on that commit.
	Behind []string
	Since  time.Time // of the run's newest record
}

// FindOnBranch looks for the plan that is in a clone on the branch of its newest run.
func FindOnBranch(ctx context.Context, s *session.Session, here Source) (b OnBranch, err error) {
	t, of, err := here.Task()
	if err != nil {
		return b, nil //nolint:nilerr // a plan that cannot be read is no run's
	}
	before, _, err := s.NewestRun(t.ID)
	if err != nil || before.Start.Plan == nil || before.Start.Branch != of.BranchName {
		return b, err
	}
	head := git.TipOf(ctx, s.Dir, s.Parent, of.BranchName, t.ID)
	clone, _ := git.Beside(ctx, s.Dir, proc.Environment(s.Parent, proc.Allowed), nil)
	tree, err := git.Look(ctx, s.Dir, s.Parent, of.BranchName)
	if err != nil || head == "" {
		return b, err
	}
	there, err := ReadPlanAt(ctx, tree, head, here.File)
	if _, missing := errors.AsType[*noPlanError](err); missing {
		return b, nil
	}
	if err == nil {
		b.Task, there.Plan, err = there.Task()
	}
	if err != nil {
		return b, err
	}
	b.Source, b.Branch, b.Since = there, of.BranchName, before.At
	b.Read = func(name string) ([]byte, bool, error) { return tree.Read(ctx, head, name, MaxPlanFile+1) }
	for _, name := range here.Paths() {
		if lies, err := files.Read(filepath.Join(s.Dir, name)); err != nil || slices.Contains(b.Own, name) {
			continue
		} else if text, _, err := b.Read(name); err != nil {
			return b, fmt.Errorf("reading the plan: %w", err)
		} else if !bytes.Equal(lies, text) && !had(ctx, clone, head, name) {
			b.Own = append(b.Own, name)
		}
	}
	for _, story := range b.Plan.Stories {
		if own := of.Story(story.ID); own != nil && story.Passes && !own.Passes && tree.Newest().SHA != head {
			b.Behind = append(b.Behind, story.ID)
		}
	}
	b.Approve(s, t.ID, b.Since)
	return b, nil
}

// had reports whether a commit, or one before it, has a file as it is in the clone.
func had(ctx context.Context, clone *git.Clone, commit, name string) bool {
	for _, how := range []string{"--", "--no-filters"} {
		id, ok, err := clone.Run(ctx, []string{"hash-object", how, name})
		if err == nil && ok {
			id, ok, err = clone.Run(ctx, []string{"--literal-pathspecs", "log", "-1", "--format=%H",
				"--find-object=" + strings.TrimSpace(id), commit, "--", name})
		}
		if err == nil && ok && id != "" {
			return true
		}
	}
	return false
}

// Name is how a file of the plan is shown: with the branch that it is on.
func (b OnBranch) Name(file string) string {
	if b.Branch == "" {
		return file
	}
	return file + " on " + b.Branch
}

// Note says what someone has edited in the clone, and how to get past it; empty: nothing.
func (b OnBranch) Note() string {
	if len(b.Own) == 0 {
		return ""
	}
	own := strings.Join(safetext.Map(b.Own, wording.ShellWord), " ")
	note := fmt.Sprintf("your copy of %s differs from the one on %s, which is shown; to take that: git restore --source=%[2]s "+
		"-- %s; ", safetext.FirstN(b.Own, 5), b.Branch, own)
	switch {
	case !slices.Contains(b.Own, b.File) || len(b.Behind) == 0:
		return note + "the next ralph plan run takes yours"
	default:
		return note + "to start over with yours: ralph plan run --fresh"
	}
}

// readPlan reads a plan that a person wrote, as task.ReadPlan does. Of the template it says only that it is one: what
// it lacks, everyone sees.
func readPlan(file string, content []byte) (plan.Plan, bool, error) {
	if plan.Untouched(content) {
		return plan.Plan{}, false, invalid.Errorf(
			"%s: the plan is still the template: write its stories, or let an agent derive them with ralph plan derive",
			file,
		)
	}
	p, foreign, err := plan.Read(file, content)
	return p, foreign, invalid.Mark(err)
}

// Rules are what the settings ask of a plan.
func Rules(s config.Settings) plan.Rules {
	return plan.Rules{SkipReview: !s.Review, ReviewCap: s.ReviewCap, FailAtCap: s.AtReviewCap == config.Fail}
}

// Approve marks the stories that people have approved since a time, and has the run write that.
func (src *Source) Approve(s *session.Session, id string, since time.Time) {
	for _, o := range approvedByHand(s, id) {
		if story := src.Plan.Story(o.Story); o.At.After(since) && story != nil && story.Digest() == o.Criteria {
			src.Plan = src.Plan.ApprovedBy(o.Story, o.Who)
			src.Content = src.Plan.Marshal()
			src.write(src.File, src.Content)
		}
	}
}
