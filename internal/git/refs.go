package git

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// place is where HEAD is: "" as the ref when it is detached, "" as the commit before the first one.
type place struct{ ref, commit string }

// Leftover is a ref of a clone: a branch, or one that a run has kept work under.
type Leftover struct {
	Ref    string // full
	Commit string
	Used   string // the working tree that it is checked out in; empty: none
}

// Name is the branch as people write it; of another ref it is the whole.
func (l Leftover) Name() string { return strings.TrimPrefix(l.Ref, "refs/heads/") }

// refs lists refs; a pattern is the full name of one, a directory of them, or has stars.
func (d door) refs(ctx context.Context, patterns ...string) (all []Leftover, err error) {
	out, err := d.out(ctx, append([]string{"for-each-ref", "--format=%(objectname) %(refname) %(worktreepath)"}, patterns...)...)
	if err != nil {
		return nil, fmt.Errorf("reading the refs of %s: %w", d.dir, err)
	}
	for line := range strings.Lines(out) {
		if f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3); len(f) == 3 {
			all = append(all, Leftover{f[1], f[0], f[2]})
		}
	}
	return all, nil
}

// below are the refs whose names begin so, by what follows, with what they are at.
func (d door) below(ctx context.Context, prefix string) (map[string]string, error) {
	all, err := d.refs(ctx, prefix)
	at := map[string]string{}
	for _, r := range all {
		at[strings.TrimPrefix(r.Ref, prefix)] = r.Commit
	}
	return at, err
}

// at is the commit that a ref is at; "" when there is no such ref.
func (d door) at(ctx context.Context, ref string) string {
	out, _ := d.out(ctx, "rev-parse", "--verify", "-q", ref+"^{commit}") // no such ref: ""
	return strings.TrimSpace(out)
}

// contains reports whether a commit is another one or has it among those that came before.
func (d door) contains(ctx context.Context, commit, other string) (bool, error) {
	if commit == other {
		return true, nil
	}
	_, err := d.out(ctx, "merge-base", "--is-ancestor", other, commit)
	if exit(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// descends is contains for a commit that an agent has named: it may be none, or nothing at all.
func (d door) descends(ctx context.Context, from, commit string) (bool, error) {
	if commit == "" || commit == from {
		return commit == from, nil
	}
	on, err := d.contains(ctx, commit+"^{commit}", from)
	return on, ignore(err)
}

// meet is the newest commit that two have in common, if any.
func (d door) meet(ctx context.Context, one, other string) string {
	out, _ := d.out(ctx, "merge-base", one, other+"^{commit}") // none
	return strings.TrimSpace(out)
}

// transaction is one line of what update-ref reads: from the zero id makes a ref, to it deletes one.
func transaction(ref, from, to string) string {
	zero := strings.Repeat("0", max(len(from), len(to)))
	switch {
	case to == "" && from == "":
		return ""
	case to == "":
		return fmt.Sprintf("delete %s %s\n", ref, from)
	case from == "":
		from = zero
	}
	return fmt.Sprintf("update %s %s %s\n", ref, to, from)
}

// short is a ref as people write it.
func short(ref string) string {
	return strings.TrimPrefix(strings.TrimPrefix(ref, "refs/heads/"), "refs/")
}

// isID reports whether a name stands for one commit forever.
func isID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// union are the keys of two maps, in order.
func union[A, B any](a map[string]A, b map[string]B) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}

// mostRefFiles bounds how many files of refs of an agent's are read.
const mostRefFiles = 5000
