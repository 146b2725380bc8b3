package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/files"
)

// origin is where a run's work comes from and goes to: a remote, or the clone of a person on this machine.
type origin interface {
	// list says where refs are; a pattern without a star is the full name of one.
	list(ctx context.Context, patterns ...string) (remoteRefs, error)
	// fetch brings refspecs into the harness's repository.
	fetch(ctx context.Context, specs ...string) error
	// push moves refs, all or none. The error is a *staleError when one of them is not where a move says.
	push(ctx context.Context, moves []move) error
	// hold keeps a commit, the run's first or newest, until its branch has it, and says as what; empty: that is not needed.
	hold(ctx context.Context, commit, branch string) (ref string, err error)
	// bring checks a commit out in a working tree, with an index, and brings the contents that are not here.
	bring(ctx context.Context, commit, work, index string) error
	// gone returns an error if the origin was removed or replaced.
	gone() error
}

// move is what a push does to one ref.
type move struct {
	ref string
	to  string // a commit; "" deletes the ref
	// leased moves the ref only from where we know it to be; "" is that there is none.
	leased bool
	from   string
}

// clone is the origin of a run on a laptop: the objects are there already, so only refs move. They do in one
// transaction, without a hook. Nothing else of the clone is touched: a branch that is checked out somewhere is not moved
// under whoever works there; what it should be is kept at the tip instead.
type clone struct {
	users
	tip    string            // "refs/ralph/tip/issue-42"
	tips   string            // the commit that the tip is at, as far as we have moved it
	config map[string]string // what git's configuration says there, each key as it was set last
	// held is the branch that stands still, and the directory that it is checked out in.
	held [2]string
}

// tipRefs is where the newest commit of a task is held until its branch has it.
const tipRefs = "refs/ralph/tip/"

// TipTask is the task that a ref holds the newest commit of.
func TipTask(ref string) (task string, ok bool) { return strings.CutPrefix(ref, tipRefs) }

// errHeld says that the branch is checked out, so the push left it.
var errHeld = errors.New("the branch is checked out, so it is not moved")

func (c *clone) list(ctx context.Context, patterns ...string) (remoteRefs, error) {
	at, _, err := c.refs(ctx, patterns...)
	return remoteRefs{at: at}, err
}

// refs are refs with the commits that they are at, and the working trees that branches are checked out in.
func (c *clone) refs(ctx context.Context, patterns ...string) (at, used map[string]string, err error) {
	all, err := c.door.refs(ctx, patterns...)
	at, used = map[string]string{}, map[string]string{}
	for _, r := range all {
		at[r.ref], used[r.ref] = r.commit, r.used
	}
	return at, used, err
}

// fetch makes refs of the harness's repository what refs of the clone are. Their objects are there.
func (c *clone) fetch(context.Context, ...string) error { return nil }

