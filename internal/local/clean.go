package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
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

// removal is something to remove, as the list shows it.
type removal struct {
	shown []string
	do    func() error
}

// Run lists what runs have left, asks, and removes it. While a run is running, nothing is removed.
func (c *Clean) Run(ctx context.Context) error {
	c.Begin()
	inClone := false
	if top, _, err := git.Stand(ctx, c.Dir, c.Parent); err == nil {
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
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return fmt.Errorf("opening %s: %w", c.Dir, err)
	}
	defer root.Close()
	all, kept, last, err := c.find(ctx, root, inClone)
	if err != nil {
		return err
	}
	if c.list(all, kept); len(all) == 0 || c.DryRun {
		return nil
	}
	if !c.Yes {
		if c.Ask == nil {
			return invalid.Errorf(
				"nothing is removed: no terminal to ask at; pass --yes to remove the listed items, or --dry-run to list it only",
			)
		}
		answer, err := c.Ask("Remove it? (y/N): ")
		if answer = strings.ToLower(strings.TrimSpace(answer)); err != nil || answer != "y" && answer != "yes" {
			c.Log("nothing is removed")
			return nil
		}
	}
	for _, r := range all {
		if err := r.do(); err != nil {
			return err
		}
	}
	c.removeEmpty(root, last)
	c.Log("removed")
	return nil
}

// find lists what goes, in the order in which it is removed, and what stays; last says that no branch of a run stays.
// Records go before their branches, so that a task without its work never counts as done, wherever ralph is killed.
func (c *Clean) find(ctx context.Context, root *os.Root, inClone bool) (all []removal, kept []cleanup.Item, last bool, err error) {
	runs, merges, err := c.runs()
	if err != nil {
		return nil, nil, false, err
	}
	var branches []cleanup.Branch
	var refs []git.Leftover
	var open *git.Leftovers
	if inClone {
		for _, at := range c.checkoutsOver(runs) {
			all = append(all, removal{[]string{fmt.Sprintf("the checkout of %s, %s", at.Task, at.Root)}, func() error {
				return errors.Join(git.RemoveCheckout(at.Root), at.Remove())
			}})
		}
		if open, err = git.OpenLeftovers(ctx, c.Dir, c.Parent); err != nil {
			return nil, nil, false, err
		}
		if branches, refs, err = c.branches(ctx, open, runs, merges); err != nil {
			return nil, nil, false, err
		}
	}
	decided, err := cleanup.Decide(runs, branches, c.Drop)
	if err != nil {
		return nil, nil, false, invalid.Mark(err)
	}
	for _, r := range decided.Runs {
		all = append(all, removal{[]string{"run " + r.Name + why(r.Reason)}, func() error { return c.removeRun(root, r.Name) }})
	}
	gone := slices.DeleteFunc(slices.Clone(refs), func(o git.Leftover) bool {
		return !slices.ContainsFunc(decided.Branches, func(i cleanup.Item) bool { return i.Name == o.Name() })
	})
	if len(gone) > 0 {
		shown := safetext.Map(decided.Branches, func(b cleanup.Item) string { return "branch " + b.Name + why(b.Reason) })
		all = append(all, removal{shown, func() error { return open.Remove(ctx, gone) }})
	}
	for _, name := range decided.Trimmed {
		dir := path.Join(".ralph/runs", name)
		entries, _ := fs.ReadDir(root.FS(), dir)
		names := slices.DeleteFunc(safetext.Map(entries, fs.DirEntry.Name), func(name string) bool { return name == journal.File })
		all = append(all, removal{[]string{"logs and reports of run " + name + "; its record stays"}, func() error {
			return removeAll(root, dir, names)
		}})
	}
	if logs := c.logs(root); !decided.Busy && len(logs) > 0 {
		shown := fmt.Sprintf("%s: %s", safetext.Counted(len(logs), "log", "logs"), safetext.FirstN(logs, 5))
		all = append(all, removal{[]string{shown}, func() error { return removeAll(root, "", logs) }})
	}
	scratch := c.Places().Scratch
	if entries, err := os.ReadDir(scratch); inClone && err == nil && len(entries) > 0 {
		all = append(all, removal{[]string{scratch}, func() error { return files.RemoveAll(scratch) }})
	}
	return all, decided.Kept, inClone && len(gone) == len(refs), nil
}

