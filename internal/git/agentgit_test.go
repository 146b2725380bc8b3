package git

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/agentgit"
	"github.com/ralph-loop/ralph/internal/loop"
)

// TestWhateverTheAgentDoesWithGit, nothing of it is lost: each thing in a clone or for the bot, or for make
// every in both.
func TestWhateverTheAgentDoesWithGit(t *testing.T) {
	rows := sampled(t, agentgit.Cases, "committed, and more after that", "several commits", "ignored, committed on purpose", "a new root", "rebased", "reset to the base",
		"to the base branch, in the way", "the base branch, committed", "stashed", "its branch deleted",
		"a linked worktree inside", "an empty repository in the tree", "marked as unchanged", "hidden by info/exclude", "broken HEAD")
	for i, name := range slices.Sorted(maps.Keys(rows)) {
		c := agentgit.Cases[name]
		for j, shape := range []string{"bot", "clone"} {
			if !every && i%2 != j {
				continue
			}
			t.Run(name+"/"+shape, func(t *testing.T) {
				t.Parallel()
				b := newSandbox(t)
				tree := b.work(shape)
				b.sh(tree.Dir(), agentgit.Before)
				since := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "before")).SHA
				b.sh(tree.Dir(), `git config user.name A; git config user.email a@b.c`)
				b.sh(tree.Dir(), c.Do)
				got := must[loop.Commit](t)(tree.Commit(b.ctx, since, "ours"))
				if !strings.Contains(got.Note, c.Note) || c.Note == "" && got.Note != "" &&
					!strings.Contains(got.Note, "was made during the turn") {
					t.Errorf("note %q, want %q", got.Note, c.Note)
				}
				b.holds(tree, got.SHA, c.Want)
				if c.Has != "" && !strings.Contains(b.sh(tree.Dir(), `git log --format=%s HEAD --`), c.Has+"\n") {
					t.Errorf("the history does not have %q", c.Has)
				}
				if (len(tree.keeping) > 0) != c.Kept {
					t.Errorf("kept is %v", tree.keeping)
				}
				kept := map[string]string{tree.ref(): got.SHA}
				maps.Copy(kept, tree.keeping)
				if got := b.sh(tree.Dir(),
					`git status --porcelain; git symbolic-ref HEAD; git rev-parse HEAD --; git ls-files -v | grep -v '^H' || true`); strings.TrimPrefix(got, "?? other/\n") != "refs/heads/ralph/issue-42\n"+tree.Head()+"\n--\n" {
					t.Errorf("afterwards %q", got)
				}
				if in := b.sh(tree.Dir(), `git merge-base --is-ancestor `+since+` HEAD -- && echo yes`); in != "yes\n" {
					t.Error("what was committed before is lost")
				}
				if moved, err := tree.Push(b.ctx); moved != nil || err != nil {
					t.Error(moved, err)
				}
				origin := b.remote
				if shape == "clone" {
					origin = filepath.Join(b.dir, "clone")
				}
				b.as = nil
				for ref, id := range kept {
					if at := strings.TrimSpace(b.sh(origin, `git rev-parse '`+ref+`'`)); at != id {
						t.Errorf("%s is at %s there, want %s", ref, at, id)
					}
				}
				b.quiet()
			})
		}
	}
}

// holds compares files of a commit.
func (b *sandbox) holds(tree *Tree, commit string, want map[string]string) {
	b.t.Helper()
	for name, content := range want {
		text, ok, err := tree.Read(b.ctx, commit, name, 1<<20)
		if err != nil || string(text) != content || ok != (content != "") {
			b.t.Errorf("%s is %q (%v, %v), want %q", name, text, ok, err, content)
		}
	}
}
