package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Mirror is a bare repository that holds the branches and tags of a remote for checkouts to borrow objects from. It
// only ever gets more objects, but for Tidy. It is not safe for use by two at once.
type Mirror struct {
	dir string
	git door
	o   Options
}

// OpenMirror opens the mirror in a directory, or makes it. It uses the options Remote, Env and Log. Everyone who can
// reach the directory can read it, as agents that work as another user must.
func OpenMirror(ctx context.Context, o Options, dir string) (*Mirror, error) {
	m := &Mirror{dir: dir, o: o, git: door{dir: dir, pair: safe, env: append(environment(o.Env),
		"GIT_DIR="+dir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")}}
	if exists(filepath.Join(dir, "HEAD")) {
		removeLocks(dir)
		return m, nil
	}
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.Chmod(dir, 0o755)); err != nil { // said above
		return nil, fmt.Errorf("making the mirror of %s: %w", o.Remote.shown(), err)
	}
	if _, err := m.git.out(ctx, "init", "-q", "--bare", "--template=", "--shared=0644", "--", dir); err != nil {
		return nil, fmt.Errorf("making the mirror of %s: %w", o.Remote.shown(), err)
	}
	return m, nil
}

// Fetch makes the mirror hold what the remote's branches and tags lead to now.
func (m *Mirror) Fetch(ctx context.Context) error {
	err := m.git.fetch(ctx, m.o.Remote, []string{"--prune"}, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
	if err != nil {
		return fmt.Errorf("bringing the mirror of %s up to date: %w", m.o.Remote.shown(), err)
	}
	return nil
}

// mostPacks is with how many packs a mirror is worth putting together.
const mostPacks = 30

// Tidy puts the packs of the mirror together and drops what nothing leads to, when it has become many. No one may
// borrow from it meanwhile.
func (m *Mirror) Tidy(ctx context.Context) error {
	packs, err := filepath.Glob(filepath.Join(m.dir, "objects", "pack", "*.pack"))
	if err != nil || len(packs) <= mostPacks {
		return err
	}
	if _, err := m.git.out(ctx, "repack", "-a", "-d", "-q"); err != nil {
		return fmt.Errorf("putting the packs of a mirror together: %w", err)
	}
	return nil
}
