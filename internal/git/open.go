package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Checkout makes the bot's own checkout below o.Root, of the remote's branch base ("" is its default branch) and, when
// they exist, of the run's branch and its record. The working tree is empty until Start.
//
// The repository there is ours: the agent's user may read it and not write it. The working tree is the agent's, with a
// repository of its own in it that borrows our objects. No command of ours reads that one's configuration.
func Checkout(ctx context.Context, o Options, base, branch string) (*Tree, error) {
	if !filepath.IsAbs(o.Root) || o.Remote.URL == "" {
		return nil, errors.New("opening a checkout: a root directory and a remote are needed")
	}
	t := &Tree{history: newHistory(o, branch)}
	if err := t.leaks.refuseName(branch, o.Task); err != nil {
		return nil, err
	}
	if err := errors.Join(t.layOut(o), t.borrow()); err != nil {
		return nil, err
	}
	t.origin = remote{t.git, &t.o.Remote}
	asked := append([]string{"HEAD", t.ref(), t.recordRef()}, inTheWay(t.ref())...)
	if base != "" {
		asked = append(asked, "refs/heads/"+base)
	}
	refs, err := t.git.listRemote(ctx, o.Remote, asked...)
	if err != nil {
		return nil, err
	}
	if base == "" {
		base = strings.TrimPrefix(refs.head, "refs/heads/")
	}
	if base == "" || refs.at["refs/heads/"+base] == "" && refs.at["HEAD"] == "" {
		return nil, badBranch("%s has no commit yet: push a first one, then ask again", o.Remote.shown())
	}
	if refs.at["refs/heads/"+base] == "" && base != strings.TrimPrefix(refs.head, "refs/heads/") {
		return nil, badBranch("%s has no branch %s: create it, or name another base branch in the input base_branch",
			o.Remote.shown(), base)
	}
	if ref := refs.inTheWay(t.ref()); ref != "" {
		return nil, badBranch("the branch %s is in the way of %s, because git cannot keep both: rename it, or set the input "+
			"branch_prefix to another, such as %q", short(ref), branch, path.Dir(branch)+"-")
	}
	t.baseBranch = base
	if err := t.bring(ctx, refs); err != nil {
		return nil, err
	}
	return t, nil
}

// borrow has the bot's repository find objects in its remote's mirror.
func (t *checkout) borrow() error {
	mirror := t.o.Remote.Mirror
	if mirror == "" {
		return nil
	}
	objects := filepath.Join(mirror, "objects")
	if !filepath.IsAbs(mirror) || strings.ContainsAny(mirror, "\n\"") || !exists(objects) {
		return fmt.Errorf("borrowing from the mirror %s: it is no repository", mirror)
	}
	info := filepath.Join(t.dir, "objects", "info") // the agent's user reads it, too
	err := errors.Join(os.MkdirAll(info, 0o755),
		os.WriteFile(filepath.Join(info, "alternates"), []byte(objects+"\n"), 0o644))
	if err != nil {
		return fmt.Errorf("borrowing from the mirror %s: %w", mirror, err)
	}
	return nil
}

// bring fetches what the remote has of the run and settles where it begins.
func (t *Tree) bring(ctx context.Context, refs remoteRefs) error {
	origin := "refs/remotes/origin/"
	// tools make versions of tags
	specs := []string{"+refs/heads/" + t.baseBranch + ":" + origin + t.baseBranch, "+refs/tags/*:refs/tags/*"}
	t.pushed = pushed{branch: refs.at[t.ref()], record: refs.at[t.recordRef()]}
	if t.pushed.branch != "" && t.branch != t.baseBranch {
		specs = append(specs, "+"+t.ref()+":"+origin+t.branch)
	}
	if t.pushed.record != "" {
		specs = append(specs, "+"+t.recordRef()+":"+t.recordRef())
	}
	if err := t.git.fetch(ctx, t.o.Remote, nil, specs...); err != nil {
		return err
	}
	tip := origin + t.baseBranch
	out, err := t.git.out(ctx, "for-each-ref", "--format=%(objectname) %(tree) %(refname)", "refs/tags/", tip)
	if err != nil {
		return fmt.Errorf("reading what was fetched: %w", err)
	}
	t.tags, t.record = map[string]string{}, t.pushed.record
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		if tag, ok := strings.CutPrefix(f[len(f)-1], "refs/tags/"); ok {
			t.tags[tag] = f[0]
		} else if len(f) == 3 {
			t.base, t.baseTree = f[0], f[1]
		}
	}
	if t.pushed.branch != "" && !t.o.Fresh {
		return t.begin(ctx, t.base, t.pushed.branch)
	}
	t.head, t.headTree = t.base, t.baseTree
	return nil
}

// begin settles base and head: at the tip of the base branch, or where the run's earlier work left that.
func (t *history) begin(ctx context.Context, tip, work string) error {
	if work != "" {
		if err := t.UseBase(ctx, tip); err != nil {
			return err
		}
		t.newest = [2]string{t.base, t.baseTree}
		out, err := t.git.out(ctx, "merge-base", tip, work)
		if err != nil {
			return fmt.Errorf("the branch %s has no commit in common with %s: rename or delete it, then ask again", t.branch,
				t.baseBranch)
		}
		tip = strings.TrimSpace(out)
	}
	if err := t.UseBase(ctx, tip); err != nil {
		return err
	}
	t.head, t.headTree = t.base, t.baseTree
	if work == "" {
		return nil
	}
	out, err := t.git.out(ctx, "rev-parse", work+"^{commit}", work+"^{tree}")
	if ids := strings.Fields(out); err == nil && len(ids) == 2 {
		t.head, t.headTree = ids[0], ids[1]
		return nil
	}
	return fmt.Errorf("reading the branch %s: %w", t.branch, err)
}

