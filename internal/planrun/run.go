// Package planrun is the run of a plan: the guard of its file, who takes which turn, what is on record of its reviews; and what a person does
// with a plan besides running it.
package planrun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/task"
)

// The files of a plan, in its directory (S4-10).
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
	// Reviews are what is believed of the stories' reviews, by source: what Content says of them is held against these. nil: Content is a run's
	// own record.
	Reviews [][]plan.OnRecord
	// ReviewCost is what a review of this plan has cost before, in US dollars; 0: nobody knows.
	ReviewCost float64
	// Write is what the harness puts into the repository before the first turn, by path; nil: the plan is there already.
	Write map[string][]byte
}

// Run is the plan that a run works on.
type Run struct {
	Source
	begun   plan.Plan // the plan as the run begins with it
	record  []plan.OnRecord
	foreign bool // of the common layout: its stories get the fields of a review
	active  *active
	file    *guard
	log     func(format string, args ...any)
	rules   plan.Rules
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
		return src, invalid.Errorf("there are two plans in %s: %s and %s; move the one that you do not mean out of the directory, then run again", dir, PlanFile, ForeignPlan)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return src, invalid.Errorf("there is no plan in %s: neither %s nor %s is there; make one with: ralph plan init", dir, PlanFile, ForeignPlan)
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
	return fmt.Sprintf("there is no plan %s on %s: give the path of a tasks.json or prd.json from the top of the repository", e.file, e.branch)
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
	title := safetext.OneLine(p.Project + ": " + first)
	return safetext.Shorten(strings.Trim(title, ": "), 200)
}

// Use makes the run one of a plan: its verify commands are checks, its rules those of the settings. It says what is wrong with it
// before anything is spent. The settings and their guardrails are there by then.
func Use(w *engine.Spec, src Source) error {
	plan, foreign, err := readPlan(src.File, src.Content)
	if err != nil {
		return invalid.Mark(err)
	}
	p := &Run{Source: src, begun: plan, foreign: foreign, log: w.Log,
		rules: Rules(w.Settings)}
	if err := p.sound(); err != nil {
		return err
	}
	p.bind()
	p.choosePrompt()
	if w.Redact != nil && w.Redact(string(src.Content)) != string(src.Content) {
		return invalid.Errorf("%s holds a secret of ralph's environment; take it out, and out of the repository's history", src.File)
	}
	if src.Commands {
		w.VerifyWith(plan.VerifyCommands)
	}
	if len(w.Settings.Completion) > 0 || w.Settings.Pipeline != nil {
		w.Log("the settings completion and pipeline are not used here: a plan's stories say when they are done, and the plan who acts")
	}
	p.active = &active{dir: w.Workspace.Dir(), clock: w.Clock}
	p.file = &guard{Committer: engine.Committer{Tree: w.Tree, Host: w.Host}, plan: p, active: p.active, log: w.Log, redact: w.Redact}
	w.Plan, w.Commits = p, p.file
	w.Goal = engine.Goal{Most: w.Settings.Iterations(config.PlanIterations)}
	return w.MustBeJudged()
}

// sound says what is wrong with a plan that was begun by other rules, or by hand.
func (p *Run) sound() error {
	if broken := p.begun.Invariants(p.rules); len(broken) > 0 {
		return invalid.Errorf("%s: %s", p.File, violationLines(broken))
	}
	return nil
}

// budget says how many iterations the plan will take (S4-133).
func (p *Run) budget(most int) string {
	likely, worst := p.begun.Estimate(p.rules)
	left := len(p.begun.Stories) - p.begun.Passed()
	line := fmt.Sprintf("plan: %s left of %d, about %d iterations (at most %d)", safetext.Counted(left, "story", "stories"), len(p.begun.Stories), likely, worst)
	if most > 0 {
		line += fmt.Sprintf("; the run may take %d", most)
		if most < likely {
			line += ", which will not be enough: raise it with --max-iterations, or run the plan again afterwards"
		}
	}
	return line
}

func violationLines(all []plan.Violation) string {
	lines := make([]string, len(all))
	for i, v := range all {
		lines[i] = v.Text
	}
	return strings.Join(lines, "\n")
}

// Recorded implements enginePlan.
func (p *Run) Recorded(tree string) *loop.Planned {
	return &loop.Planned{Dir: p.Dir, File: p.File, Plan: p.begun, Tree: tree, SkipReview: p.rules.SkipReview, ReviewCap: p.rules.ReviewCap, FailAtCap: p.rules.FailAtCap, Record: p.record}
}

// files are the plan's own files, those of the layout that it is not of among them.
func (src Source) files() []string {
	files := []string{src.File}
	for _, name := range []string{PlanFile, ForeignPlan, PrdFile, ProgressFile, promptMD} {
		files = append(files, path.Join(src.Dir, name))
	}
	return files
}

