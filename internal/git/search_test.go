package git

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestSearch: what is read of a commit is the same whatever the clone's owner likes, and follows no link.
func TestSearch(t *testing.T) {
	b := newSandbox(t)
	dir := b.clone()
	b.sh(dir,
		`git config grep.patternType perl; git config grep.lineNumber false; git config grep.column true; git config color.grep always; git config grep.fullName false`)
	tree := b.open()
	b.sh(tree.Dir(), `mkdir -p pkg .ralph/prompts && mkdir -p 'odd
pkg'; printf 'x\nfunc foo() {}\nfooled\n' >pkg/a.go; printf 'foo\0' >pkg/bin; printf 'a.b\naxb\n' >pkg/b.txt; ln -s /etc/passwd pkg/link
echo hi >.ralph/prompts/implement.md; printf 'foo\n' >'odd
pkg/a.go'`)
	b.sh(tree.Dir(), `git add -A -f && git commit -qm more`)
	c := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "none")).SHA

	hits := must[[]Hit](t)(tree.Grep(b.ctx, c, []string{"foo", "a.b", "-none"}))
	if want := []Hit{{"pkg/a.go", 2, "func foo() {}"}, {"pkg/b.txt", 1, "a.b"}}; !reflect.DeepEqual(hits, want) {
		t.Errorf("found %+v, want %+v", hits, want)
	}
	if none := must[[]Hit](t)(tree.Grep(b.ctx, c, []string{"nothing_like_it"})); len(none) != 0 {
		t.Errorf("found %+v", none)
	}
	sizes := map[string]int{}
	for _, e := range must[[]Entry](t)(tree.Files(b.ctx, c)) {
		sizes[e.Path] = e.Size
	}
	if _, link := sizes["pkg/link"]; link || sizes["pkg/a.go"] != 23 || sizes["odd\npkg/a.go"] != 4 {
		t.Errorf("the files are %v", sizes)
	}
	if names := must[[]string](t)(tree.Names(b.ctx, c, ".ralph/prompts")); fmt.Sprint(names) != "[implement.md]" {
		t.Errorf("the directory holds %q", names)
	}
	if names := must[[]string](t)(tree.Names(b.ctx, b.base, ".ralph/prompts")); len(names) != 0 {
		t.Errorf("a directory that is not there holds %q", names)
	}
}

// TestLook: reading changes nothing, also in a working tree that no run could begin in.
func TestLook(t *testing.T) {
	b := newSandbox(t)
	dir := b.clone()
	b.sh(dir, `echo changed >>a.txt`)
	state :=
		`git status --porcelain; git rev-parse HEAD; find .git -type f | sort | xargs sha1sum | grep -v ' .git/index$'`
	before := b.sh(dir, state)
	tree := must[*Tree](t)(Look(b.ctx, filepath.Join(dir, "sub"), testEnv(b.home), "ralph/x"))
	if tree.Dir() != dir || tree.Base() != b.base || tree.BaseBranch() != "main" || tree.Branch() != "ralph/x" {
		t.Errorf("%s %s %s %s", tree.Dir(), tree.Base(), tree.BaseBranch(), tree.Branch())
	}
	if _, ok, err := tree.File(b.ctx, tree.Base(), "a.txt"); !ok || err != nil {
		t.Error(ok, err)
	}
	if got := must[string](t)(tree.TreeOf(b.ctx, "HEAD")); got != strings.TrimSpace(b.sh(dir,
		`git rev-parse HEAD^{tree}`)) {
		t.Errorf("the tree is %s", got)
	}
	if after := b.sh(dir, state); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}
