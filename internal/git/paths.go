package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	if len(paths) == 0 {
		return "", nil
	}
	u, err := openUsers(ctx, dir, env)
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(filepath.Join(u.dir, "MERGE_HEAD")); err == nil {
		return "", errors.New("a merge is in progress in the clone: finish it (git commit, or git merge --abort), then ask again")
	}
	who, err := whoCommits(ctx, dir, env)
	if err != nil {
		return "", err
	}
	if who == nil {
		who = identity(id)
	}
	u.door.env = append(u.door.env, who...)
	sha, err = u.commitPaths(ctx, message, paths)
	if err != nil {
		return "", fmt.Errorf("committing %s: %w", strings.Join(paths[:min(len(paths), 5)], ", "), err)
	}
	return sha, nil
}

func (u *users) commitPaths(ctx context.Context, message string, paths []string) (sha string, err error) {
	names, err := u.door.uncommitted(ctx, paths)
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "/") }) // repositories
	if err != nil || len(names) == 0 {
		return "", err
	}
	dir, remove, err := proc.TempDir("")
	if err != nil {
		return "", err
	}
	defer remove()
	sha, err = u.commitFiles(ctx, []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}, names, message)
	if err != nil {
		return "", err
	}
	if err := u.update(ctx, nil, names); err != nil || sha == u.head.commit {
		return "", err
	}
	subject, _, _ := strings.Cut(message, "\n")
	// only from where it was examined
	_, err = u.door.out(ctx, "update-ref", "-m", "commit: "+subject, "HEAD", sha, u.head.commit)
	return sha, err
}

// uncommitted are the files under some paths, or all, that are not as HEAD has them. A repository is one entry that
// ends with a slash.
func (d door) uncommitted(ctx context.Context, under []string) ([]string, error) {
	args := []string{"status", "--porcelain=v1", "-z", "-uall", "--no-renames", "--ignore-submodules=all", "--"}
	for _, name := range under {
		args = append(args, ":(top,literal)"+name)
	}
	out, err := d.out(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("looking for what is not committed: %w", err)
	}
	var names []string
	for _, e := range records(out) {
		names = append(names, e[3:])
	}
	return names, nil
}

// commitFiles makes a commit of files as they are in the working tree, on top of the newest one, by a separate index.
// The result is that one when they are in it like this.
func (u *users) commitFiles(ctx context.Context, own, names []string, message string) (commit string, err error) {
	if _, _, err := u.door.run(ctx, call{env: own, args: []string{"read-tree", u.head.commit}}); err != nil {
		return "", err
	}
	if err := u.update(ctx, own, names); err != nil {
		return "", err
	}
	tree, _, err := u.door.run(ctx, call{env: own, args: []string{"write-tree"}})
	if tree = strings.TrimSpace(tree); err != nil || tree == u.tree {
		return u.head.commit, err
	}
	commit, _, err = u.door.run(ctx, call{in: strings.NewReader(message), args: []string{"commit-tree", tree, "-p",
		u.head.commit, "-F", "-"}})
	return strings.TrimSpace(commit), err
}

// update makes an index hold files as they are in the working tree, and not those that do not exist.
func (u *users) update(ctx context.Context, own, names []string) error {
	root, err := os.OpenRoot(u.top)
	if err != nil {
		return err
	}
	defer root.Close()
	var there, gone []string
	for _, name := range names {
		if info, err := root.Lstat(name); err == nil && !info.IsDir() && behindDirectories(root, name) {
			there = append(there, name)
		} else {
			gone = append(gone, name)
		}
	}
	for _, c := range []struct {
		names   []string
		options []string
	}{{gone, []string{"--force-remove"}}, {there, []string{"--add", "--replace"}}} {
		if len(c.names) == 0 {
			continue
		}
		args := append(append([]string{"update-index"}, c.options...), "-z", "--stdin")
		if _, _, err := u.door.run(ctx, call{env: own, in: joined(c.names), args: args}); err != nil {
			return err
		}
	}
	return nil
}
