package git

import (
	"errors"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// TestBaseHoldsWorkOfOthers: a run that others' work is needed for begins from that, merged, and from nothing else.
func TestBaseHoldsWorkOfOthers(t *testing.T) {
	b := newSandbox(t)
	dir := b.clone()
	work := func(name, from, script string) Work {
		b.sh(dir, `git checkout -q -b `+name+` `+from+`; `+script+`; git add -A; git commit -qm `+name+
			`; git checkout -q main`)
		return Work{name, strings.TrimSpace(b.sh(dir, `git rev-parse `+name))}
	}
	one, two := work("one", "main", "echo 1 >one"), work("two", "main", "echo 2 >two")
	both := work("both", "one", "echo 3 >three")
	theirs := work("theirs", "main", `sed -i s/one/uno/ a.txt; echo x >sub/b.txt`)
	ours := work("ours", "main", `sed -i s/one/eins/ a.txt; echo y >sub/b.txt`)
	b.sh(dir, `git checkout -q main; echo later >later; git add later; git commit -qm later`)
	later := strings.TrimSpace(b.sh(dir, `git rev-parse main`))
	open := func(base string, with ...Work) (*Tree, error) {
		o := b.cliOptions()
		o.With, o.Onto = with, "main"
		return CheckoutOf(b.ctx, dir, o, base, "ralph/issue-42")
	}
	for _, c := range []struct {
		name, base, files string
		with              []Work
		is                string // the base; empty: a merge
	}{
		{"nothing", b.base, "", nil, b.base},
		{"one", b.base, "one", []Work{one}, one.Commit},
		{"one that holds the other", b.base, "one three", []Work{one, both}, both.Commit},
		{"the other way round", b.base, "one three", []Work{both, one}, both.Commit},
		{"two", b.base, "one two", []Work{one, two}, ""},
		{"one, and the base has moved", later, "later one", []Work{one}, ""},
		{"one that the base has", one.Commit, "one", []Work{one}, one.Commit},
	} {
		tree, err := open(c.base, c.with...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if c.is != "" && tree.Base() != c.is || c.is == "" && (tree.Base() == c.base || tree.Ground() != c.base) {
			t.Errorf("%s: base %s, ground %s", c.name, tree.Base(), tree.Ground())
		}
		if got := safetext.OneLine(b.sh(dir, `git diff --name-only `+b.base+` `+tree.Base())); got != c.files {
			t.Errorf("%s: files %q, want %q", c.name, got, c.files)
		}
		again, err := open(c.base, c.with...)
		if err != nil || again.Base() != tree.Base() {
			t.Errorf("%s: the second time the base is %v (%v)", c.name, again, err)
		}
	}
	_, err := open(b.base, one, theirs, ours)
	var conflict *MergeError
	if !errors.As(err, &conflict) ||
		conflict.Error() != "theirs and ours do not merge: they change the same lines of a.txt and sub/b.txt" {
		t.Errorf("%v", err)
	}
	b.sh(dir, `git checkout -q main; sed -i s/one/un/ a.txt; git commit -qam base`)
	if _, err := open("main", theirs); !errors.As(err, &conflict) || conflict.Names[0] != "the base" {
		t.Errorf("%v", err)
	}
	if got := b.sh(dir,
		`git status --porcelain; git branch --list 'ralph/*'; git branch --show-current`); got != "main\n" {
		t.Errorf("the clone was touched: %s", got)
	}
}
