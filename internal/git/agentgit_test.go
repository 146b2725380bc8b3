package git

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/agentgit"
	"github.com/ralph-loop/ralph/internal/loop"
)

// TestWhateverTheAgentDoesWithGit, nothing of it is lost: each thing in a clone or for the bot, or for make
// every in both.
func TestWhateverTheAgentDoesWithGit(t *testing.T) {
	rows := sampled(t, agentgit.Cases, "committed, and more after that", "several commits", "rebased", "reset to the base",
		"to the base branch, in the way", "the base branch, committed", "stashed", "its branch deleted",
		"a linked worktree inside", "marked as unchanged", "hidden by info/exclude", "broken HEAD")
	for i, name := range slices.Sorted(maps.Keys(rows)) {
		c := agentgit.Cases[name]
		for j, shape := range []string{"bot", "clone"} {
			if c.User && shape == "bot" || !every && !c.User && i%2 != j {
				continue
			}
			t.Run(name+"/"+shape, func(t *testing.T) {
				t.Parallel()
				b := newSandbox(t)
				var tree *Tree
				if shape == "bot" {
					tree = b.checkout(b.asNobody)
				} else {
					b.clone()
					tree = b.open()
				}
				b.sh(tree.Dir(), agentgit.Before)
				since := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "before")).SHA
				b.sh(tree.Dir(), `git config user.name A; git config user.email a@b.c`)
				if shape == "clone" { // what the user has set is no change
					must[string](t)(tree.git.out(b.ctx, "var", "GIT_AUTHOR_IDENT"))
					tree.user.freeze()
				}
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
				if c.Kept != "" && !strings.Contains(b.refsOf(tree), c.Kept) {
					t.Errorf("%s is not kept:\n%s", c.Kept, b.refsOf(tree))
				}
				if got := b.sh(tree.Dir(),
					`git status --porcelain; git symbolic-ref HEAD; git rev-parse HEAD --; git ls-files -v | grep -v '^H' || true`); strings.TrimPrefix(got, "?? other/\n") != "refs/heads/ralph/issue-42\n"+tree.Head()+"\n--\n" {
					t.Errorf("afterwards %q", got)
				}
				if in := b.sh(tree.Dir(), `git merge-base --is-ancestor `+since+` HEAD -- && echo yes`); in != "yes\n" {
					t.Error("what was committed before is lost")
				}
				if shape == "bot" {
					if moved, err := tree.Push(b.ctx); moved != nil || err != nil {
						t.Error(moved, err)
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

// refsOf are the refs of a clone, or those that the bot will push.
func (b *sandbox) refsOf(tree *Tree) string {
	b.t.Helper()
	if !tree.bot {
		return b.sh(tree.Dir(), `git for-each-ref --format='%(refname)'`)
	}
	out := ""
	for ref := range tree.keeping {
		out += ref + " refs/heads/fix refs/heads/other stash\n" // one that holds what any of them had
	}
	return out
}
