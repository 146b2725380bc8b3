package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/proc"
)

// CommitPaths commits what lies under some paths of the clone that dir is in, added, changed and removed, on the branch
// that it is on, and nothing else: what else is staged stays staged, and what is not stays so. Paths are from the top
// of the clone; of a directory it is all that git does not ignore. Hooks are off. id is who commits when the clone's
// user has not told git. sha is "" when there was nothing.
func CommitPaths(ctx context.Context, dir string, env []string, id Identity, message string,
	paths []string) (sha string, err error) {
	for _, name := range paths {
		if !fs.ValidPath(name) || name == "." {
			return "", fmt.Errorf("committing %q: it is no path from the top of the clone", name)
		}
	}
	t, err := Look(ctx, dir, env, "")
	if err != nil || len(paths) == 0 {
		return "", err
	}
	if _, err := os.Lstat(filepath.Join(t.dir, "MERGE_HEAD")); err == nil {
		return "", errors.New("a merge is going on in the clone: end it (git commit, or git merge --abort), then ask again")
	}
	t.o.Identity = id
	if err := t.identify(ctx); err != nil {
		return "", err
	}
	t.git.env = append(t.git.env, t.who...)
	sha, err = t.commitPaths(ctx, message, paths)
	if err != nil {
		return "", fmt.Errorf("committing %s: %w", strings.Join(paths[:min(len(paths), 5)], ", "), err)
	}
	return sha, nil
}

func (t *Tree) commitPaths(ctx context.Context, message string, paths []string) (sha string, err error) {
	names, err := t.uncommitted(ctx, paths)
	if err != nil || len(names) == 0 {
		return "", err
	}
	dir, remove, err := proc.TempDir("")
	if err != nil {
		return "", err
	}
	defer remove()
	sha, err = t.commitFiles(ctx, []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}, t.head, names, message)
	if err != nil {
		return "", err
	}
	if err := t.update(ctx, nil, names); err != nil || sha == t.head {
		return "", err
	}
	subject, _, _ := strings.Cut(message, "\n")
	// only from where it was looked at
	_, err = t.git.out(ctx, "update-ref", "-m", "commit: "+subject, "HEAD", sha, t.head)
	return sha, err
}
