package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/cleanup"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/planrun"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/session"
)

// Clean removes what runs have left in a clone: branches, logs, records, the trees of checks. It lists all of it first.
type Clean struct {
	session.Session
	Yes    bool     // do not ask
	DryRun bool     // list, and remove nothing
	Drop   []string // branches that go although they hold commits that are nowhere else; "all": every one
}

// leftover is what one cleaning has found.
type leftover struct {
	plan      cleanup.Plan
	refs      []git.Leftover     // of the branches that go
	open      *git.Leftovers     // nil: outside of a clone
	logs      []string           // from the top of the directory
	scratch   string             // what is for no longer than a process, and caches; empty: nothing is there
	noBranch  bool               // no branch of a run stays
	checkouts []session.Checkout // of runs that are over
}

// Run lists what runs have left, asks, and removes it. A run at work is left alone: then nothing is removed.
func (c *Clean) Run(ctx context.Context) error {
	c.Begin()
	inClone := false
	if top, err := git.Top(ctx, c.Dir, c.Parent); err == nil {
		c.Dir, inClone = top, true
	}
	unlock, err := journal.Lock(c.Dir, c.Log)
	if err != nil {
		return err
	}
	defer unlock()
	free, err := c.holdTasks()
	defer free()
	if err != nil {
		return err
	}
	found, err := c.find(ctx, inClone)
	if err != nil {
		return err
	}
	if !c.list(found) || c.DryRun {
		return nil
	}
	if !c.Yes {
		if c.Ask == nil {
			return invalid.Errorf(
				"nothing is removed: there is nobody to ask; say --yes to remove what is listed, or --dry-run to list it only",
			)
		}
		answer, err := c.Ask("Remove it? (y/N): ")
		if answer = strings.ToLower(strings.TrimSpace(answer)); err != nil || answer != "y" && answer != "yes" {
			c.Log("nothing is removed")
			return nil
		}
	}
	if err := c.remove(ctx, found); err != nil {
		return err
	}
	c.Log("removed")
	return nil
}

// find looks for what there is.
func (c *Clean) find(ctx context.Context, inClone bool) (f leftover, err error) {
	runs, merges, err := c.runs()
	if err != nil {
		return f, err
	}
	if inClone {
		f.checkouts = c.checkoutsOver(runs)
	}
	var branches []cleanup.Branch
	var refs []git.Leftover
	if inClone {
		if f.open, err = git.OpenLeftovers(ctx, c.Dir, c.Parent); err != nil {
			return f, err
		}
		candidates, err := f.open.Candidates(ctx)
		if err != nil {
			return f, err
		}
		for _, o := range candidates {
			if task, ok := git.TipTask(o.Ref); ok && goesOn(runs, task) {
				continue
			}
			ours := slices.ContainsFunc(runs, func(r cleanup.Run) bool { return r.Branch == o.Name() })
			if ours || taskOf(o.Name()) != "" && strings.HasPrefix(o.Name(), "wip/") ||
				!strings.HasPrefix(o.Ref, "refs/heads/") {
				refs = append(refs, o)
			}
		}
		for _, o := range refs {
			mayGo := refs
			if _, ok := git.TipTask(o.Ref); ok { // nobody needs it where a branch has it, whether or not that goes
				mayGo = nil
			}
			alone, err := f.open.Alone(ctx, o, mayGo, merges[o.Commit])
			if err != nil {
				return f, err
			}
			branches = append(
				branches, cleanup.Branch{Name: o.Name(), Task: taskOf(o.Name()), Alone: alone, Used: o.Used},
			)
		}
	}
	if f.plan, err = cleanup.Decide(runs, branches, c.Drop); err != nil {
		return f, invalid.Mark(err)
	}
	f.noBranch = true
	for _, o := range refs {
		if slices.ContainsFunc(f.plan.Branches, func(i cleanup.Item) bool { return i.Name == o.Name() }) {
			f.refs = append(f.refs, o)
		} else {
			f.noBranch = false
		}
	}
	if !f.plan.Busy {
		f.logs = c.logs()
	}
	if inClone {
		if entries, err := os.ReadDir(c.Places().Scratch); err == nil && len(entries) > 0 {
			f.scratch = c.Places().Scratch
		}
	}
	return f, nil
}