// Path implements enginePlan.
func (p *Run) Path() string { return p.File }

// Paths implements enginePlan.
func (p *Run) Paths() []string { return p.files() }

// Words implements enginePlan.
func (p *Run) Words() prompt.PlanFiles { return prompt.PlanFiles{Dir: p.Dir, Prompt: p.Prompt} }

// Guard implements enginePlan.
func (p *Run) Guard() loop.PlanFile { return p.file }

// Close implements enginePlan: it removes the file by which hooks know that a plan is run.
func (p *Run) Close() { p.active.remove() }

// Untracked is what belongs to the run although nobody has committed it yet (C16). Of a run whose turn was cut off nothing does: what is not
// committed is the agent's.
func (src Source) Untracked(cut bool) []string {
	if src.Dir == "" || cut {
		return nil
	}
	return []string{src.Dir}
}

// InClone is a directory as git names it, from the top of the clone.
func InClone(top, from, dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(from, dir)
	}
	for _, p := range []*string{&top, &dir} { // a home may be a link
		if real, err := filepath.EvalSymlinks(*p); err == nil {
			*p = real
		}
	}
	rel, err := filepath.Rel(top, dir)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return "", invalid.Errorf("the plan's directory %s is not below %s: give one of the clone, such as ralph", dir, top)
	}
	return filepath.ToSlash(rel), nil
}

// Begin lays the plan and records how the run begins with it, or goes on. A turn that was cut off left its edits in the tree: they are
// judged as an iteration is, so nothing of theirs is taken up here.
func (p *Run) Begin(ctx context.Context, l *engine.Journal, r loop.Record) error {
	s := l.State()
	if r.Resume != nil && !s.Settled() {
		_, err := l.Append(ctx, r)
		return err
	}
	laid, err := p.Lay(ctx, l.Tree)
	if err != nil {
		return err
	}
	switch now := p.Recorded(laid.Tree); {
	case r.Start != nil:
		r.Start.Plan = now
	case s.PlanDue: // what the file says was taken back, and the process died before it could write so
		if laid, err = p.file.Correct(ctx, s); err != nil {
			return err
		}
	case s.Plan == nil || s.Rules() != p.rules || !bytes.Equal(s.Plan.Marshal(), p.begun.Marshal()): // edited since, by the user
		r.Resume.Plan = now
	}
	if _, err := l.Append(ctx, r); err != nil {
		return err
	}
	s, err = l.Append(ctx, loop.Record{Type: loop.Corrected, At: l.Clock(), Commit: &laid})
	if err == nil {
		p.log("%s", p.budget(s.MaxIterations))
	}
	return err
}

// Lay puts the plan's files into the run's tree, in commits of the harness's own before the first turn: what the user has not committed,
// what the bot brings, and the review fields that a foreign plan has not. The plan counts as that commit has it.
func (p *Run) Lay(ctx context.Context, tree *git.Tree) (loop.Commit, error) {
	c, err := tree.Adopt(ctx, "ralph: the plan as it is run\n")
	if err != nil {
		return c, fmt.Errorf("committing the plan: %w", err)
	}
	if len(p.Write) > 0 {
		if c, err = tree.Correct(ctx, git.Correction{Since: c.SHA, Write: p.Write, Message: "ralph: the plan as it was approved\n"}); err != nil {
			return c, fmt.Errorf("committing the plan: %w", err)
		}
	}
	src, err := ReadPlanAt(ctx, tree, c.SHA, p.File)
	if missing := new(noPlanError); errors.As(err, &missing) {
		return c, invalid.Errorf("%s cannot be committed, since git ignores it: take it out of .gitignore", p.File)
	}
	if err != nil {
		return c, err
	}
	if p.begun, p.foreign, err = readPlan(src.File, src.Content); err != nil {
		return c, invalid.Mark(err)
	}
	if err := p.sound(); err != nil {
		return c, err
	}
	p.PRD = src.PRD
	said := p.begun.Marshal()
	p.tell(p.bind())
	for i := range p.record { // work on a branch that was set back, or never merged, is not there
		if from := p.record[i].From; from != "" && !tree.Has(ctx, from, c.SHA) {
			p.record[i].From = ""
		}
	}
	message := "ralph: give the stories of " + path.Base(p.File) + " the fields of a review\n"
	switch now := p.begun.Marshal(); {
	case !bytes.Equal(said, now):
		message = "ralph: the reviews in " + path.Base(p.File) + " as they are on record\n"
	case !p.foreign || bytes.Equal(src.Content, now):
		return c, nil
	}
	c, err = tree.Correct(ctx, git.Correction{Since: c.SHA, Write: map[string][]byte{p.File: p.begun.Marshal()}, Message: message})
	if err != nil {
		return c, fmt.Errorf("committing the plan: %w", err)
	}
	return c, nil
}
