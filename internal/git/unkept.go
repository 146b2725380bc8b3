package git

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Unkept is a file of the working tree that no commit takes up.
type Unkept struct {
	Path string // from the top
	Made bool   // it was made or changed since a time
}

// grain is how far the time of a file may lie before that of the clock: file systems take the time of the kernel's last
// tick.
const grain = 20 * time.Millisecond

// mostUnkept bounds how many such files are listed.
const mostUnkept = 20_000

// Unkept lists files that lie in the working tree and are in no commit, since they are ignored; at most 20,000. Made says of each whether it was written since a time.
func (t *checkout) Unkept(ctx context.Context, since time.Time) ([]Unkept, error) {
	out := bounded{most: mostNames}
	_, _, err := t.git.run(ctx, call{out: &out,
		args: []string{"ls-files", "-z", "--others", "--ignored", "--exclude-standard"}})
	if err != nil {
		return nil, fmt.Errorf("looking for what is not committed: %w", err)
	}
	names := whole(out, "\x00")
	var found []Unkept
	for _, name := range names[:min(len(names), mostUnkept)] {
		info, err := os.Lstat(filepath.Join(t.work, filepath.FromSlash(name)))
		if err != nil || info.IsDir() {
			continue
		}
		found = append(found, Unkept{name, lastChange(info).After(since.Add(-grain))})
	}
	return found, nil
}

// Tracked reports whether the run's newest commit has a file or a directory at a path.
func (t *history) Tracked(ctx context.Context, name string) (bool, error) {
	_, ok, err := t.entry(ctx, t.head, name)
	return ok, err
}

func lastChange(info os.FileInfo) time.Time {
	if _, changed := systemStamp(info); changed != 0 {
		return time.Unix(0, changed)
	}
	return info.ModTime()
}

// WhyUnkept says of each path why no commit takes it up: "is ignored by .gitignore:5".
func (t *checkout) WhyUnkept(ctx context.Context, names []string) ([]string, error) {
	asked := safetext.Map(names, func(name string) string { return "./" + name }) // so that no name is read as a pattern
	out, _, err := t.git.run(ctx, call{in: joined(asked),
		args: []string{"check-ignore", "--no-index", "--verbose", "--non-matching", "-z", "--stdin"}})
	if err != nil && exit(err) != 1 {
		return nil, fmt.Errorf("asking git what ignores a file: %w", err)
	}
	parts := records(out) // source, line, pattern and path of each
	why := make([]string, len(names))
	for i := range names {
		switch {
		case 4*i+3 >= len(parts) || parts[4*i] == "":
			why[i] = "is not tracked"
		case parts[4*i] == t.o.excludes():
			why[i] = fmt.Sprintf("is ignored by %q, one of your own patterns", parts[4*i+2])
		default:
			why[i] = fmt.Sprintf("is ignored by %s:%s", parts[4*i], parts[4*i+1])
		}
	}
	return why, nil
}

// Lying names what is in the clone that dir is the top of: the tracked files that are not as its newest commit has
// them, and what is ignored, files and whole directories with a slash at the end.
func Lying(ctx context.Context, dir string, env []string) (modified, ignored []string, err error) {
	out, d := bounded{most: mostNames}, door{dir: dir, env: usersDoor(env), pair: safe}
	_, _, err = d.run(ctx, call{out: &out, args: []string{"status", "--porcelain=v1", "-z", "-unormal",
		"--ignored=traditional", "--no-renames", "--ignore-submodules=all"}})
	if err != nil {
		return nil, nil, fmt.Errorf("looking for modified files: %w", err)
	}
	for _, entry := range whole(out, "\x00") {
		switch {
		case strings.HasPrefix(entry, "!! "):
			ignored = append(ignored, entry[3:])
		case !strings.HasPrefix(entry, "?? "):
			modified = append(modified, entry[3:])
		}
	}
	return modified, ignored, nil
}

// Uncommitted names the files below a directory of the clone that dir is the top of that are not as its newest commit
// has them, and not ignored.
func Uncommitted(ctx context.Context, dir string, env []string, below string) ([]string, error) {
	return door{dir: dir, env: usersDoor(env), pair: safe}.uncommitted(ctx, []string{below})
}

// InTheWay names the uncommitted files of the clone that dir is the top of over which git refuses to merge a commit.
func InTheWay(ctx context.Context, dir string, env []string, commit string) ([]string, error) {
	d := door{dir: dir, env: usersDoor(env), pair: safe}
	lying, err := d.uncommitted(ctx, nil)
	if err != nil || len(lying) == 0 {
		return nil, err
	}
	changed, err := d.out(ctx, "diff", "--name-only", "-z", "--no-renames", "HEAD..."+commit, "--")
	if err != nil {
		return nil, fmt.Errorf("comparing the clone with commit %.12s: %w", commit, err)
	}
	brought := newPaths(records(changed))
	return slices.DeleteFunc(lying, func(name string) bool { return !brought.cover(name) && !brought.below(name) }), nil
}

// TipOf is the newest commit that a run of a task has made on its branch in the clone that dir is in; empty: none.
func TipOf(ctx context.Context, dir string, env []string, branch, task string) string {
	u := users{door: door{dir: dir, env: usersDoor(env), pair: safe}}
	tip, on := u.door.at(ctx, tipRefs+task), u.door.at(ctx, "refs/heads/"+branch)
	if has, err := u.door.contains(ctx, on, tip); tip == "" || on != "" && err == nil && has { // it has continued from there
		return on
	}
	return tip
}

// Look takes the clone that dir is in for reading alone: nothing in it is changed, and its working tree may be in any
// state. branch is what the run's branch would be.
func Look(ctx context.Context, dir string, env []string, branch string) (*Tree, error) {
	u, err := openUsers(ctx, dir, env)
	if err != nil {
		return nil, err
	}
	t := &Tree{history: newHistory(Options{Env: env}, branch)}
	t.objects, t.work, t.dir, t.index = objects{git: u.door, common: u.common}, u.top, u.dir, filepath.Join(u.dir, "index")
	t.base, t.baseTree, t.baseBranch = u.head.commit, u.tree, strings.TrimPrefix(u.head.ref, "refs/heads/")
	t.head, t.headTree = t.base, t.baseTree
	return t, nil
}

// Top is the top of the clone that dir is in.
func Top(ctx context.Context, dir string, env []string) (string, error) {
	top, _, err := Stand(ctx, dir, env)
	return top, err
}

// Stand is the top of the clone that dir is in, and the branch that it is on: the commit where it is on none, "" where
// there is no commit yet.
func Stand(ctx context.Context, dir string, env []string) (top, at string, err error) {
	u := users{door: door{dir: dir, env: usersDoor(env), pair: safe}}
	if err := u.find(ctx); err != nil {
		return "", "", err
	}
	return u.top, cmp.Or(strings.TrimPrefix(u.head.ref, "refs/heads/"), u.head.commit), nil
}