// branches are those that runs have made, and the refs that they have kept work under.
func (c *Clean) branches(ctx context.Context, open *git.Leftovers, runs []cleanup.Run, merges map[string]bool) (branches []cleanup.Branch, refs []git.Leftover, err error) {
	candidates, err := open.Candidates(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, o := range candidates {
		if task, ok := git.TipTask(o.Ref); ok && goesOn(runs, task) {
			continue
		}
		ours := slices.ContainsFunc(runs, func(r cleanup.Run) bool { return r.Branch == o.Name() })
		if ours || taskOf(o.Name()) != "" && strings.HasPrefix(o.Name(), "wip/") || !strings.HasPrefix(o.Ref, "refs/heads/") {
			refs = append(refs, o)
		}
	}
	for _, o := range refs {
		mayGo := refs
		if _, ok := git.TipTask(o.Ref); ok { // it is not needed where a branch has it, whether or not that goes
			mayGo = nil
		}
		alone, err := open.Alone(ctx, o, mayGo, merges[o.Commit])
		if err != nil {
			return nil, nil, err
		}
		branches = append(branches, cleanup.Branch{Name: o.Name(), Task: taskOf(o.Name()), Alone: alone, Used: o.Used})
	}
	return branches, refs, nil
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
				(s.Start.Branch == "" || s.Settled()) // otherwise the work of the last turn is in no commit
		}
		if s.Records == 0 && err == nil { // it was killed before its first record, and is nothing to continue with
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

// archived reports whether the plan of a branch is archived: it is in the archive, and no longer where it was.
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
func (*Clean) logs(root *os.Root) (found []string) {
	for _, pattern := range []string{".ralph/guardrail_*.log", ".ralph/verify_*.log", ".ralph/prompt_*.txt",
		".ralph/summary.md", engine.StateFile, engine.ActiveFile} {
		names, _ := fs.Glob(root.FS(), pattern) // the patterns are sound
		for _, name := range names {
			if info, err := root.Lstat(name); err == nil && info.Mode().IsRegular() {
				found = append(found, name)
			}
		}
	}
	return found
}

// list shows what goes and what stays.
func (c *Clean) list(all []removal, kept []cleanup.Item) {
	if len(all) == 0 {
		c.Log("nothing to remove")
	} else {
		c.Log("To be removed:")
	}
	for _, r := range all {
		for _, line := range r.shown {
			c.Log("  %s", line)
		}
	}
	if len(kept) > 0 {
		c.Log("Stays:")
	}
	for _, s := range kept {
		c.Log("  %s%s", s.Name, why(s.Reason))
	}
}

func why(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// removeRun removes a run's record and all. Its seal goes first: the record is then one that no seal vouches for, and
// not one that is missing.
func (c *Clean) removeRun(root *os.Root, name string) error {
	if seal, err := c.Seal(name); err == nil {
		if err := os.Remove(seal); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing the seal of run %s: %w", name, err)
		}
	}
	return removeAll(root, ".ralph/runs", []string{name})
}

func removeAll(root *os.Root, dir string, names []string) error {
	for _, name := range names {
		if err := root.RemoveAll(path.Join(dir, name)); err != nil {
			return fmt.Errorf("removing %s: %w", path.Join(dir, name), err)
		}
	}
	return nil
}

// removeEmpty removes directories that are empty now. The lock goes with the last of them, while we hold it: a process
// that waits for it makes a new one.
func (c *Clean) removeEmpty(root *os.Root, last bool) {
	_ = root.Remove(".ralph/runs")
	_ = root.Remove(".ralph")
	if !last {
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
			return free, fmt.Errorf("a run of %s is running, so nothing is removed: %w", task, err)
		}
		all = append(all, unlock)
	}
	return free, nil
}

// checkoutsOver are the checkouts whose runs do not continue.
func (c *Clean) checkoutsOver(runs []cleanup.Run) (over []session.Checkout) {
	for _, task := range c.Checkouts() {
		if at, err := c.Checkout(task); err == nil && !goesOn(runs, task) {
			over = append(over, at)
		}
	}
	return over
}

// goesOn reports whether the newest run of a task is to continue.
func goesOn(runs []cleanup.Run, task string) bool {
	for _, r := range slices.Backward(runs) {
		if r.Task == task {
			return !r.Over
		}
	}
	return false
}
