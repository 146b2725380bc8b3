package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake/need"
	"github.com/ralph-loop/ralph/internal/loop"
)

func (b *sandbox) judge(tree *Tree) *JudgeTree {
	b.t.Helper()
	j := must[*JudgeTree](b.t)(tree.OpenJudge(filepath.Join(b.dir, "trees", "clone"), nil))
	b.t.Cleanup(func() { j.Close() })
	return j
}

// TestJudgeTreeIsTheCommit: whatever the agent has in its own tree, the checks see what is committed, and what they
// leave does not stay.
func TestJudgeTreeIsTheCommit(t *testing.T) {
	for _, shape := range []string{"bot", "clone"} {
		t.Run(shape, func(t *testing.T) {
			b := newSandbox(t)
			var tree *Tree
			if shape == "bot" {
				b.sh(b.dir, `git -C seed tag v1; git -C seed push -q ../remote.git v1`)
				tree = b.checkout(b.asNobody)
			} else {
				b.sh(b.clone(), `git tag v1; echo mine >own.txt`)
				tree = b.open()
			}
			j := b.judge(tree)
			if lacking := must[[]string](t)(j.Use(b.ctx, b.base)); lacking != nil {
				t.Fatal(lacking)
			}
			b.sh(tree.Dir(),
				`echo work >>a.txt; mkdir lib; echo u >lib/util.log; git tag v2; git update-index --assume-unchanged sub/b.txt; echo x >sub/b.txt; printf '#!/bin/sh\n' >run; chmod +x run; ln -s run go`)
			c := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "work"))
			must[[]string](t)(j.Use(b.ctx, c.SHA))
			if got := b.sh(j.Dir(),
				`find . -path ./.git -prune -o -print | sort; cat sub/b.txt; test -x run; git status --porcelain; git rev-parse HEAD --; git symbolic-ref HEAD; git tag; git describe --tags --always; git diff --stat v1 -- | tail -n 1`); got !=
				".\n./.gitignore\n./.ralph\n./.ralph/settings.json\n./a.txt\n./go\n./link\n./run\n./sub\n./sub/b.txt\nx\n"+c.SHA+
					"\n--\nrefs/heads/ralph/issue-42\nv1\nv1-1-g"+c.SHA[:7]+"\n 4 files changed, 4 insertions(+), 1 deletion(-)\n" {
				t.Errorf("the tree of the checks:\n%s", got)
			}
			// What a check leaves: a changed file, a new one, an ignored one, marks in its own repository.
			b.sh(j.Dir(),
				`echo dirt >a.txt; git update-index --assume-unchanged a.txt; rm run; echo junk >junk; mkdir -p sub/new out; echo j >sub/new/j; echo l >sub/kept.log; git commit -qm mine --allow-empty 2>/dev/null || true; chmod 500 sub/new`)
			found := must[Strays](t)(j.Strays(b.ctx))
			if strings.Join(found.Changed, " ") != "a.txt run" || strings.Join(found.Others, " ") != "junk out/ sub/new/" {
				t.Errorf("changed: %q", found)
			}
			noError(t, j.Restore(b.ctx, found))
			if got := b.sh(j.Dir(),
				`git status --porcelain --ignored; git ls-files -v | grep -v '^H' || true; git rev-parse HEAD --`); got != "!! sub/kept.log\n"+c.SHA+"\n--\n" {
				t.Errorf("after a check: %q", got)
			}
			b.sh(j.Dir(), `mkdir -p dep/a cache; echo d >dep/a/x.log; echo d >dep/y.log; echo d >cache/z.log`)
			removed := must[[]string](t)(j.Wipe(b.ctx, []string{"dep/a/"}))
			if got := strings.Join(removed, " "); got != "cache/z.log dep/y.log sub/kept.log" {
				t.Errorf("removed %q", got)
			}
			if got := b.sh(j.Dir(), `git ls-files --others`); got != "dep/a/x.log\n" {
				t.Errorf("left %q", got)
			}
			if got := b.sh(tree.Dir(), `cat a.txt | tail -n 1; ls lib`); got != "work\nutil.log\n" {
				t.Errorf("the agent's tree was touched: %q", got)
			}
		})
	}
}

