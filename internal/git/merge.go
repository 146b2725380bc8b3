package git

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// baseNow is where the base branch is kept as the remote has it.
const baseNow = "refs/ralph/base-now"

// NewestBase asks the origin for the base branch as it is now. commit is empty when the run's branch holds all of it.
func (t *Tree) NewestBase(ctx context.Context) (commit string, err error) {
	if t.origin == nil || t.baseBranch == "" {
		return "", nil
	}
	if t.seen, err = t.askForBase(ctx); err == nil {
		t.seenAt = time.Now()
	}
	return t.seen, err
}

func (t *Tree) askForBase(ctx context.Context) (commit string, err error) {
	ref := "refs/heads/" + t.baseBranch
	refs, err := t.origin.list(ctx, ref)
	now := refs.at[ref]
	if c, ok := t.origin.(*clone); ok && err == nil {
		now = cmp.Or(c.fetchRemote(ctx, t.baseBranch), now)
	}
	if err != nil || now == "" || now == t.Ground() {
		return "", err
	}
	if err := t.origin.fetch(ctx, "+"+ref+":"+baseNow); err != nil {
		return "", err
	}
	if held, err := t.git.contains(ctx, t.head, now); err != nil || held {
		return "", err
	}
	return now, nil
}

// fetchRemote brings a branch as the clone's own remote has it, and says where it is; empty: there is no such remote, or
// it cannot be asked without a question to the user. No ref of the clone moves.
func (c *clone) fetchRemote(ctx context.Context, branch string) string {
	ctx, cancel := context.WithTimeout(ctx, remoteLimit)
	defer cancel()
	remote := cmp.Or(c.config["branch."+branch+".remote"], "origin")
	if c.config["remote."+remote+".url"] == "" {
		return ""
	}
	ref := cmp.Or(c.config["branch."+branch+".merge"], "refs/heads/"+branch)
	d := c.unasked(c.door)
	out, err := d.out(ctx, "ls-remote", "--", remote, ref)
	at, _, _ := strings.Cut(out, "\t")
	if err != nil || at == "" {
		return ""
	}
	if d.bring(ctx, at, remote, ref) != nil {
		return ""
	}
	return at
}

