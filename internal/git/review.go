package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Review is a checkout of one commit for a reviewer: detached, not writable, thrown away afterwards.
type Review struct {
	t      *Tree
	dir    string
	before snapshotOf // of the checkout
	refs   map[string]string
	at     place
}

// Review checks a commit out on its own. The files belong to us and no one may write them.
func (t *Tree) Review(ctx context.Context, commit string) (*Review, error) {
	dir, err := os.MkdirTemp(t.o.scratch(), "review-")
	if err != nil {
		return nil, fmt.Errorf("making a checkout for the review: %w", err)
	}
	r := &Review{t: t, dir: dir}
	if err := r.fill(ctx, commit); err != nil {
		return nil, errors.Join(fmt.Errorf("making a checkout for the review: %w", err), r.Close())
	}
	return r, nil
}

func (r *Review) fill(ctx context.Context, commit string) (err error) {
	t, index := r.t, r.dir+".index"
	defer os.Remove(index)
	_, _, err = t.git.run(ctx, call{
		args: []string{"read-tree", "--reset", "-u", "--no-sparse-checkout", commit},
		env:  []string{"GIT_WORK_TREE=" + r.dir, "GIT_INDEX_FILE=" + index}})
	if err != nil {
		return err
	}
	refs := map[string]string{}
	if t.baseBranch != "" {
		refs["refs/heads/"+t.baseBranch], refs["refs/remotes/origin/"+t.baseBranch] = t.base, t.base
	}
	if err := t.writeRepo(r.dir, agentRepo{head: commit, refs: refs, index: index, objects: []string{t.store()}}); err != nil {
		return err
	}
	if err := chmod(r.dir, 0o555, 0o444); err != nil {
		return err
	}
	if r.before, err = look(r.dir, filepath.Join(".git", "index")); err != nil {
		return err
	}
	if r.refs, err = t.refs(); err != nil {
		return err
	}
	r.at = t.headNow()
	return nil
}

// Dir is the checkout.
func (r *Review) Dir() string { return r.dir }

// Env is what the reviewer needs in its environment to read with git there: the files are not its own.
func (r *Review) Env() []string {
	return []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		"GIT_OPTIONAL_LOCKS=0"}
}

// Untouched reports whether the reviewer left everything as it was: every file of its checkout, HEAD and the branches
// of the run's own repository, and the files of the run's tree. When it did not, what says in a sentence what changed;
// HEAD, the run's own refs and the files of its tree are put back then.
func (r *Review) Untouched(ctx context.Context) (ok bool, what string, err error) {
	var found []string
	if err := r.t.settle(); err != nil {
		return false, "", err
	}
	now, err := look(r.dir, filepath.Join(".git", "index"))
	if err != nil {
		return false, "", fmt.Errorf("looking through the review's checkout: %w", err)
	}
	found = append(found, r.before.changes(now)...)
	moved, err := r.putBack(ctx)
	if err != nil {
		return false, "", err
	}
	found = append(found, moved...)
	dirty, err := r.t.git.uncommitted(ctx, nil)
	if err != nil {
		return false, "", err
	}
	for _, name := range dirty {
		found = append(found, name+" in the run's tree")
	}
	if len(dirty) > 0 {
		if err := r.t.Restore(ctx); err != nil {
			return false, "", err
		}
	}
	if len(found) == 0 {
		return true, "", nil
	}
	return false, "the reviewer changed " + safetext.FirstN(found, 5), nil
}

// putBack puts the refs back that have moved, and names them.
func (r *Review) putBack(ctx context.Context) (moved []string, err error) {
	t := r.t
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
	if len(moved) > 0 {
		return moved, t.handOver(ctx)
	}
	return nil, nil
}

// headNow is where HEAD is in the agent's repository.
func (t *Tree) headNow() place {
	l, err := readAgents(t.work)
	if err != nil { // broken is somewhere, too
		return place{ref: err.Error()}
	}
	return l.place
}

// refs are the branches and tags of the harness's repository.
func (t *Tree) refs() (map[string]string, error) {
	root, err := os.OpenRoot(t.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	refs := map[string]string{}
	readRefs(root, "", refs)
	maps.DeleteFunc(refs, func(ref, _ string) bool { return strings.HasPrefix(ref, "refs/remotes/") })
	return refs, nil
}

// Close removes the checkout.
func (r *Review) Close() error {
	err := chmod(r.dir, 0o755, 0)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = os.RemoveAll(r.dir)
	}
	if err != nil {
		return fmt.Errorf("removing the review's checkout: %w", err)
	}
	return nil
}

// chmod sets the modes of everything below a directory, links aside; 0 leaves files. An executable file stays one.
func chmod(dir string, dirs, plain fs.FileMode) error {
	root, err := files.OpenDir(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Chmod(".", dirs|0o700); err != nil {
		return err
	}
	err = files.Walk(root, func(e files.Entry) error {
		switch {
		case e.Info.IsDir():
			return e.In.Chmod(e.Name, dirs)
		case plain == 0 || !e.Info.Mode().IsRegular():
			return nil
		}
		return e.In.Chmod(e.Name, plain|e.Info.Mode()&0o111)
	})
	return errors.Join(err, root.Chmod(".", dirs))
}
