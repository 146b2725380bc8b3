package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Open takes the user's clone that dir is in, for a run on its own branch from base ("" is where HEAD is). Tracked files must be as
// committed, unless a killed run is resumed (C16). Files that are there and not tracked stay the user's: no commit takes them up and
// nothing removes them.
func Open(ctx context.Context, dir string, o Options, branch, base string) (*Tree, error) {
	t := &Tree{o: o, branch: branch, git: door{dir: dir, env: environment(o.Env), pair: safe}}
	if err := t.open(ctx, base); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

func (t *Tree) open(ctx context.Context, base string) error {
	if err := t.find(ctx); err != nil {
		return err
	}
	head, err := t.where(ctx)
	if err != nil {
		return err
	}
	t.came = head
	if head.commit == "" {
		return fmt.Errorf("%s has no commit yet: make a first one, then run again", t.work)
	}
	if !t.o.Resume {
		if err := t.refuseDirty(ctx); err != nil {
			return err
		}
	}
	if err := t.prepare(ctx); err != nil {
		return err
	}
	if err := t.join(ctx, head); err != nil {
		return err
	}
	switch t.baseBranch = base; {
	case base == "" && head.ref == t.ref() && t.theirs && (t.o.Fresh || !t.ours()):
		base, t.baseBranch = head.commit, ""
	case base == "" && head.ref == t.ref() && t.ours():
		base = t.earlierBase()
	case base == "":
		base, t.baseBranch = head.commit, strings.TrimPrefix(head.ref, "refs/heads/")
	}
	return t.beginHere(ctx, base, head)
}

// find settles where the clone is. From here on every command is told so, whatever becomes of the directory's .git.
func (t *Tree) find(ctx context.Context) error {
	out, err := t.git.out(ctx, "rev-parse", "--is-inside-work-tree", "--show-toplevel", "--absolute-git-dir")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err != nil || len(lines) != 3 {
		var e *commandError
		switch {
		case errors.As(err, &e) && strings.Contains(e.Stderr, "dubious ownership"):
			return fmt.Errorf("%s belongs to another user: tell git to trust it (git config --global --add safe.directory %s)", t.git.dir, t.git.dir)
		case err == nil || exit(err) > 0:
			return fmt.Errorf("%s is not in a git repository with a working tree: change into one, or run git init and make a first commit", t.git.dir)
		}
		return err
	}
	t.work, t.dir = lines[1], lines[2]
	t.git.dir = t.work
	t.git.env = append(t.git.env, "GIT_DIR="+t.dir, "GIT_WORK_TREE="+t.work)
	t.index = filepath.Join(t.dir, "index")
	return nil
}

// refuseDirty names the tracked files that are not as committed.
func (t *Tree) refuseDirty(ctx context.Context) error {
	out, err := t.git.out(ctx, "status", "--porcelain=v1", "-z", "-uno", "--no-renames", "--ignore-submodules=all")
	if err != nil {
		return fmt.Errorf("looking for modified files: %w", err)
	}
	var names []string
	for _, entry := range records(out) {
		if name := entry[3:]; !t.owns(name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	more := ""
	if len(names) > 5 {
		names, more = names[:5], fmt.Sprintf(" and %d more", len(names)-5)
	}
	return fmt.Errorf("tracked files are modified (%s%s): commit or stash them, then run again", strings.Join(names, ", "), more)
}

// prepare makes our directories: one in the clone's .git, which a killed run leaves for the next, and one for scratch.
func (t *Tree) prepare(ctx context.Context) error {
	t.state = filepath.Join(t.dir, "ralph", strings.ReplaceAll(t.branch, "/", "%2F"))
	if err := os.MkdirAll(t.state, 0o755); err != nil {
		return fmt.Errorf("making a place for the run in %s: %w", t.dir, err)
	}
	if t.o.Root == "" {
		dir, err := os.MkdirTemp("", "ralph-")
		if err != nil {
			return err
		}
		t.o.Root = dir
		t.made = append(t.made, dir)
	}
	if _, err := t.git.out(ctx, "var", "GIT_COMMITTER_IDENT"); err != nil { // the user has not told git who they are
		t.git.env = append(t.git.env, identity(t.o.Identity)...)
	}
	if err := t.writeExcludes(ctx); err != nil {
		return err
	}
	t.git.pair = append(t.git.pair[:len(safe):len(safe)], pair{"core.excludesFile", t.excludes()})
	return t.keep(ctx)
}

// beginHere settles base and head, and that the branch is ours to work on.
func (t *Tree) beginHere(ctx context.Context, base string, head place) error {
	tip, err := t.git.out(ctx, "rev-parse", "--verify", "-q", base+"^{commit}")
	if err != nil {
		if _, err := os.Stat(filepath.Join(t.common(), "shallow")); err == nil {
			return fmt.Errorf("the clone is shallow and does not hold %s: run git fetch --unshallow, then run again", base)
		}
		return fmt.Errorf("%s is not a commit or branch of this clone: name another base", base)
	}
	work, _ := t.git.out(ctx, "rev-parse", "--verify", "-q", t.ref()+"^{commit}") // no such branch: ""
	if work = strings.TrimSpace(work); work != "" && !t.ours() && !t.theirs {
		return fmt.Errorf("the branch %s exists and was not made by ralph: rename or delete it, or choose another name", t.branch)
	}
	out, _ := t.git.out(ctx, "rev-parse", "--verify", "-q", t.recordRef()+"^{commit}")
	t.record = strings.TrimSpace(out)
	if t.o.Fresh && t.theirs && strings.TrimSpace(tip) != work {
		return fmt.Errorf("the branch %s is yours, and a fresh run from %s would set it back: check it out and begin where it stands, or choose another name", t.branch, base)
	}
	if t.o.Fresh {
		return t.begin(ctx, strings.TrimSpace(tip), "")
	}
	if t.o.Resume && head.ref == t.ref() && work != "" {
		work = head.commit
	}
	return t.begin(ctx, strings.TrimSpace(tip), work)
}

// mark is the file that says that the run's branch was made by us.
func (t *Tree) mark() string { return filepath.Join(t.state, "branch") }

func (t *Tree) ours() bool {
	_, err := os.Stat(t.mark())
	return err == nil
}

// earlierBase is what the run was begun from: its commit, or for a fresh run the branch that it was on.
func (t *Tree) earlierBase() string {
	text, _ := os.ReadFile(t.mark()) // it is there
	line, _, _ := strings.Cut(string(text), "\n")
	commit, branch, _ := strings.Cut(strings.TrimSpace(line), " ")
	t.baseBranch = branch
	if t.o.Fresh && branch != "" {
		return branch
	}
	return commit
}

// common is where the repository keeps its objects: linked worktrees name it in a file.
func (t *Tree) common() string {
	text, err := os.ReadFile(filepath.Join(t.dir, "commondir"))
	if err != nil {
		return t.dir
	}
	dir := strings.TrimSpace(string(text))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(t.dir, dir)
	}
	return filepath.Clean(dir)
}

// place is where HEAD is: "" as the ref when it is detached, "" as the commit when there is none.
type place struct{ ref, commit string }

func (t *Tree) where(ctx context.Context) (place, error) {
	var p place
	out, err := t.git.out(ctx, "rev-parse", "-q", "HEAD^{commit}", "--symbolic-full-name", "HEAD")
	if exit(err) > 0 {
		ref, err := t.git.out(ctx, "symbolic-ref", "-q", "HEAD")
		return place{ref: strings.TrimSpace(ref)}, ignore(err)
	}
	if ids := fields(out); len(ids) > 0 {
		p.commit = ids[0]
		if len(ids) > 1 && ids[1] != "HEAD" {
			p.ref = ids[1]
		}
	}
	return p, err
}

// ignore drops the failure of a command that was a question.
func ignore(err error) error {
	if exit(err) > 0 {
		return nil
	}
	return err
}
