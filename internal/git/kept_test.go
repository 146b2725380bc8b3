package git

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestUntrackedFilesStayTheUsers: also those that a .gitignore of the tree takes back in, over a whole run and one that
// is taken up again.
func TestUntrackedFilesStayTheUsers(t *testing.T) {
	b := newSandbox(t)
	dir := b.clone()
	b.sh(dir,
		`mkdir -p conf 'odd dir'; printf '*\n!.gitignore\n!mine*\n' >conf/.gitignore; echo s >conf/mine.json; echo s >'conf/mine [2].json'; echo x >'odd dir/own.txt'`)
	before := b.sh(dir, `git status --porcelain -uall`)
	tree := b.open()
	check := func(tree *Tree, since string) loop.Commit {
		t.Helper()
		b.sh(dir, `date +%N >>work.txt; echo tmp >left.txt`)
		c := must[loop.Commit](t)(tree.Commit(b.ctx, since, "work"))
		b.sh(dir, `echo made >by-a-check.txt`)
		if err := tree.Restore(b.ctx); err != nil {
			t.Fatal(err)
		}
		if got := b.sh(dir, `git status --porcelain -uall`); got != before {
			t.Fatalf("status\n%s\nwant\n%s", got, before)
		}
		if got := b.files(tree, c.SHA); !strings.Contains(got, "left.txt") || strings.Contains(got, "mine") ||
			strings.Contains(got, "own.txt") {
			t.Fatalf("committed:\n%s", got)
		}
		return c
	}
	c := check(tree, b.base)
	b.sh(dir, `echo agent >killed.txt; git status --porcelain`)
	again := b.open(func(o *Options) { o.Resume = true })
	b.sh(dir, `rm killed.txt`)
	check(again, c.SHA)
}