// BeginFresh makes Start begin at the base again, where the base branch is now, as Options.Fresh does; for callers that
// know it only after they have read the run record.
func (t *Tree) BeginFresh() {
	t.o.Fresh = true
	if t.newest[0] != "" {
		t.base, t.baseTree = t.newest[0], t.newest[1]
	}
	t.head, t.headTree = t.base, t.baseTree
}

// BeginAgain makes Start begin at the commit that UseBase has named, and archive what an earlier run has left on the
// origin's branch: for a fresh run that was killed before its first commit.
func (t *Tree) BeginAgain() {
	if t.pushed.branch != "" {
		t.o.Fresh = true
		t.head, t.headTree = t.base, t.baseTree
	}
}

// CheckoutOf makes a checkout of the clone that dir is in, below o.Root, or opens the one that a run has left there. It
// shares the clone's objects; its index, HEAD, refs and configuration are its own. base is a branch or a commit of the
// clone, "" is where it stands. Nothing of the clone is written before Start.
func CheckoutOf(ctx context.Context, dir string, o Options, base, branch string) (*Tree, error) {
	t := &Tree{history: newHistory(o, branch)}
	if err := t.leaks.refuseName(branch, o.Task); err != nil {
		return nil, err
	}
	u, err := openUsers(ctx, dir, o.Env)
	if err != nil {
		return nil, err
	}
	c := &clone{users: *u, tip: tipRefs + o.Task}
	t.origin, t.common = c, c.common
	if err := c.unlock(c.refLocks(t.ref()), o.Killed, t.o.log); err != nil {
		return nil, err
	}
	if err := t.layBeside(ctx, c); err != nil {
		return nil, err
	}
	t.baseBranch = base
	if base == "" {
		base, t.baseBranch = c.head.commit, strings.TrimPrefix(c.head.ref, "refs/heads/")
	} else if o.Onto != "" {
		t.baseBranch = o.Onto
	}
	return t, t.beginAt(ctx, c, base)
}

// beginAt settles base and head, and that the branch is ours to work on.
func (t *Tree) beginAt(ctx context.Context, c *clone, base string) error {
	names := append([]string{t.ref(), c.tip, t.recordRef(), "refs/tags/", t.archived("*")}, inTheWay(t.ref())...)
	if !isID(base) {
		names = append(names, "refs/heads/"+base)
	}
	refs, _, err := c.refs(ctx, names...)
	if err != nil {
		return err
	}
	if ref := (remoteRefs{at: refs}).inTheWay(t.ref()); ref != "" {
		return fmt.Errorf("the branch %s is in the way of the run's branch %s: rename it, then run again", short(ref), t.branch)
	}
	t.tags = map[string]string{}
	for ref, id := range refs {
		if name, ok := strings.CutPrefix(ref, "refs/tags/"); ok {
			t.tags[name] = id
		}
	}
	at := refs["refs/heads/"+base]
	if at == "" && base == c.head.commit {
		at = base
	}
	if at == "" {
		at = c.door.at(ctx, base)
	}
	switch {
	case at == "" && t.o.Resume:
		return t.UseBase(ctx, base) // says what to do
	case at == "" && exists(filepath.Join(t.common, "shallow")):
		return fmt.Errorf("the clone is shallow and does not hold %s: run git fetch --unshallow, then run again", base)
	case at == "":
		return fmt.Errorf("%s is not a commit or branch of this clone: name another base", base)
	}
	if len(t.o.With) > 0 && !t.o.Resume {
		t.ground = at
		if at, err = t.mergeAll(ctx, at, t.o.With); err != nil {
			return err
		}
	}
	t.pushed = pushed{refs[t.ref()], refs[t.recordRef()], refs[c.tip]}
	t.record = t.pushed.record
	if t.pushed.branch != "" && !t.o.Ours {
		return fmt.Errorf("the branch %s exists, and nothing shows that ralph has made it: rename or delete it, or choose "+
			"another name", t.branch)
	}
	work, tip := t.pushed.branch, t.pushed.tip
	if slices.Contains(t.o.Replaces, work) {
		work = ""
	}
	if slices.Contains(t.o.Replaces, tip) {
		tip = ""
	}
	// a run that began again, and has not come to move the branch
	t.aside = t.o.Fresh || t.o.Resume && work != "" && refs[t.archived(work)] == work
	if t.aside {
		work = ""
	}
	if !t.o.Fresh && t.o.Ours && tip != "" && !c.forward(ctx, tip, at) && !c.forward(ctx, tip, work) {
		if work = tip; !t.aside {
			t.pushed.branch = c.door.meet(ctx, tip, t.pushed.branch)
		}
	}
	if work == "" && at == c.head.commit {
		t.base, t.baseTree, t.head, t.headTree = at, c.tree, at, c.tree
		return nil
	}
	return t.begin(ctx, at, work)
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

// branchError says that the remote has no branch of a given name, or cannot have one.
type branchError struct{ said string }

func badBranch(format string, args ...any) error { return &branchError{fmt.Sprintf(format, args...)} }

func (e *branchError) Error() string { return e.said }

// Invalid reports that the input is wrong.
func (e *branchError) Invalid() bool { return true }