// unasked is a door whose git asks the user nothing: what needs a password fails.
func (c *clone) unasked(d door) door {
	d.env = append(d.env[:len(d.env):len(d.env)], "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true", "SSH_ASKPASS_REQUIRE=never")
	if c.config["core.sshcommand"] == "" && value(d.env, "GIT_SSH_COMMAND") == "" {
		d.env = append(d.env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
	}
	return d
}

// bring fetches what a remote has at a ref or commit, unless the commit is there. No ref moves.
func (d door) bring(ctx context.Context, commit, remote, what string) error {
	_, err := d.out(ctx, "cat-file", "-e", commit+"^{commit}")
	if err != nil {
		_, err = d.out(ctx, "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--refmap=", "--", remote, what)
	}
	return err
}

// remoteLimit is how long the remote of a clone may take to answer.
const remoteLimit = 30 * time.Second

// MergedWithBase is the commit that merges one of the run's with the base branch at a commit that NewestBase has told of;
// conflicts are the files that keep it from being made. It is on no branch. The agent finds the base branch as origin/main.
func (t *Tree) MergedWithBase(ctx context.Context, commit, base string) (merged string, conflicts []string, err error) {
	if t.git.meet(ctx, commit, base) == "" {
		return "", nil, fmt.Errorf("%s has been rewritten: at %.12s it has no commit in common with the run's branch", t.baseBranch, base)
	}
	if t.baseNow != base {
		if err := t.bringModules(ctx, "", base, t.store(), 0); err != nil {
			return "", nil, err
		}
		t.baseNow = base
		if err := t.handOver(ctx); err != nil {
			return "", nil, err
		}
	}
	tree, conflicts, err := t.mergeTrees(ctx, commit, base)
	if err != nil || len(conflicts) > 0 {
		return "", conflicts, err
	}
	merged, err = t.commitMerge(ctx, tree, commit, Work{Name: t.baseBranch, Commit: base})
	return merged, nil, err
}

// BaseConflicts names the files in which the run's branch conflicts with the base branch as it was within the last
// minute; none when the two can be merged. Nothing is checked out and nothing is changed.
func (t *Tree) BaseConflicts(ctx context.Context) (files []string, err error) {
	now := t.seen
	if time.Since(t.seenAt) > time.Minute {
		now, err = t.NewestBase(ctx)
	}
	if err != nil || now == "" {
		return nil, err
	}
	if _, files, err = t.mergeTrees(ctx, t.head, now); err != nil {
		return nil, fmt.Errorf("merging %s to see whether it conflicts: %w", t.baseBranch, err)
	}
	return files, nil
}

// Work is what another run has done: a commit, and the name that people know it by.
type Work struct{ Name, Commit string }

// MergeError says that two pieces of work change the same lines, so that no one but a person can put them together.
type MergeError struct {
	Names []string // whose work it is, two of them where two alone conflict
	Files []string // from the top, in order
}

func (e *MergeError) Error() string {
	return fmt.Sprintf("%s do not merge: they change the same lines of %s", safetext.AndMore(e.Names, 10),
		safetext.AndMore(e.Files, 10))
}

// mergeAll is the commit that holds a base and work of other runs: the base or one of the others where that holds
// everything, else merges on top of the base, in the order of the work. It is the same commit for the same work.
// Nothing is checked out. A *MergeError says what does not merge.
func (o *objects) mergeAll(ctx context.Context, base string, all []Work) (commit string, err error) {
	at := base
	for i, w := range all {
		if held, err := o.git.contains(ctx, at, w.Commit); err != nil || held {
			if err != nil {
				return "", err
			}
			continue
		}
		if held, err := o.git.contains(ctx, w.Commit, at); err != nil || held {
			if err != nil {
				return "", err
			}
			at = w.Commit
			continue
		}
		tree, files, err := o.mergeTrees(ctx, at, w.Commit)
		if err != nil {
			return "", err
		}
		if len(files) > 0 {
			return "", o.whichConflict(ctx, base, all[:i+1], files)
		}
		if at, err = o.commitMerge(ctx, tree, at, w); err != nil {
			return "", err
		}
	}
	return at, nil
}

// mergeTrees merges two commits without a working tree. files are those that conflict.
func (o *objects) mergeTrees(ctx context.Context, ours, theirs string) (tree string, files []string, err error) {
	out, err := o.git.out(ctx, "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs)
	if err != nil && exit(err) != 1 { // 1: they conflict
		return "", nil, fmt.Errorf("merging %.12s and %.12s: %w", ours, theirs, err)
	}
	parts := records(out)
	if len(parts) == 0 {
		return "", nil, fmt.Errorf("merging %.12s and %.12s: git answered nothing", ours, theirs)
	}
	if err == nil {
		return strings.TrimSpace(parts[0]), nil, nil
	}
	slices.Sort(parts[1:])
	if files = slices.Compact(parts[1:]); len(files) == 0 {
		return "", nil, fmt.Errorf("merging %.12s and %.12s: they conflict, and git names no file", ours, theirs)
	}
	return "", files, nil
}

// whichConflict finds out whose work the last piece conflicts with: one other, or the base, where that is enough for
// it.
func (o *objects) whichConflict(ctx context.Context, base string, all []Work, files []string) error {
	last := all[len(all)-1]
	for _, other := range append([]Work{{"the base", base}}, all[:len(all)-1]...) {
		_, both, err := o.mergeTrees(ctx, other.Commit, last.Commit)
		if err != nil {
			return err
		}
		if len(both) > 0 {
			return &MergeError{[]string{other.Name, last.Name}, both}
		}
	}
	e := &MergeError{Files: files}
	for _, w := range all {
		e.Names = append(e.Names, w.Name)
	}
	return e
}

// commitMerge makes the commit of a merge. Its time is that of the newer parent, so that it is the same commit whenever
// it is made.
func (o *objects) commitMerge(ctx context.Context, tree, at string, w Work) (string, error) {
	out, err := o.git.out(ctx, "show", "-s", "--format=%ct", at, w.Commit)
	if err != nil {
		return "", fmt.Errorf("merging %s: %w", w.Name, err)
	}
	newest := int64(0)
	for _, text := range strings.Fields(out) {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			newest = max(newest, n)
		}
	}
	commit, err := o.commit(ctx, newCommit{tree: tree, parents: []string{at, w.Commit}, message: "Merge " + w.Name,
		at: time.Unix(newest, 0).UTC()})
	if err != nil {
		return "", fmt.Errorf("merging %s: %w", w.Name, err)
	}
	return commit, nil
}

// contains reports whether a commit is another one or has it among those that came before.
func (d door) contains(ctx context.Context, commit, other string) (bool, error) {
	if commit == other {
		return true, nil
	}
	_, err := d.out(ctx, "merge-base", "--is-ancestor", other, commit)
	if exit(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// descends is contains for a commit that an agent has named: it may be none, or nothing at all.
func (d door) descends(ctx context.Context, from, commit string) (bool, error) {
	if commit == "" || commit == from {
		return commit == from, nil
	}
	on, err := d.contains(ctx, commit+"^{commit}", from)
	return on, ignore(err)
}

// meet is the newest commit that two have in common; empty: there is none.
func (d door) meet(ctx context.Context, one, other string) string {
	out, _ := d.out(ctx, "merge-base", one, other+"^{commit}") // none
	return strings.TrimSpace(out)
}

// Contains reports whether a commit of the clone that dir is in is another one or has it among those that came before.
// Commits that do not exist contain nothing.
func Contains(ctx context.Context, dir string, env []string, commit, other string) (bool, error) {
	d := door{dir: dir, env: usersDoor(env), pair: safe}
	for _, id := range []string{commit, other} {
		if _, err := d.out(ctx, "cat-file", "-e", id+"^{tree}"); err != nil {
			return false, ignore(err)
		}
	}
	return d.contains(ctx, commit, other)
}

// Merged is the commit that holds the run's base as it was before the work of others was merged onto it, and some of
// that work.
func (t *Tree) Merged(ctx context.Context, some []Work) (commit string, err error) {
	return t.mergeAll(ctx, t.Ground(), some)
}