// TestJudgeTreeFollows the run: from commit to commit, over directories that become files, and back.
func TestJudgeTreeFollows(t *testing.T) {
	b := newSandbox(t)
	b.clone()
	tree := b.open()
	j := b.judge(tree)
	must[[]string](t)(j.Use(b.ctx, b.base))
	since := b.base
	for i, do := range []string{`rm -r sub; echo f >sub`, `rm sub; mkdir -p sub/deep; echo d >sub/deep/f`,
		`git mv sub/deep other; rm a.txt link; ln -s other link`, `git reset -q --hard ` + b.base} {
		b.sh(tree.Dir(), do)
		c := must[loop.Commit](t)(tree.Commit(b.ctx, since, "x"))
		b.sh(j.Dir(), `mkdir -p sub 2>/dev/null || true; echo left >sub/left.log 2>/dev/null || true; echo left >other.log`)
		must[[]string](t)(j.Use(b.ctx, c.SHA))
		if got := b.sh(j.Dir(), `git status --porcelain; git rev-parse HEAD^{tree} --`); got != c.Tree+"\n--\n" {
			t.Errorf("%d: %q", i, got)
		}
		since = c.SHA
	}
}

// TestJudgeTreeHasSubmodules as the clone had them before the turn, and as a newer base has them.
func TestJudgeTreeHasSubmodules(t *testing.T) {
	b := newSandbox(t)
	b.sh(b.dir,
		`git init -q lib; cd lib; echo 1 >f; git add f; git commit -qm 1; echo 2 >f; git commit -qam 2; git checkout -q HEAD~; cd ..
		git -c protocol.file.allow=always clone -q remote.git up; cd up; git -c protocol.file.allow=always submodule add -q ../lib dep; git commit -qm dep; git push -q origin main`)
	b.sh(b.dir,
		`git -c protocol.file.allow=always clone -q --recurse-submodules remote.git clone; printf '[user]\nname = Bob\nemail = bob@example.com\n' >"$HOME/.gitconfig"`)
	tree := b.open()
	j := b.judge(tree)
	if lacking := must[[]string](t)(j.Use(b.ctx, tree.Head())); lacking != nil {
		t.Fatal(lacking)
	}
	if got := b.sh(j.Dir(), `cat dep/f`); got != "1\n" {
		t.Fatal(got)
	}
	since := tree.Head()
	for _, c := range []struct{ do, want, f string }{
		{`git update-index --cacheinfo 160000,$(git -C ../../lib rev-parse master),dep; git commit -qm forward`, "", "2\n"},
		{`cd dep; git init -q; git add f; git commit -qm mine; cd ..; git add dep; git commit -qm own`, "the submodule dep is at", ""},
	} {
		b.sh(tree.Dir(), c.do)
		got := must[loop.Commit](t)(tree.Commit(b.ctx, since, "x"))
		lacking := must[[]string](t)(j.Use(b.ctx, got.SHA))
		if c.want == "" && (lacking != nil || b.sh(j.Dir(), `cat dep/f`) != c.f) || c.want != "" &&
			(len(lacking) != 1 || !strings.Contains(lacking[0], c.want)) {
			t.Errorf("%s: %q", c.do, lacking)
		}
		if dirty := must[Strays](t)(j.Strays(b.ctx)).Changed; dirty != nil {
			t.Error(dirty)
		}
		since = got.SHA
	}
	for _, c := range []struct{ moved, want string }{
		{`git -C ../lib commit -q --allow-empty -m 3; git -C ../lib rev-parse HEAD`, "1\n"},
		{`echo 1234567890123456789012345678901234567890`, "the submodule dep is at 123456789012 there, which its remote does not give"},
	} { // the base branch moves to another commit of the submodule
		b.sh(filepath.Join(b.dir, "up"), `git update-index --cacheinfo 160000,$(`+c.moved+`),dep; git commit -qm theirs; git push -q origin main`)
		base := must[string](t)(tree.NewestBase(b.ctx))
		merged, conflicts, err := tree.MergedWithBase(b.ctx, b.base, base)
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Error(err)
			}
			continue
		}
		lacking := must[[]string](t)(j.Use(b.ctx, merged))
		if lacking != nil || conflicts != nil || b.sh(j.Dir(), `cat dep/f`) != c.want {
			t.Errorf("%q, %q", lacking, conflicts)
		}
	}
}

