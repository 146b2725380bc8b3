package git

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestOverlaid: files are as another commit has them, gone where it has none, or hold what is given; the rest is as it
// was, and neither the branch nor the working tree moves.
func TestOverlaid(t *testing.T) {
	b := newSandbox(t)
	b.clone()
	tree := b.open()
	b.sh(tree.Dir(), `echo changed >a.txt; rm sub/b.txt; echo new >new.txt; echo other >other.txt; chmod +x other.txt`)
	c := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "work"))
	made := must[string](t)(tree.Overlaid(b.ctx, c.SHA, Overlay{
		From: b.base, Names: []string{"a.txt", "sub/b.txt", "new.txt"},
		Contents: map[string][]byte{"other.txt": []byte("given\n"), "not there": []byte("no")},
	}))
	if got := b.sh(tree.Dir(), `git diff --name-status `+b.base+` `+made+`; git show `+made+`:other.txt; git ls-tree `+
		made+
		` other.txt | cut -c1-6; git rev-parse HEAD --; git status --porcelain`); got != "A\tother.txt\ngiven\n100755\n"+
		c.SHA+"\n--\n" {
		t.Errorf("the commit:\n%s", got)
	}
	j := b.judge(tree)
	must[[]string](t)(j.Use(b.ctx, made))
	if got := b.sh(j.Dir(), `cat other.txt; ls new.txt 2>&1 | grep -c 'No such'`); got != "given\n1\n" {
		t.Errorf("the tree of the checks: %q", got)
	}
}
