package git

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestOtherRunsBranch: what an agent does to the branch of another run is taken back, and kept; a branch of the user's
// stays where it was put, and so does one that another working tree stands on.
func TestOtherRunsBranch(t *testing.T) {
	b := newSandbox(t)
	dir := b.clone()
	b.sh(dir, `for n in ralph/issue-7 ralph/issue-8 mine; do git branch $n; done
		for n in 7 8; do mkdir -p .git/ralph/ralph%2Fissue-$n; echo >.git/ralph/ralph%2Fissue-$n/branch; done
		git worktree add -q ../other ralph/issue-8`)
	tree := b.open()
	since := tree.Head()
	b.sh(dir,
		`c=$(git commit-tree -p HEAD -m forged HEAD^{tree}); for n in ralph/issue-7 ralph/issue-8 mine; do git update-ref refs/heads/$n $c; done; echo 1 >work`)
	c := must[loop.Commit](t)(tree.Commit(b.ctx, since, "turn\n"))
	if !strings.Contains(c.Note, "the branch ralph/issue-7 of another run was moved during the turn, and is put back to "+
		since[:12]+"; what was put there is kept as refs/ralph/kept/") {
		t.Errorf("note: %s", c.Note)
	}
	if got := b.sh(dir,
		`git log -1 --format=%s ralph/issue-7; git log -1 --format=%s ralph/issue-8; git log -1 --format=%s mine; git for-each-ref --format='%(subject)' refs/ralph/kept`); got != "first\nforged\nforged\nforged\n" {
		t.Errorf("branches:\n%s", got)
	}
	// It stays there in the next turn, and one that is deleted comes back.
	b.sh(dir, `echo 2 >work`)
	c = must[loop.Commit](t)(tree.Commit(b.ctx, c.SHA, "turn\n"))
	if strings.Contains(c.Note, "issue-7") {
		t.Errorf("note: %s", c.Note)
	}
	b.sh(dir, `git branch -qD ralph/issue-7; echo 3 >work`)
	c = must[loop.Commit](t)(tree.Commit(b.ctx, c.SHA, "turn\n"))
	if got := b.sh(dir, `git log -1 --format=%s ralph/issue-7`); got != "first\n" ||
		!strings.Contains(c.Note, "is put back") {
		t.Errorf("%s, note: %s", got, c.Note)
	}
}
