package git

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/proc"
)

// agentRepo is a repository made for an agent: a few plain files that borrow the objects of ours. It is written again
// each time that the agent has touched it, so nothing put into it (hooks, configuration, a half-done rebase) outlives
// the iteration.
type agentRepo struct {
	head    string            // what HEAD holds: a commit, or "ref: refs/heads/…"
	refs    map[string]string // full name → commit
	index   string            // the index to copy
	objects []string          // where it finds its objects, as whoever works in it sees them
	sparse  []byte            // its sparse-checkout patterns; nil: it has none
}

// writeRepo makes .git in the directory, whatever was there. Names in it are only ever resolved inside the directory,
// so a link that an agent planted leads nowhere.
func (t *checkout) writeRepo(dir string, r agentRepo) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.RemoveAll(".git"); err != nil { // directories that their owner may not write
		err = chmod(filepath.Join(dir, ".git"), 0o755, 0)
		if err = errors.Join(err, root.RemoveAll(".git")); err != nil {
			return fmt.Errorf("making the agent's repository: %w", err)
		}
	}
	files := []struct{ name, text string }{
		{".git/HEAD", r.head + "\n"},
		{".git/config", t.agentConfig(r)},
		{".git/packed-refs", r.packed()},
		{".git/info/exclude", string(readQuietly(t.o.excludes()))},
		{".git/objects/info/alternates", strings.Join(r.objects, "\n") + "\n"},
	}
	for name, text := range map[string][]byte{".git/info/sparse-checkout": r.sparse, ".git/info/attributes": t.attributes} {
		if text != nil {
			files = append(files, struct{ name, text string }{name, string(text)})
		}
	}
	if shallow, err := os.ReadFile(filepath.Join(t.common, "shallow")); err == nil {
		files = append(files, struct{ name, text string }{".git/shallow", string(shallow)})
	}
	for _, d := range []string{".git", ".git/refs", ".git/info", ".git/objects", ".git/objects/info"} {
		if err := root.Mkdir(d, 0o755); err != nil {
			return fmt.Errorf("making the agent's repository: %w", err)
		}
	}
	for _, f := range files {
		if err := root.WriteFile(f.name, []byte(f.text), 0o644); err != nil {
			return fmt.Errorf("making the agent's repository: %w", err)
		}
	}
	if err = copyInto(root, ".git/index", r.index); err == nil && t.keys != "" {
		err = root.Symlink(t.keys, ".git/git-crypt")
	}
	if err != nil {
		return fmt.Errorf("making the agent's repository: %w", err)
	}
	return nil
}

func copyInto(root *os.Root, name, from string) error {
	content, err := os.ReadFile(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return root.WriteFile(name, content, 0o644)
}

func (t *checkout) agentConfig(r agentRepo) string {
	var b strings.Builder
	b.WriteString("[core]\n\trepositoryFormatVersion = 0\n\tbare = false\n")
	if t.hash().Size() == sha256.Size {
		b.WriteString("\trepositoryFormatVersion = 1\n[extensions]\n\tobjectFormat = sha256\n")
	}
	if r.sparse != nil {
		b.WriteString("[core]\n\tsparseCheckout = true\n")
	}
	b.Write(t.contents)
	if t.o.Identity.Name != "" {
		fmt.Fprintf(&b, "[user]\n\tname = %s\n\temail = %s\n", quoted(t.o.Identity.Name), quoted(t.o.Identity.Email))
	}
	if t.o.Remote.URL != "" {
		fmt.Fprintf(&b, "[remote \"origin\"]\n\turl = %s\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
			quoted(t.o.Remote.shown()))
	}
	return b.String()
}

// handOver gives the agent its repository as the run stands, with the files that belong to it.
func (t *history) handOver(ctx context.Context) error {
	refs := t.refsToHand()
	t.handedAs = refs
	r := agentRepo{head: "ref: " + t.ref(), refs: refs, index: t.index, sparse: t.sparse,
		objects: []string{t.store()}}
	if err := t.writeRepo(t.work, r); err != nil {
		return err
	}
	return giveAll(t.work, ".git", t.o.As)
}

// refsToHand are the refs that the agent's repository is given.
func (t *history) refsToHand() map[string]string {
	refs := map[string]string{t.ref(): t.head}
	if t.baseBranch != t.branch && t.baseBranch != "" {
		refs["refs/heads/"+t.baseBranch], refs["refs/remotes/origin/"+t.baseBranch] = t.base, cmp.Or(t.baseNow, t.base)
	}
	for name, id := range t.tags {
		refs["refs/tags/"+name] = id
	}
	return refs
}

func (r agentRepo) packed() string {
	var b strings.Builder
	for name, commit := range r.refs {
		fmt.Fprintf(&b, "%s %s\n", commit, name)
	}
	return b.String()
}

// give gives files of the working tree to the agent's user, and the directories that lead to them.
func (t *checkout) give(names []string) error {
	if err := giveFiles(t.work, names, t.o.As); err != nil {
		return fmt.Errorf("giving the files to the agent's user: %w", err)
	}
	return nil
}

// giveTree gives a tree that the door's index has just been checked out to, to the user whom agents work as. Its files
// have another time of change then, so git reads them once more.
func (d door) giveTree(ctx context.Context, dir string, as *proc.User) error {
	if as == nil {
		return nil
	}
	err := giveAll(dir, ".", as)
	if err == nil {
		_, err = d.out(ctx, "update-index", "-q", "--refresh")
	}
	return ignore(err)
}

// union are the keys of two maps, in order.
func union[A, B any](a map[string]A, b map[string]B) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}
