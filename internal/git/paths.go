package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// CommitPaths commits what lies under some paths of the clone that dir is in, added, changed and removed, on the branch
// that it is on, and nothing else: what else is staged stays staged, and what is not stays so. Paths are from the top
// of the clone; of a directory it is all that git does not ignore. Hooks are off. id is who commits when git does not
// know the clone's user. sha is "" when there was nothing.
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
	repositories, names := parted(names, func(name string) bool { return strings.HasSuffix(name, "/") })
	if err != nil || len(names) == 0 {
		return "", err
	}
	with, specs := newPaths(names), []string{"--"}
	for _, name := range paths {
		if with.names[name] || with.below(name) {
			specs = append(specs, ":(top,literal)"+name)
		}
	}
	specs = append(specs, safetext.Map(repositories, func(name string) string { return ":(top,literal,exclude)" + name })...)
	for _, command := range [][]string{{"add", "--all"}, {"commit", "-q", "--only", "--no-gpg-sign", "-m", message}} {
		if _, err = u.door.out(ctx, append(command, specs...)...); err != nil {
			return "", err
		}
	}
	return u.door.at(ctx, "HEAD"), nil
}

// uncommitted are the files under some paths, or all, that are not as HEAD has them. A repository is one entry that
// ends with a slash.
func (d door) uncommitted(ctx context.Context, under []string) ([]string, error) {
	args := []string{"status", "--porcelain=v1", "-z", "-uall", "--no-renames", "--ignore-submodules=all", "--"}
	out, err := d.out(ctx, append(args, safetext.Map(under, func(name string) string { return ":(top,literal)" + name })...)...)
	if err != nil {
		return nil, fmt.Errorf("looking for what is not committed: %w", err)
	}
	return safetext.Map(records(out), func(entry string) string { return entry[3:] }), nil
}
