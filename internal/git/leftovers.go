package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Leftover is a branch of a clone, or a ref that a run has kept work under.
type Leftover struct {
	Ref    string // full
	Commit string
	Used   string // the working tree that it is checked out in; empty: none
}

// Name is the branch as people write it; of another ref it is the whole.
func (l Leftover) Name() string { return strings.TrimPrefix(l.Ref, "refs/heads/") }

// Leftovers looks through a clone for what its runs have left.
type Leftovers struct {
	users
	refs []refAt // the branches and tags, also of remotes
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
func (l *Leftovers) Candidates(ctx context.Context) (all []Leftover, err error) {
	refs, err := l.door.refs(ctx, "refs/heads/", keptRefs, tipRefs)
	for _, r := range refs {
		all = append(all, Leftover{Ref: r.ref, Commit: r.commit, Used: r.used})
	}
	return all, err
}

// Alone counts the commits of a ref that no other ref has but those that may go. A commit that holds nothing but a
// run's state file does not count, and of a branch that ralph alone has merged together (merges) its merges do not.
func (l *Leftovers) Alone(ctx context.Context, of Leftover, mayGo []Leftover, merges bool) (n int, err error) {
	var in strings.Builder
	in.WriteString(of.Commit + "\n")
	for _, r := range l.refs {
		if !slices.ContainsFunc(mayGo, func(o Leftover) bool { return o.Ref == r.ref }) {
			in.WriteString("^" + r.commit + "\n")
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