func (c *clone) push(ctx context.Context, moves []move) error {
	names := []string{c.tip}
	for _, m := range moves {
		names = append(names, m.ref)
	}
	now, used, err := c.refs(ctx, names...)
	if err != nil {
		return err
	}
	in, held := "start\n", false
	tip := now[c.tip]
	for _, m := range moves {
		if m.leased && strings.HasPrefix(m.ref, "refs/heads/") && used[m.ref] != "" {
			if c.held = [2]string{m.ref, used[m.ref]}; tip != m.to {
				in += transaction(c.tip, tip, m.to)
			}
			held, tip = true, m.to
			continue
		}
		if m.ref == c.held[0] {
			c.held = [2]string{}
		}
		// one that its user has deleted is made again
		if m.leased && now[m.ref] != m.from && now[m.ref] != "" && !c.forward(ctx, now[m.ref], m.to) {
			return &staleError{short(m.ref) + " is at " + now[m.ref]}
		}
		in += transaction(m.ref, now[m.ref], m.to)
		if m.leased && tip != "" && m.ref != c.tip && strings.HasPrefix(m.ref, "refs/heads/") {
			in, tip = in+transaction(c.tip, tip, ""), "" // the branch has it now
		}
	}
	in += "prepare\ncommit\n"
	_, stderr, err := c.door.run(ctx, call{in: strings.NewReader(in), args: []string{"update-ref", "--stdin"}})
	switch {
	case err != nil && strings.Contains(stderr, "but expected"):
		return &staleError{lastLine(stderr)}
	case err != nil:
		return fmt.Errorf("moving refs of %s: %w", c.top, err)
	}
	if c.tips = tip; held {
		return errHeld
	}
	return nil
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

// forward reports whether a commit continues from where a branch is: its user has taken up what the tip had.
func (c *clone) forward(ctx context.Context, from, to string) bool {
	if from == "" || to == "" {
		return false
	}
	on, err := c.door.contains(ctx, to, from)
	return err == nil && on
}

func (c *clone) gone() error { return c.check() }

func (c *clone) hold(ctx context.Context, commit, branch string) (ref string, err error) {
	if err := excludeRuntimeFiles(c.common); err != nil {
		return "", fmt.Errorf("keeping ralph's own files out of commits: %w", err)
	}
	if commit == branch {
		return "", nil
	}
	if _, err := c.door.out(ctx, "update-ref", c.tip, commit); err != nil {
		return "", fmt.Errorf("holding commit %.12s in %s: %w", commit, c.top, err)
	}
	c.tips = commit
	return c.tip, nil
}

// bring checks a commit out by the clone's own repository, which fetches what it lacks.
func (c *clone) bring(ctx context.Context, commit, work, index string) error {
	_, _, err := c.door.run(ctx, call{args: []string{"read-tree", "--reset", "-u", commit},
		env: []string{"GIT_WORK_TREE=" + work, "GIT_INDEX_FILE=" + index}})
	if err != nil {
		return fmt.Errorf("fetching what the clone lacks of commit %.12s: %w; run git checkout %.12[1]s in the clone while "+
			"its remote can be reached, then run again", commit, err)
	}
	return nil
}

// CheckoutOf makes a checkout of the clone that dir is in, below o.Root, or takes up the one that a run has left there.
// It shares the clone's objects; its index, HEAD, refs and configuration are its own. base is a branch or a commit of
// the clone, "" is where it stands. Nothing of the clone is written before Start.
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

// refLocks are the locks of the refs that a run moves. No other lock of its user's is in its way.
func (c *clone) refLocks(branch string) (found []string) {
	for _, name := range []string{"packed-refs.lock", branch + ".lock"} {
		if name = filepath.Join(c.common, filepath.FromSlash(name)); exists(name) {
			found = append(found, name)
		}
	}
	for _, dir := range []string{"refs/ralph", "refs/heads/wip"} {
		found = append(found, locksBelow(filepath.Join(c.common, filepath.FromSlash(dir)))...)
	}
	return found
}

// beginAt settles base and head, and that the branch is ours to work on.
func (t *Tree) beginAt(ctx context.Context, c *clone, base string) error {
	names := append([]string{t.ref(), c.tip, t.recordRef(), "refs/tags/", t.archived("*")}, inTheWay(t.ref())...)
	if !fullID.MatchString(base) {
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

// Held says where the run's branch is checked out, and the command that takes the new work there, when it was not moved
// because someone works there.
func (t *Tree) Held() (dir, command string) {
	c, ok := t.origin.(*clone)
	switch {
	case !ok || c.held[0] != t.ref():
		return "", ""
	case t.aside: // what it has is of the run before, and is kept
		return c.held[1], "git reset --keep " + c.tip
	}
	return c.held[1], "git merge " + c.tip
}

// keepLying keeps what is in the checkout of an earlier process and is in no commit under a ref: a run that begins
// again has no use for it.
func (t *Tree) keepLying(ctx context.Context) error {
	if !exists(t.index) || !exists(filepath.Join(t.work, ".git")) {
		return nil
	}
	at := t.git.at(ctx, t.ref())
	if at == "" { // nothing was checked out yet
		return nil
	}
	ref, err := t.keepFiles(ctx, at)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil: // no one can begin again for as long as it is there
		t.o.log("git: what an earlier run has left uncommitted is not kept: %v", err)
	case ref != "":
		t.o.log("what an earlier run has left uncommitted is kept as %s", ref)
	}
	return nil
}

// keepFiles keeps the working tree as it is, on top of a commit. ref is empty when that has all of it.
func (t *Tree) keepFiles(ctx context.Context, at string) (ref string, err error) {
	if err := t.findLinks(ctx); err != nil {
		return "", err
	}
	changed, _, err := t.stage(ctx, at, false)
	if err != nil || !changed {
		return "", err
	}
	tree, _, err := t.treesOf(ctx, at)
	if err != nil {
		return "", err
	}
	made, err := t.objects.commit(ctx, newCommit{tree: tree, parents: []string{at},
		message: "ralph: what an earlier run has left"})
	if err != nil {
		return "", err
	}
	if ref, err = t.keepCommit(ctx, made); err != nil {
		return "", err
	}
	return ref, t.pushRefs(ctx, move{ref: ref, to: made})
}

// Remove removes the checkout of a finished run, and its tip if a branch has that commit.
func (t *Tree) Remove(ctx context.Context) error {
	if err := RemoveCheckout(t.o.Root); err != nil {
		return err
	}
	if c, ok := t.origin.(*clone); ok && c.tips != "" && c.tips == t.base && c.held[0] == "" {
		return c.push(ctx, []move{{ref: c.tip}})
	}
	return nil
}

// RemoveCheckout removes a checkout of a clone.
func RemoveCheckout(root string) error {
	if err := files.RemoveAll(root); err != nil {
		return fmt.Errorf("removing the checkout %s: %w", root, err)
	}
	return nil
}
