package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	// the names of git's objects

	"github.com/ralph-loop/ralph/internal/loop"
)

// history is the run's branch: where it started, its newest commit, and the repository that shows it to the agent.
type history struct {
	checkout
	basis
	leaks          leakRules
	head, headTree string            // newest commit of the run
	told           []string          // what the next commit's note has to tell
	handedAs       map[string]string // the refs of the agent's repository
	given          map[string]string // those before the first turn
	tags           map[string]string // of the origin
	keeping        map[string]string // refs of work that is on no branch, to be pushed
}

func newHistory(o Options, branch string) history {
	return history{leaks: leakRules{values: o.Secrets},
		checkout: checkout{o: o, branch: branch, work: o.work(), dir: o.repository(), index: o.index()}}
}

// basis is what a run is measured against.
type basis struct {
	base, baseTree, baseBranch string
	ground                     string    // the base before the work of others was merged onto it
	baseNow                    string    // where the base branch has moved to since; empty: it is not known to have
	seen                       string    // where the origin had the base branch; empty: the run's branch held all of it
	seenAt                     time.Time // when it answered that
	newest                     [2]string // where the base branch is, with its tree, when base is older than that
}

// Base is the commit that the run is measured against, a full hash.
func (t *history) Base() string { return t.base }

// BaseTree is the tree of the base commit.
func (t *history) BaseTree() string { return t.baseTree }

// BaseBranch is the branch that the base is on: "main"; "" when a command line's HEAD was detached.
func (t *history) BaseBranch() string { return t.baseBranch }

// Ground is the commit that the work of other runs was merged onto to make the base; the base itself without such work.
func (t *history) Ground() string { return cmp.Or(t.ground, t.base) }

// Head is the newest commit of the run's branch, a full hash.
func (t *history) Head() string { return t.head }

// Newest is the run's newest commit, as one that has changed nothing.
func (t *history) Newest() loop.Commit {
	return loop.Commit{SHA: t.head, Tree: t.headTree, Empty: true, NoDiff: t.headTree == t.baseTree}
}

// Resumed reports whether the run's branch held work of an earlier process when the tree was opened.
func (t *history) Resumed() bool { return t.head != t.base }

// UseBase measures the run against another commit: the one that its journal names.
func (t *history) UseBase(ctx context.Context, commit string) error {
	out, err := t.git.out(ctx, "rev-parse", "-q", commit+"^{commit}", commit+"^{tree}")
	ids := strings.Fields(out)
	if err != nil || len(ids) != 2 {
		if exists(filepath.Join(t.common, "shallow")) {
			return fmt.Errorf("the clone is shallow and does not hold commit %.12s, which the run began from: run git fetch "+
				"--unshallow, then run again", commit)
		}
		return fmt.Errorf("the run began from commit %.12s, which is no longer in the repository: start over with a fresh run", commit)
	}
	t.base, t.baseTree = ids[0], ids[1]
	return nil
}

// tell puts a sentence into the next commit's note.
func (t *history) tell(sentence string) {
	if !slices.Contains(t.told, sentence) {
		t.told = append(t.told, sentence)
	}
}

// handOver gives the agent its repository as the run stands, with the files that belong to it.
func (t *history) handOver(ctx context.Context) error {
	refs := t.refsToHand()
	t.handedAs = refs
	r := agentRepo{head: "ref: " + t.ref(), refs: refs, index: t.index, sparse: t.sparse,
		objects: []string{t.store()}}
	if err := t.writeRepo(t.work, r); err != nil {
		return err
	}
	return giveAll(t.work, ".git", t.o.As)
}

// refsToHand are the refs that the agent's repository is given.
func (t *history) refsToHand() map[string]string {
	refs := map[string]string{t.ref(): t.head}
	if t.baseBranch != t.branch && t.baseBranch != "" {
		refs["refs/heads/"+t.baseBranch], refs["refs/remotes/origin/"+t.baseBranch] = t.base, cmp.Or(t.baseNow, t.base)
	}
	for name, id := range t.tags {
		refs["refs/tags/"+name] = id
	}
	return refs
}

// moveTo puts the working tree, the index and the run's branch on another commit.
func (t *history) moveTo(ctx context.Context, commit, tree string) error {
	err := t.lay(ctx, commit, true)
	if err == nil {
		err = t.setHead(commit)
	}
	if err != nil {
		return err
	}
	t.head, t.headTree, t.indexed = commit, tree, commit
	return errors.Join(t.findLinks(ctx), t.handOver(ctx))
}

// Clean names the tracked files that are not as the newest commit has them; none when the tree is clean.
func (t *history) Clean(ctx context.Context) (dirty []string, err error) {
	if err := t.settle(); err != nil {
		return nil, err
	}
	out, err := t.git.out(ctx, "diff", "-z", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv",
		"--ignore-submodules=all", t.head, "--")
	if err != nil {
		return nil, fmt.Errorf("comparing the tree with commit %.12s: %w", t.head, err)
	}
	return records(out), nil
}

// Restore makes the tree what the newest commit has: tracked files are put back, files that are neither tracked nor
// ignored removed. Everything of the agent's is in a commit, so what is removed was made by something else.
func (t *history) Restore(ctx context.Context) error {
	dirty, err := t.Clean(ctx)
	if err != nil {
		return err
	}
	if err := t.lay(ctx, t.head, len(dirty) > 0); err != nil {
		return err
	}
	t.indexed = t.head
	return errors.Join(t.setHead(t.head), t.handOver(ctx))
}

// mergedBase returns the newer commit of the base branch that a commit of the run's contains; empty if it contains none.
func (t *history) mergedBase(ctx context.Context, commit string) (string, error) {
	if t.baseNow == "" {
		return "", nil
	}
	has, err := t.git.contains(ctx, commit, t.baseNow)
	if err != nil {
		return "", fmt.Errorf("looking for the base commit %s in %s: %w", t.baseNow, commit, err)
	}
	if !has {
		return "", nil
	}
	return t.baseNow, nil
}

// Tracked reports whether the run's newest commit has a file or a directory at a path.
func (t *history) Tracked(ctx context.Context, name string) (bool, error) {
	_, ok, err := t.entry(ctx, t.head, name)
	return ok, err
}