// runs are the runs of this directory, in order, and the commits that hold nothing but merges of ralph's own.
func (c *Clean) runs() (all []cleanup.Run, merges map[string]bool, err error) {
	merges = map[string]bool{}
	dir := filepath.Join(c.Dir, ".ralph", "runs")
	names, err := session.RunNames(dir, "")
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		at := filepath.Join(dir, name)
		info, err := os.Lstat(at)
		if err != nil || !info.IsDir() {
			continue
		}
		s, _, err := journal.Follow(at).Next()
		r := cleanup.Run{Name: name, Task: s.Start.Task, Branch: s.Start.Branch, Broken: err != nil}
		if s.Start.Branch == "" { // a prompt's
			r.Task = ""
		}
		if s.End != nil {
			r.Outcome = string(s.End.Outcome)
			r.Over = s.End.Outcome != loop.Interrupted && s.End.Outcome != loop.Waiting &&
				(s.Start.Branch == "" || s.Settled()) // else what the last turn has done is in no commit
		}
		if s.Records == 0 && err == nil { // it was killed before its first record, and is nothing to go on with
			r.Over = true
		}
		if s.Start.Plan != nil {
			r.Plan = !c.archived(*s.Start.Plan, s.Start.Branch)
		}
		entries, _ := os.ReadDir(at)
		r.Extra = slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() != journal.File })
		if len(s.Start.BuiltOn) > 0 && s.Tip == "" {
			merges[s.Start.Base] = true
		}
		all = append(all, r)
	}
	return all, merges, nil
}

// archived reports whether the plan of a branch was put away: it is in the archive, and no longer where it was.
func (c *Clean) archived(p loop.Planned, branch string) bool {
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return false
	}
	defer root.Close()
	is := func(file string) bool {
		text, ok, err := files.ReadIfThere(root, file, planrun.MaxPlanFile)
		if err != nil || !ok {
			return false
		}
		found, _, err := plan.Read(file, text)
		return err == nil && found.BranchName == branch
	}
	if is(p.File) {
		return false
	}
	entries, _ := fs.ReadDir(root.FS(), path.Join(path.Dir(p.Dir), planrun.ArchiveDir))
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return is(path.Join(path.Dir(p.Dir), planrun.ArchiveDir, e.Name(), path.Base(p.File)))
	})
}

// logs are the outputs that are in no run's own directory.
func (c *Clean) logs() (found []string) {
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	for _, pattern := range []string{".ralph/guardrail_*.log", ".ralph/verify_*.log", ".ralph/prompt_*.txt",
		".ralph/summary.md", engine.StateFile, engine.ActiveFile, ".ralph/" + askedFile} {
		names, _ := fs.Glob(root.FS(), pattern) // the patterns are sound
		for _, name := range names {
			if info, err := root.Lstat(name); err == nil && info.Mode().IsRegular() {
				found = append(found, name)
			}
		}
	}
	return found
}

// list says what goes and what stays. It is false when there is nothing to remove.
func (c *Clean) list(f leftover) bool {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, "  "+fmt.Sprintf(format, args...)) }
	for _, b := range f.plan.Branches {
		add("branch %s%s", b.Name, why(b.Reason))
	}
	for _, r := range f.plan.Runs {
		add("run %s%s", r.Name, why(r.Reason))
	}
	for _, name := range f.plan.Trimmed {
		add("logs and reports of run %s; its record stays", name)
	}
	if len(f.logs) > 0 {
		add("%s: %s", safetext.Counted(len(f.logs), "log", "logs"), safetext.FirstN(f.logs, 5))
	}
	for _, at := range f.checkouts {
		add("the checkout of %s, %s", at.Task, at.Root)
	}
	if f.scratch != "" {
		add("%s", f.scratch)
	}
	if len(lines) == 0 {
		c.Log("nothing to remove")
	} else {
		c.Log("To be removed:")
	}
	for _, line := range lines {
		c.Log("%s", line)
	}
	if len(f.plan.Kept) > 0 {
		c.Log("Stays:")
	}
	for _, s := range f.plan.Kept {
		c.Log("  %s%s", s.Name, why(s.Reason))
	}
	return len(lines) > 0
}

