package planrun

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/safetext"
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

// Source is a plan as somebody gave it.
type Source struct {
	Dir     string // "ralph": its directory, from the top of the repository
	File    string // "ralph/tasks.json"
	Content []byte // of File
	PRD     string // of prd.md; empty: there is none
	Prompt  string // of prompt.md; empty: there is none
	// Commands says that the plan may say what is run: it is the user's own, or of the base commit.
	Commands bool
	Plan     plan.Plan // as Content says
	// Reviews are what is believed of the stories' reviews, by source: what Content says of them is held against these.
	// nil: Content is a run's own record.
	Reviews [][]plan.RecordedReview
	// ReviewCost is what a review of this plan has cost before, in US dollars; 0: nobody knows.
	ReviewCost float64
	// Taken is the digest of Content where it lies in a user's clone; empty: it is that of a commit.
	Taken string
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
	default: // nobody knows which of them was reviewed
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

// Task is the plan as what somebody wants done: one task whose parts are its stories.
func (src Source) Task() (task.Task, plan.Plan, error) {
	plan, _, err := readPlan(src.File, src.Content)
	if err != nil {
		return task.Task{}, plan, invalid.Mark(err)
	}
	t := task.Task{ID: planID(plan), Title: planTitle(plan), Spec: safetext.FirstBytes(src.PRD, MaxPlanSpec)}
	if t.Spec == "" {
		t.Spec = plan.Description
	}
	return t, plan, nil
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

// files are the plan's own files, those of the layout that it is not of among them.
func (src Source) files() []string {
	files := []string{src.File}
	for _, name := range []string{PlanFile, ForeignPlan, PrdFile, ProgressFile, promptMD} {
		files = append(files, path.Join(src.Dir, name))
	}
	return files
}

// Without are the names that are not the plan's.
func (src Source) Without(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return src.Dir != "" && strings.HasPrefix(name, src.Dir+"/")
	})
}

// TakeAlong makes the run begin with the plan's files as they lie in a clone, by their names from its top.
func (src *Source) TakeAlong(top string, names []string) error {
	root, err := os.OpenRoot(top)
	if err != nil {
		return fmt.Errorf("reading the plan: %w", err)
	}
	defer root.Close()
	src.Taken, src.Write = DigestOf(src.Content), map[string][]byte{}
	for _, name := range names {
		text, ok, err := files.ReadIfThere(root, name, MaxPlanFile)
		if err != nil {
			return invalid.Errorf("reading %s: %w", name, err)
		}
		if ok {
			src.Write[name] = text
		}
	}
	return nil
}

// DigestOf tells one content of a plan's file from another.
func DigestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:8])
}

// Behind are the stories that are done in a plan and not here.
func (src Source) Behind(newer plan.Plan) (ids []string) {
	for _, s := range newer.Stories {
		if own := src.Plan.Story(s.ID); own != nil && s.Passes && !own.Passes {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// readPlan reads a plan that a person wrote, as task.ReadPlan does. Of the template it says only that it is one: what
// it lacks, everybody sees.
func readPlan(file string, content []byte) (plan.Plan, bool, error) {
	if plan.Untouched(content) {
		return plan.Plan{}, false, invalid.Errorf(
			"%s: the plan is still the template: write its stories, or let an agent derive them with ralph plan derive",
			file,
		)
	}
	p, foreign, err := plan.Read(file, content)
	if err != nil {
		return p, foreign, invalid.Mark(err)
	}
	return p, foreign, nil
}

// Rules are what the settings ask of a plan.
func Rules(s config.Settings) plan.Rules {
	return plan.Rules{SkipReview: !s.Review, ReviewCap: s.ReviewCap, FailAtCap: s.AtReviewCap == config.Fail}
}
