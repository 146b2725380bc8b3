package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Review is a checkout of one commit for a reviewer: detached, not writable, deleted afterwards.
type Review struct {
	t      *history // nil of a snapshot
	dir    string
	env    []string
	before Footprint // of the checkout
	refs   map[string]string
	at     place
	remove func()
}

// Review checks a commit out on its own. The files belong to us and no one may write them.
func (t *history) Review(ctx context.Context, commit string) (*Review, error) {
	return openReview(ctx, t.git, t.o.scratch(), commit, func(r *Review, index string) (err error) {
		r.t, r.at = t, t.headNow()
		r.env = []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*", "GIT_OPTIONAL_LOCKS=0"}
		refs := map[string]string{}
		if t.baseBranch != "" {
			refs["refs/heads/"+t.baseBranch], refs["refs/remotes/origin/"+t.baseBranch] = t.base, t.base
		}
		if r.refs, err = t.refs(); err != nil {
			return err
		}
		return t.writeRepo(r.dir, agentRepo{head: commit, refs: refs, index: index, objects: []string{t.store()}})
	})
}

// openReview checks a commit out in a temporary directory. add completes it, before no one may write there.
func openReview(ctx context.Context, d door, scratch, commit string, add func(r *Review, index string) error) (*Review, error) {
	held, remove, err := proc.TempDir(scratch)
	if err != nil {
		return nil, fmt.Errorf("making a checkout for the review: %w", err)
	}
	r, index := &Review{dir: filepath.Join(held, "review"), remove: remove}, filepath.Join(held, "index")
	if err = errors.Join(os.Chmod(held, 0o711), os.Mkdir(r.dir, 0o700)); err == nil {
		_, _, err = d.run(ctx, call{args: []string{"read-tree", "--reset", "-u", "--no-sparse-checkout", commit},
			env: []string{"GIT_WORK_TREE=" + r.dir, "GIT_INDEX_FILE=" + index}})
	}
	if err == nil {
		err = add(r, index)
	}
	if err == nil {
		err = chmod(r.dir, 0o555, 0o444)
	}
	if err != nil {
		remove()
		return nil, fmt.Errorf("making a checkout for the review: %w", err)
	}
	r.before = footprint(r.dir, []string{"."}, reviewIndex)
	return r, nil
}

// reviewIndex is what reading commands refresh where they may.
const reviewIndex = ".git/index"

// Dir is the checkout.
func (r *Review) Dir() string { return r.dir }

// Env is what the reviewer needs in its environment to read with git there, because the files are not its own.
func (r *Review) Env() []string { return r.env }

// Untouched reports whether the reviewer left everything as it was: every file of its checkout, HEAD and the branches
// of the run's own repository, and the files of the run's tree. When it did not, what says in a sentence what changed;
// HEAD, the run's own refs and the files of its tree are put back then.
func (r *Review) Untouched(ctx context.Context) (ok bool, what string, err error) {
	found := r.before.changes(r.dir)
	if r.t != nil {
		more, err := r.putBack(ctx)
		if err != nil {
			return false, "", err
		}
		found = append(found, more...)
	}
	if len(found) == 0 {
		return true, "", nil
	}
	return false, "the reviewer changed " + safetext.FirstN(found, 5), nil
}

// putBack puts the refs and the files of the run back that have changed, and names them.
func (r *Review) putBack(ctx context.Context) (moved []string, err error) {
	t := r.t
	if err := t.settle(); err != nil {
		return nil, err
	}
	at := t.headNow()
	if at != r.at {
		moved = append(moved, "HEAD of the run's tree")
	}
	now, err := t.refs()
	if err != nil {
		return nil, err
	}
	in := ""
	for _, ref := range union(r.refs, now) {
		if was, is := r.refs[ref], now[ref]; was != is {
			moved = append(moved, strings.TrimPrefix(ref, "refs/heads/"))
			in += transaction(ref, is, was)
		}
	}
	if in != "" {
		if _, _, err := t.git.run(ctx, call{args: []string{"update-ref", "--stdin"}, in: strings.NewReader(in)}); err != nil {
			return moved, fmt.Errorf("putting the refs back: %w", err)
		}
	}
	dirty, err := t.git.uncommitted(ctx, nil)
	switch {
	case err != nil:
		return nil, err
	case len(dirty) > 0:
		err = t.Restore(ctx)
	case len(moved) > 0:
		err = t.handOver(ctx)
	}
	for _, name := range dirty {
		moved = append(moved, name+" in the run's tree")
	}
	return moved, err
}

// Close removes the checkout.
func (r *Review) Close() error {
	r.remove()
	return nil
}

// Review checks a snapshot out on its own. There is no repository in it.
func (s *Snapshots) Review(ctx context.Context, commit string) (*Review, error) {
	return openReview(ctx, s.clone.door, "", commit, func(*Review, string) error { return nil })
}