func why(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// remove removes what was listed. Records go before the branches that they tell of: a task whose work is gone is not to
// count as done, wherever ralph is killed. A seal goes before its record, which is then one that nobody vouches for,
// and not one that is missing.
func (c *Clean) remove(ctx context.Context, f leftover) error {
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return fmt.Errorf("opening %s: %w", c.Dir, err)
	}
	defer root.Close()
	for _, at := range f.checkouts {
		if err := errors.Join(git.RemoveCheckout(at.Root), at.Remove()); err != nil {
			return err
		}
	}
	for _, r := range f.plan.Runs {
		if seal, err := session.SealFile(runtime.GOOS, c.Parent, c.Dir, r.Name); err == nil {
			if err := os.Remove(seal); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("removing the seal of run %s: %w", r.Name, err)
			}
		}
		if err := root.RemoveAll(path.Join(".ralph/runs", r.Name)); err != nil {
			return fmt.Errorf("removing run %s: %w", r.Name, err)
		}
	}
	if f.open != nil {
		if err := f.open.Remove(ctx, f.refs); err != nil {
			return err
		}
	}
	for _, name := range f.plan.Trimmed {
		entries, _ := fs.ReadDir(root.FS(), path.Join(".ralph/runs", name))
		for _, e := range entries {
			if e.Name() == journal.File {
				continue
			}
			if err := root.RemoveAll(path.Join(".ralph/runs", name, e.Name())); err != nil {
				return fmt.Errorf("removing the logs of run %s: %w", name, err)
			}
		}
	}
	for _, name := range f.logs {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing %s: %w", name, err)
		}
	}
	if err := files.RemoveAll(f.scratch); f.scratch != "" && err != nil {
		return fmt.Errorf("removing %s: %w", f.scratch, err)
	}
	c.removeEmpty(root, f)
	return nil
}

// removeEmpty removes the directories that hold nothing any more. The lock goes with the last of them, while we hold
// it: who waits for it makes a new one.
func (c *Clean) removeEmpty(root *os.Root, f leftover) {
	_ = root.Remove(".ralph/runs")
	_ = root.Remove(".ralph")
	if f.open == nil || !f.noBranch {
		return
	}
	places := c.Places()
	own := filepath.Join(session.GitDir(places.Clone), "ralph")
	for _, dir := range []string{filepath.Join(places.State, "at-work"), filepath.Join(places.State, "said"),
		filepath.Join(places.State, "checkouts"), filepath.Join(places.State, session.CloneNote),
		places.State, filepath.Join(own, "own")} {
		_ = os.Remove(dir)
	}
	if entries, err := os.ReadDir(own); err == nil && len(entries) == 1 && entries[0].Name() == "lock" {
		_ = os.Remove(filepath.Join(own, "lock"))
		_ = os.Remove(own)
	}
}

// holdTasks keeps runs away while the clone is cleaned. free is never nil.
func (c *Clean) holdTasks() (free func(), err error) {
	var all []func()
	free = func() {
		for _, unlock := range all {
			unlock()
		}
	}
	tasks := append(c.TasksAtWork(), c.Checkouts()...)
	slices.Sort(tasks)
	for _, task := range slices.Compact(tasks) {
		unlock, err := c.HoldTask(task)
		if err != nil {
			return free, fmt.Errorf("a run of %s is at work, so nothing is removed: %w", task, err)
		}
		all = append(all, unlock)
	}
	return free, nil
}

// checkoutsOver are the checkouts whose runs do not go on.
func (c *Clean) checkoutsOver(runs []cleanup.Run) (over []session.Checkout) {
	for _, task := range c.Checkouts() {
		if at, err := c.Checkout(task); err == nil && !goesOn(runs, task) {
			over = append(over, at)
		}
	}
	return over
}

// goesOn reports whether the newest run of a task is to go on.
func goesOn(runs []cleanup.Run, task string) bool {
	for _, r := range slices.Backward(runs) {
		if r.Task == task {
			return !r.Over
		}
	}
	return false
}
