package git

import (
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestPatch: a clone whose owner likes diffs in another form gives the same patch, which a program can read.
func TestPatch(t *testing.T) {
	b := newSandbox(t)
	dir := b.clone()
	b.sh(dir,
		`git config diff.noprefix true; git config diff.renames copies; git config diff.context 9; git config diff.external false; git config color.diff always`)
	tree := b.open()
	b.sh(tree.Dir(), `mv sub/b.txt sub/moved.txt; echo more >>a.txt; chmod +x .gitignore; printf 'a\nb' >'new"
file'; echo '*.txt -diff' >.gitattributes`)
	c := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "work"))
	patch, whole, err := tree.Patch(b.ctx, b.base, c.SHA, 1<<20)
	if err != nil || !whole {
		t.Fatal(whole, err)
	}
	for _, want := range []string{"diff --git a/a.txt b/a.txt\n", "diff --git a/sub/b.txt b/sub/b.txt\ndeleted file",
		"diff --git \"a/new\\\"\\nfile\"", "old mode 100644\nnew mode 100755\n",
		"Binary files a/a.txt and b/a.txt differ\n"} {
		if !strings.Contains(patch, want) {
			t.Errorf("the patch does not hold %q:\n%s", want, patch)
		}
	}
	if cut, whole, err := tree.Patch(b.ctx, b.base, c.SHA, 10); cut != "diff --git" || whole || err != nil {
		t.Errorf("%q %v %v", cut, whole, err)
	}
	names := must[[]string](t)(tree.Changed(b.ctx, b.base, c.SHA))
	if want := []string{".gitattributes", ".gitignore", "a.txt", "new\"\nfile", "sub/b.txt",
		"sub/moved.txt"}; !reflect.DeepEqual(names, want) {
		t.Errorf("changed = %q, want %q", names, want)
	}
}