// TestJudgeTreeHasLargeFiles that the clone has, and fetches none.
func TestJudgeTreeHasLargeFiles(t *testing.T) {
	need.Program(t, "git-lfs")
	b := newSandbox(t)
	dir := b.clone()
	b.sh(dir,
		`git lfs install --skip-repo >/dev/null; git lfs track '*.bin' >/dev/null; echo content >x.bin; git add -A; git commit -qm large`)
	tree := b.open()
	j := b.judge(tree)
	since := tree.Head()
	if lacking := must[[]string](t)(j.Use(b.ctx, since)); lacking != nil {
		t.Fatal(lacking)
	}
	b.sh(tree.Dir(), `echo more >y.bin; printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 5\n' 7 >z.bin`)
	c := must[loop.Commit](t)(tree.Commit(b.ctx, since, "x"))
	lacking := must[[]string](t)(j.Use(b.ctx, c.SHA))
	if len(lacking) != 1 || !strings.Contains(lacking[0], "the contents of z.bin are not in this clone") {
		t.Errorf("%q", lacking)
	}
	if got := b.sh(j.Dir(),
		`cat x.bin y.bin; git cat-file -p HEAD:y.bin | head -n 1`); got != "content\nmore\nversion https://git-lfs.github.com/spec/v1\n" {
		t.Errorf("%q", got)
	}
	if dirty := must[Strays](t)(j.Strays(b.ctx)).Changed; dirty != nil {
		t.Error(dirty)
	}
}

func TestUnkept(t *testing.T) {
	b := newSandbox(t)
	dir := b.clone()
	b.sh(dir, `mkdir -p sub/deep; echo '/lib' >sub/deep/.gitignore; git add -A sub; git commit -qm x
		echo mine.txt >>.git/info/exclude`)
	tree := b.open()
	dir = tree.Dir()
	b.sh(dir, `echo b >old.log`)
	old := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	noError(t, os.Chtimes(filepath.Join(dir, "old.log"), old, old))
	time.Sleep(5 * grain)
	now := time.Now()
	b.sh(dir, `echo l >x.log; mkdir sub/deep/lib; echo u >sub/deep/lib/util.py; echo t >y.tmp; echo m >mine.txt; echo new >new`)
	found := must[[]Unkept](t)(tree.Unkept(b.ctx, now))
	var names []string
	for _, f := range found {
		if f.Made {
			names = append(names, f.Path)
		}
	}
	if got := strings.Join(names, " "); got != "mine.txt sub/deep/lib/util.py x.log y.tmp" || len(found) != 5 {
		t.Errorf("%q of %+v", got, found)
	}
	why := must[[]string](t)(tree.WhyUnkept(b.ctx, append(names, "new")))
	if got := strings.Join(why,
		"; "); got != `is ignored by "mine.txt", one of your own patterns; is ignored by sub/deep/.gitignore:1; is ignored by .gitignore:1; is ignored by "*.tmp", one of your own patterns; is not tracked` {
		t.Errorf("%s", got)
	}
}

// TestJudgeTreeAlone: where the run's objects are not to be had, the tree's repository has the commit's own.
func TestJudgeTreeAlone(t *testing.T) {
	b := newSandbox(t)
	b.clone()
	tree := b.open()
	j := must[*JudgeTree](t)(tree.OpenJudge(filepath.Join(b.dir, "trees", "clone"), []string{}))
	defer j.Close()
	b.sh(tree.Dir(), `echo work >>a.txt`)
	c := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "work"))
	must[[]string](t)(j.Use(b.ctx, c.SHA))
	if got := b.sh(j.Dir(),
		`git fsck 2>&1; git log --format=%s; git status --porcelain; cat .git/objects/info/alternates`); got != "work\n\n" {
		t.Errorf("%q", got)
	}
}
