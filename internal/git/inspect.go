package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

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

// Stand is the top of the clone that dir is in, and the branch that it is on: the commit where it is on none, "" where
// there is no commit yet.
func Stand(ctx context.Context, dir string, env []string) (top, at string, err error) {
	u := users{door: door{dir: dir, env: usersDoor(env), pair: safe}}
	if err := u.find(ctx); err != nil {
		return "", "", err
	}
	return u.top, cmp.Or(strings.TrimPrefix(u.head.ref, "refs/heads/"), u.head.commit), nil
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

// RemoteURL is where the clone in dir was made from: the remote origin, or the only one; "" for a clone without a
// remote.
func RemoteURL(ctx context.Context, dir string, env []string) (string, error) {
	d := door{dir: dir, env: environment(env), pair: safe}
	out, err := d.out(ctx, "remote")
	if err != nil {
		return "", fmt.Errorf("looking for the remotes of %s: %w", dir, err)
	}
	names := strings.Fields(out)
	name := "origin"
	if len(names) == 1 {
		name = names[0]
	}
	out, err = d.out(ctx, "remote", "get-url", name)
	if err != nil {
		return "", nil // git has said that there is no such remote
	}
	return strings.TrimSpace(out), nil
}

// CheckBranchName says why a name cannot be a branch's.
func CheckBranchName(ctx context.Context, name string) error {
	bad := fmt.Errorf("%q is not a name that git allows for a branch: see git help check-ref-format", name)
	if name == "" || name == "HEAD" || strings.HasPrefix(name, "-") {
		return bad
	}
	_, err := door{env: environment(nil)}.out(ctx, "check-ref-format", "refs/heads/"+name)
	if exit(err) > 0 {
		return bad
	}
	return err
}

// fetchRecordTime is how long a person waits for a record before the run begins without it.
const fetchRecordTime = 30 * time.Second

// FetchRecord reads the run record of a task that someone has pushed to the remote of the clone in dir; ok is false
// without a record or a remote. It is at the clone's own refs/ralph/runs/<task> from then on. What was there before is
// not read: an agent may have put it there.
func FetchRecord(ctx context.Context, dir string, env []string, task string) (r RunRecord, ok bool, err error) {
	url, err := RemoteURL(ctx, dir, env)
	if err != nil || url == "" {
		return r, false, err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchRecordTime)
	defer cancel()
	d := door{dir: dir, env: usersDoor(env), pair: safe}
	r.Task = task
	if r.SHA, err = d.fetchRef(ctx, Remote{URL: url}, recordRef(task)); err != nil || r.SHA == "" {
		return r, false, err
	}
	if r.Files, err = (&objects{git: d}).allFiles(ctx, r.SHA); err != nil {
		return r, false, fmt.Errorf("reading the run record of %s: %w", task, err)
	}
	return r, true, nil
}

// Leftovers looks through a clone for what its runs have left.
type Leftovers struct {
	users
	refs []Leftover // the branches and tags, also of remotes
}

// OpenLeftovers opens the clone that dir is in. Nothing in it is changed.
func OpenLeftovers(ctx context.Context, dir string, env []string) (*Leftovers, error) {
	u := users{door: door{dir: dir, env: usersDoor(env), pair: safe}}
	if err := u.find(ctx); err != nil {
		return nil, err
	}
	refs, err := u.door.refs(ctx, "refs/heads/", "refs/remotes/", "refs/tags/")
	return &Leftovers{u, refs}, err
}

// Candidates are all branches, and all refs under which runs have kept work.
func (l *Leftovers) Candidates(ctx context.Context) ([]Leftover, error) {
	return l.door.refs(ctx, "refs/heads/", keptRefs, tipRefs)
}

// Alone counts the commits of a ref that no other ref has but those that may go. A commit that holds nothing but a
// run's state file does not count, and of a branch that only ralph has merged together (merges) its merges do not.
func (l *Leftovers) Alone(ctx context.Context, of Leftover, mayGo []Leftover, merges bool) (n int, err error) {
	var in strings.Builder
	in.WriteString(of.Commit + "\n")
	for _, r := range l.refs {
		if !slices.ContainsFunc(mayGo, func(o Leftover) bool { return o.Ref == r.Ref }) {
			in.WriteString("^" + r.Commit + "\n")
		}
	}
	args := []string{"rev-list", "--count", "--full-history", "--stdin"}
	if merges {
		args = append(args, "--no-merges")
	}
	out, _, err := l.door.run(ctx,
		call{in: strings.NewReader(in.String()), args: append(args, "--", ":(top)", ":(top,exclude).ralph_state.md")})
	if err == nil {
		_, err = fmt.Sscan(out, &n)
	}
	if err != nil {
		return 0, fmt.Errorf("counting the commits of %s: %w", of.Name(), err)
	}
	return n, nil
}

// Remove deletes refs, all or none, unless one has moved meanwhile.
func (l *Leftovers) Remove(ctx context.Context, all []Leftover) error {
	if len(all) == 0 {
		return nil
	}
	var in strings.Builder
	for _, o := range all {
		if strings.HasPrefix(o.Ref, "refs/heads/") && o.Used != "" {
			return errors.New(o.Name() + " is checked out in " + o.Used)
		}
		fmt.Fprintf(&in, "option no-deref\ndelete %s %s\n", o.Ref, o.Commit)
	}
	if _, _, err := l.door.run(ctx,
		call{args: []string{"update-ref", "--stdin"}, in: strings.NewReader(in.String())}); err != nil {
		return fmt.Errorf("removing branches: %w", err)
	}
	return nil
}
