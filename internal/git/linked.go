package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// A run can have a working tree of its own beside the clone that its user works in: one of git's own worktrees, with the
// same objects and branches. What leads from there to the clone is written anew before any git is started in it: an agent
// has worked there, and the process that put it back may have been killed.

// Linked is a working tree of the clone that Clone is the top of.
type Linked struct {
	Clone string
	Dir   string // its top, absolute and without links; its parent is there
	// Note is a file of ours where no agent writes. It names the tree's part of the clone's repository once the tree is
	// whole. Until then nothing has run in it.
	Note string
	Env  []string
}

// Exists reports whether there is such a tree that something may have run in.
func (l Linked) Exists() bool { return l.noted() != "" && isDirectory(l.Dir) }

func (l Linked) noted() string {
	text, _ := files.Read(l.Note) // none: there is no tree
	return strings.TrimSpace(string(text))
}

// Open makes the tree where the clone stands, on no branch, or puts right what leads from one that is there to the
// clone.
func (l Linked) Open(ctx context.Context) error {
	u := users{door: door{dir: l.Clone, env: usersDoor(l.Env), pair: safe}}
	if err := u.find(ctx); err != nil {
		return err
	}
	if l.Exists() {
		return l.mend(u)
	}
	head, err := u.where(ctx)
	if err != nil {
		return err
	}
	if head.commit == "" {
		return fmt.Errorf("%s has no commit yet: make a first one, then run again", l.Clone)
	}
	if err := errors.Join(l.forget(u), os.MkdirAll(filepath.Dir(l.Dir), 0o700)); err != nil {
		return err
	}
	if _, err := u.door.out(ctx, "worktree", "add", "-q", "-f", "--detach", "--", l.Dir, head.commit); err != nil {
		return fmt.Errorf("making the working tree %s: %w", l.Dir, err)
	}
	at := l.registered(u)
	if at == "" {
		return fmt.Errorf("making the working tree %s: git does not know it", l.Dir)
	}
	if err := replace(l.Note, []byte(at+"\n"), 0o600); err != nil {
		return fmt.Errorf("making the working tree %s: %w", l.Dir, err)
	}
	return nil
}

// mend writes the three files that lead from the tree to the clone, and back.
func (l Linked) mend(u users) error {
	at := l.noted()
	if filepath.Dir(at) != filepath.Join(u.common, "worktrees") || !isDirectory(at) {
		return fmt.Errorf("the working tree %s is none of this clone any more, and may hold work that no commit has: move "+
			"it away, then run again", l.Dir)
	}
	for name, text := range l.links(at) {
		if now, err := readText(name); err == nil && string(now.text) == text && plainFile(name, now) {
			continue
		}
		if info, err := os.Lstat(name); err == nil && info.IsDir() {
			if err := files.RemoveAll(name); err != nil {
				return fmt.Errorf("putting the working tree %s right: %w", l.Dir, err)
			}
		}
		if err := replace(name, []byte(text), 0o644); err != nil {
			return fmt.Errorf("putting the working tree %s right: %w", l.Dir, err)
		}
	}
	return nil
}

func (l Linked) links(at string) map[string]string {
	return map[string]string{
		filepath.Join(l.Dir, ".git"):   "gitdir: " + at + "\n",
		filepath.Join(at, "gitdir"):    filepath.Join(l.Dir, ".git") + "\n",
		filepath.Join(at, "commondir"): "../..\n",
	}
}

// registered is the tree's part of the clone's repository; empty: there is none.
func (l Linked) registered(u users) string {
	all, _ := filepath.Glob(filepath.Join(u.common, "worktrees", "*", "gitdir")) // the pattern is well formed
	for _, name := range all {
		if text, err := files.Read(name); err == nil && strings.TrimSpace(string(text)) == filepath.Join(l.Dir, ".git") {
			return filepath.Dir(name)
		}
	}
	return ""
}

// Lying names what lies in the tree and is in no commit, ignored files left out.
func (l Linked) Lying(ctx context.Context) ([]string, error) {
	u := users{door: door{dir: l.Dir, env: usersDoor(l.Env), pair: safe}}
	if err := u.find(ctx); err != nil {
		return nil, err
	}
	out, err := u.door.out(ctx, "status", "--porcelain=v1", "-z", "-uall", "--no-renames", "--ignore-submodules=all")
	if err != nil {
		return nil, fmt.Errorf("looking for what is not committed in %s: %w", l.Dir, err)
	}
	var names []string
	for _, entry := range records(out) {
		names = append(names, entry[3:])
	}
	return names, nil
}

// Remove removes the tree. One with something in it that no commit has stays, and the error names it.
func (l Linked) Remove(ctx context.Context) error {
	u := users{door: door{dir: l.Clone, env: usersDoor(l.Env), pair: safe}}
	if err := u.find(ctx); err != nil {
		return err
	}
	if l.Exists() {
		if err := l.mend(u); err != nil {
			return err
		}
		names, err := l.Lying(ctx)
		if err != nil {
			return err
		}
		if len(names) > 0 {
			return fmt.Errorf("the working tree %s stays: no commit has %s", l.Dir, safetext.FirstN(names, 5))
		}
	}
	return l.forget(u)
}

// forget removes a tree that holds nothing. The note goes first: what is half removed is no tree any more.
func (l Linked) forget(u users) error {
	at := l.noted()
	if at == "" {
		at = l.registered(u)
	}
	if err := errors.Join(os.RemoveAll(l.Note), files.RemoveAll(l.Dir)); err != nil {
		return fmt.Errorf("removing the working tree %s: %w", l.Dir, err)
	}
	if filepath.Dir(at) == filepath.Join(u.common, "worktrees") {
		if err := files.RemoveAll(at); err != nil {
			return fmt.Errorf("removing the working tree %s: %w", l.Dir, err)
		}
		_ = os.Remove(filepath.Dir(at)) // unless there are others
	}
	return nil
}

// CheckedOut is the working tree that a branch is checked out in; empty: none.
func CheckedOut(ctx context.Context, dir string, env []string, branch string) string {
	d := door{dir: dir, env: environment(env), pair: safe}
	out, _ := d.out(ctx, "for-each-ref", "--format=%(worktreepath)", "refs/heads/"+branch) // no such branch: none
	return strings.TrimSpace(out)
}
