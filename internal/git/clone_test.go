package git

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/need"
	"github.com/ralph-loop/ralph/internal/loop"
)

// lying is every file of a clone with its content, its mode and its time, but for what a run writes there.
func (b *sandbox) lying(dir string) map[string]string {
	b.t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, file)
		for _, ours := range []string{".git/objects", ".git/refs/ralph", ".git/refs/heads/ralph", ".git/refs/heads/wip",
			".git/logs/refs/heads/ralph", ".git/logs/refs/heads/wip", ".git/lfs"} {
			if name == ours {
				return fs.SkipDir
			}
		}
		if err != nil || d.IsDir() || name == ".git/info/exclude" {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, _ := os.ReadFile(file) // a link to nothing has none
		found[name] = fmt.Sprintf("%v %d %q", info.Mode(), info.ModTime().UnixNano(), text)
		return nil
	})
	noError(b.t, err)
	return found
}

// same fails the test when a clone is not as it was.
func (b *sandbox) same(dir string, before map[string]string) {
	b.t.Helper()
	now := b.lying(dir)
	for _, name := range union(before, now) {
		if before[name] != now[name] {
			b.t.Errorf("%s in the clone was %.300s\nand is %.300s", name, before[name], now[name])
		}
	}
}

// shape is a clone as people have them.
type shape struct {
	do     string // makes it, in the directory of the sandbox; "$C" is to be the clone
	at     string // where ralph is asked, from the clone
	base   string // what the run is to begin from; empty: where the clone stands
	agent  string // what the agent does besides
	files  string // what the commit holds; empty: work, and a.txt
	tree   string // what the agent's tree and that of the checks are asked, which say the same
	says   string
	commit string // what the clone is asked about the commit, ralph/issue-42
	told   string
	needs  string // a program
	branch string // the base branch, "main" when it is empty, and "-" when there is none
	note   string // of the commit
}

const plainClone = `git clone -q remote.git "$C"; `

var shapes = map[string]shape{
	"dirty and staged": {
		do: plainClone + `cd "$C"; echo dirty >>a.txt; echo staged >s; git add s; echo more >>s; echo un >un; echo l >x.log; touch -d 2020-01-01 .gitignore
			git rm -q --cached sub/b.txt; rm link; git stash list`,
		tree: `wc -l <a.txt; ls`, says: "4\na.txt\nlink\nsub\nwork\n",
	},
	"hooks and programs": {
		do: plainClone + `cd "$C"; for h in pre-commit commit-msg prepare-commit-msg post-commit post-checkout post-index-change reference-transaction pre-rebase post-rewrite pre-auto-gc post-merge; do
			printf '#!/bin/sh\necho %s >>"%s"\nexit 1\n' $h "$CANARY" >.git/hooks/$h; chmod +x .git/hooks/$h; done
			git config core.fsmonitor "echo fsmonitor >>'$CANARY'"; git config core.editor "echo editor >>'$CANARY'"
			git config diff.external "echo external >>'$CANARY'"; git config core.pager "echo pager >>'$CANARY'"`,
	},
	"detached": {do: plainClone + `cd "$C"; git checkout -q --detach`, branch: "-"},
	"in a directory of it, from a tag": {
		do: plainClone + `cd "$C"; git tag v1; echo later >later; git add later; git commit -qm later`, at: "sub", base: "v1",
		tree: `ls; git tag`, says: "a.txt\nlink\nsub\nwork\nv1\n", branch: "v1",
	},
	"a linked worktree": {
		do: plainClone + `cd "$C"; git branch side; git worktree add -q ../linked side; echo dirty >>../linked/a.txt`,
		at: "../linked", branch: "side", tree: `wc -l <a.txt; git branch --show-current`, says: "4\nralph/issue-42\n",
	},
	"in the middle of a merge": {
		do: plainClone + `cd "$C"; git checkout -q -b o; echo o >a.txt; git commit -qam o; git checkout -q main; echo m >a.txt; git commit -qam m
			git merge -q o >/dev/null 2>&1 || true; test -f .git/MERGE_HEAD`,
		tree: `cat a.txt`, says: "m\nfour\n",
	},
	"shallow": {
		do: `cd seed; echo 2 >two; git add two; git commit -qm two; git push -q ../remote.git HEAD:main; cd ..
			git clone -q --depth 1 "file://$PWD/remote.git" "$C"`,
		tree: `git log --format=%s HEAD~; git fsck --no-dangling 2>&1`, says: "two\n",
	},
	"partial and sparse": {
		do: `git -C remote.git config uploadpack.allowFilter true; git -C remote.git config uploadpack.allowAnySHA1InWant true
			cd seed; mkdir -p lib/deep far; echo l >lib/l; echo d >lib/deep/d; echo f >far/f; git add .; git commit -qm more; git push -q ../remote.git HEAD:main
			cd ..; git clone -q --filter=blob:none --sparse "file://$PWD/remote.git" "$C"; cd "$C"; git sparse-checkout set lib`,
		agent: `mkdir far; echo n >far/new; echo 2 >>lib/l`, files: "a.txt far/new lib/l work",
		tree: `find . -path ./.git -prune -o -path ./far -prune -o -type f -print | sort; git status --porcelain -uno`,
		says: "./.gitignore\n./a.txt\n./lib/deep/d\n./lib/l\n./work\n",
		// far/f is not here, and is in the commit
		commit: `git ls-tree -r --name-only ralph/issue-42 far lib; git rev-list --objects --missing=print ralph/issue-42 | grep -c '^?'`,
		told:   "far/f\nfar/new\nlib/deep/d\nlib/l\n3\n",
	},
	"partial, from what it lacks": {
		do: `git -C remote.git config uploadpack.allowFilter true; git -C remote.git config uploadpack.allowAnySHA1InWant true
			cd seed; git checkout -q -b old; echo old >a.txt; git commit -qam old; git push -q ../remote.git old
			cd ..; git clone -q --filter=blob:none "file://$PWD/remote.git" "$C"`,
		base: "origin/old", branch: "origin/old", tree: `cat a.txt`, says: "old\nfour\n",
	},
	"SHA-256": {
		do:   `git init -q -b main --object-format=sha256 "$C"; cp -R seed/a.txt seed/sub "$C"; cd "$C"; git add .; git commit -qm first`,
		tree: `git rev-parse HEAD -- | tr -d '\n' | wc -c`, says: "66\n", commit: `git fsck --no-dangling 2>&1`, told: "",
	},
	"alternates": {
		do:     `git clone -q --bare remote.git cache.git; git clone -q --reference cache.git --shared cache.git "$C"; test ! -d "$C"/.git/objects/pack/*.pack`,
		tree:   `git log --format=%s HEAD~; git fsck --no-dangling 2>&1`,
		says:   "first\n",
		commit: `git fsck --no-dangling 2>&1; cat .git/objects/info/alternates | wc -l`, told: "1\n",
	},
	"a populated submodule": {
		do: `git init -q lib; cd lib; echo 1 >f; mkdir d; echo 2 >d/g; git add .; git commit -qm lib; cd ../seed
			git -c protocol.file.allow=always submodule add -q ../lib dep; git -c protocol.file.allow=always submodule add -q ../lib other; git commit -qm dep; git push -q ../remote.git HEAD:main; cd ..
			git clone -q remote.git "$C"; cd "$C"; git config submodule.dep.url "$PWD/../lib"; git -c protocol.file.allow=always submodule update -q --init dep`,
		agent: `echo 2 >>dep/f; rm dep/d/g; echo n >dep/new; test -z "$(ls other)"`,
		note:  "the submodule dep: what was changed in it is in no commit of the run: d/g, f, new",
		tree:  `head -n 1 dep/f; ls other; git status --porcelain`, says: "1\n",
	},
	"filters and line ends": {
		do: plainClone + `cd "$C"; git config filter.up.clean 'tr a-z A-Z'; git config filter.up.smudge 'tr A-Z a-z'
			git config core.autocrlf true; echo '*.up filter=up' >.git/info/attributes; echo shout >x.up; git add x.up; git commit -qm up`,
		agent: `printf 'crlf\r\n' >crlf.txt; echo quiet >y.up; touch .gitignore x.up; test -z "$(git status --porcelain .gitignore x.up)"; git add y.up; git commit -qm mine`,
		files: "a.txt crlf.txt work y.up",
		tree:  `tr -d '\r\n' <x.up; sed -n 's/\r//p' a.txt | head -n 1`, says: "shoutone\n",
		commit: `for f in x.up y.up crlf.txt; do git cat-file blob ralph/issue-42:$f; done; git cat-file blob ralph/issue-42~:y.up`,
		told:   "SHOUT\nQUIET\ncrlf\nQUIET\n",
	},
	"unlocked by git-crypt": {
		needs: "git-crypt",
		do: plainClone + `cd "$C"; git-crypt init >/dev/null 2>&1; echo 'secret filter=git-crypt' >.gitattributes
			echo plain >secret; git add .; git commit -qm secret`,
		agent: `echo more >>secret; git -c filter.git-crypt.clean=cat add secret; git -c filter.git-crypt.clean=cat commit -qm mine`,
		files: "a.txt secret work", tree: `cat secret; git status --porcelain secret`, says: "plain\nmore\n",
		note:   `the agent's files were kept, its commits were not, since the filter "git-crypt" must pass all that is stored`,
		commit: `git log --format=%s ralph/issue-42; for c in ralph/issue-42 main; do git cat-file blob $c:secret | head -c 9 | tr -d '\0'; done`,
		told:   "work\nsecret\nfirst\nGITCRYPTGITCRYPT",
	},
	"commits are signed": {
		needs: "ssh-keygen",
		do: `ssh-keygen -q -t ed25519 -N '' -f key; echo "bob@example.com namespaces=\"git\" $(cat key.pub)" >allowed
			` + plainClone + `cd "$C"; git config commit.gpgsign true; git config gpg.format ssh; git config user.signingkey "$PWD/../key.pub"`,
		commit: `git -c gpg.ssh.allowedSignersFile="$PWD/../allowed" log -1 --format='%G? %an' ralph/issue-42`, told: "G Bob\n",
	},
	"names that are no text": {
		do:    plainClone + `cd "$C"; n=$(printf 'n\351'); echo 1 >"$n"; echo 2 >'tab	"q'; git add .; git commit -qm names`,
		agent: `n=$(printf 'n\351'); echo 2 >>"$n"; echo 3 >"$(printf 'new\377')"`,
		files: "a.txt new\uFFFD n\uFFFD work",
		tree:  `LC_ALL=C ls | od -An -c | tr -d ' \n' | grep -c '377.*351'`, says: "1\n",
	},
}

// TestShapesOfClones: a run works beside whatever clone there is, which stays byte for byte as it was; its commits reach
// the clone, and the tree of the checks has what the agent's has.
func TestShapesOfClones(t *testing.T) {
	for name, c := range sampled(t, shapes, "dirty and staged", "hooks and programs", "a linked worktree",
		"partial and sparse", "a populated submodule", "filters and line ends", "unlocked by git-crypt") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.needs != "" {
				need.Program(t, c.needs)
			}
			b := newSandbox(t)
			dir := filepath.Join(b.dir, "clone")
			set := "C='" + dir + "'; CANARY='" + b.canary + "'; export CANARY\n"
			b.sh(b.dir, `printf '[user]\nname = Bob\nemail = bob@example.com\n' >"$HOME/.gitconfig"; `+set+c.do)
			os.Remove(b.canary) // what its user does may run there
			before, beside := b.lying(dir), map[string]string{}
			if exists(filepath.Join(b.dir, "linked")) {
				beside = b.lying(filepath.Join(b.dir, "linked"))
			}

			tree := must[*Tree](t)(CheckoutOf(b.ctx, filepath.Join(dir, c.at), b.cliOptions(), c.base, "ralph/issue-42"))
			if want := strings.TrimPrefix(cmp.Or(c.branch, "main"), "-"); tree.BaseBranch() != want {
				t.Errorf("the base branch is %q, not %q", tree.BaseBranch(), want)
			}
			noError(t, tree.Start(b.ctx))
			since := tree.Head()
			if empty := must[loop.Commit](t)(tree.Commit(b.ctx, since, "none")); !empty.Empty {
				t.Errorf("a checkout that nobody has touched differs: %+v", empty)
			}
			b.sh(tree.Dir(), `echo four >>a.txt; echo w >work; `+cmp.Or(c.agent, ":"))
			made := must[loop.Commit](t)(tree.Commit(b.ctx, since, "work\n"))
			var files []string
			for _, f := range made.Files {
				files = append(files, f.Path)
			}
			if got := strings.Join(files, " "); got != cmp.Or(c.files, "a.txt work") || made.Note != c.note {
				t.Errorf("committed %q, note %q", got, made.Note)
			}
			must[string](t)(tree.SaveRecord(b.ctx, map[string][]byte{"journal.jsonl": []byte("1\n")}, "r"))
			if moved, err := tree.Push(b.ctx); moved != nil || err != nil {
				t.Fatal(moved, err)
			}
			if at := b.sh(dir, `git rev-parse ralph/issue-42; git for-each-ref --format='%(refname)' refs/ralph`); at != made.SHA+
				"\nrefs/ralph/runs/issue-42\n" {
				t.Errorf("the clone has %s", at)
			}
			j := b.judge(tree)
			if lacking := must[[]string](t)(j.Use(b.ctx, made.SHA)); lacking != nil {
				t.Errorf("%q", lacking)
			}
			if c.tree != "" {
				for what, at := range map[string]string{"agent": tree.Dir(), "checks": j.Dir()} {
					if got := b.sh(at, c.tree); got != c.says {
						t.Errorf("the tree of the %s says %q, not %q", what, got, c.says)
					}
				}
			}
			if c.commit != "" {
				if got := b.sh(dir, c.commit); got != c.told {
					t.Errorf("the commit is %q, not %q", got, c.told)
				}
			}
			b.sh(tree.Dir(), `echo dirt >a.txt; echo junk >junk`)
			noError(t, tree.Restore(b.ctx))
			if dirty, err := tree.git.uncommitted(b.ctx, nil); err != nil || len(dirty) > 0 {
				t.Error(dirty, err)
			}
			if _, err := Uncommitted(b.ctx, dir, b.cliOptions().Env, "."); err != nil { // which only looks
				t.Error(err)
			}
			if err := tree.Remove(b.ctx); err != nil || exists(tree.o.Root) {
				t.Error(err)
			}
			b.quiet()
			b.same(dir, before)
			if len(beside) > 0 {
				b.same(filepath.Join(b.dir, "linked"), beside)
			}
		})
	}
}

// TestBranchThatIsCheckedOut is not moved under whoever works there: what it should be is kept beside it, until they have
// switched to another one.
func TestBranchThatIsCheckedOut(t *testing.T) {
	t.Parallel()
	b := newSandbox(t)
	dir := b.clone()
	b.sh(dir, `git checkout -q -b ralph/issue-42; echo plan >plan; git add plan; git commit -qm plan; echo dirty >>plan`)
	ours := func(o *Options) { o.Ours = true }
	tree := b.open(ours)
	before := b.lying(dir)
	one := b.turn(tree, `echo 1 >one`)
	at := `git rev-parse ralph/issue-42; git for-each-ref --format='%(refname) %(objectname)' refs/ralph/tip`
	start := strings.TrimSpace(b.sh(dir, `git rev-parse HEAD`))
	if got := b.sh(dir, at); got != start+"\nrefs/ralph/tip/issue-42 "+one+"\n" {
		t.Errorf("the clone has %s", got)
	}
	must[string](t)(tree.KeepRecord(b.ctx, map[string][]byte{"journal.jsonl": nil}, "r"))
	if in, tip := tree.Held(); in != dir || tip != "git merge refs/ralph/tip/issue-42" {
		t.Errorf("held in %q as %q", in, tip)
	}
	b.same(dir, before)
	if got := TipOf(b.ctx, dir, testEnv(b.home), "ralph/issue-42", "issue-42"); got != one {
		t.Errorf("the tip is %s", got)
	}

	// Its user takes the work, commits more, and switches away.
	b.sh(dir, `git stash -q; git merge -q --ff-only refs/ralph/tip/issue-42; echo u >user; git add user; git commit -qm user`)
	user := strings.TrimSpace(b.sh(dir, `git rev-parse HEAD`))
	if got := TipOf(b.ctx, dir, testEnv(b.home), "ralph/issue-42", "issue-42"); got != user {
		t.Errorf("the tip is %s, not the user's %s", got, user)
	}
	two := b.turn(tree, `echo 2 >two`)
	if got := b.sh(dir, at); got != user+"\nrefs/ralph/tip/issue-42 "+two+"\n" {
		t.Errorf("the clone has %s", got)
	}
	b.sh(dir, `git checkout -q main`)
	moved := must[*Moved](t)(tree.Push(b.ctx))
	if moved == nil || moved.Onto != user || tree.Head() == two {
		t.Fatalf("%+v", moved)
	}
	if got := b.sh(dir, at+`; git log --format=%s ralph/issue-42`); got != tree.Head()+"\nturn\nuser\nturn\nplan\nfirst\n" {
		t.Errorf("the clone has %s", got)
	}
	if got := b.sh(tree.Dir(), `cat user two; git status --porcelain`); got != "u\n2\n" {
		t.Errorf("the agent's tree has %s", got)
	}
	if in, tip := tree.Held(); in != "" || tip != "" {
		t.Errorf("held in %q as %q", in, tip)
	}

	// And so across processes: neither the tip nor what is on the branch is lost.
	b.sh(dir, `git checkout -q ralph/issue-42`)
	three := b.turn(tree, `echo 3 >three`)
	noError(t, tree.Remove(b.ctx))
	b.sh(dir, `echo v >>user; git commit -qam more; git checkout -q main`)
	again := b.open(ours)
	if again.Head() != three || again.Base() != start && again.Base() != b.base {
		t.Fatalf("goes on from %s, base %s", again.Head(), again.Base())
	}
	b.turn(again, `echo 4 >four`)
	if got := b.sh(dir, `git log --format=%s -4 ralph/issue-42; git for-each-ref refs/ralph/tip`); got !=
		"turn\nturn\nmore\nturn\n" {
		t.Errorf("the clone has %s", got)
	}

	// A fresh run keeps what the branch has, and does not set it back.
	b.sh(dir, `git checkout -q ralph/issue-42`)
	o := b.cliOptions()
	o.Ours, o.Fresh = true, true
	fresh := must[*Tree](t)(CheckoutOf(b.ctx, dir, o, "main", "ralph/issue-42"))
	noError(t, fresh.Start(b.ctx))
	before = b.lying(dir)
	five := b.turn(fresh, `echo 5 >five`)
	b.same(dir, before)
	if in, tip := fresh.Held(); in != dir || tip != "git reset --keep refs/ralph/tip/issue-42" {
		t.Errorf("held in %q as %q", in, tip)
	}
	if got := b.sh(dir, `git rev-parse refs/ralph/tip/issue-42; git for-each-ref --points-at ralph/issue-42 refs/heads | wc -l
git log --format=%s refs/ralph/tip/issue-42`); got != five+"\n2\nturn\nfirst\n" {
		t.Errorf("the clone has %s", got)
	}
}

// turn is a turn of an agent's, committed and pushed.
func (b *sandbox) turn(tree *Tree, do string) (commit string) {
	b.t.Helper()
	b.sh(tree.Dir(), do)
	c := must[loop.Commit](b.t)(tree.Commit(b.ctx, tree.Head(), "turn\n"))
	must[*Moved](b.t)(tree.Push(b.ctx))
	return c.SHA
}

// TestBranchIsMovedDuringATurn by the clone's user.
func TestBranchIsMovedDuringATurn(t *testing.T) {
	for name, c := range sampled(t, map[string]struct {
		do, log, says string // in the clone; the branch's history afterwards; the error
	}{
		"a commit": {do: `c=$(printf 'user\n' | git commit-tree -p ralph/issue-42 $(git rev-parse main^{tree}));
			git update-ref refs/heads/ralph/issue-42 $c`, log: "two\nuser\none\nfirst\n"},
		"a commit in another working tree": {do: `git worktree add -q ../w ralph/issue-42; cd ../w; echo u >u; git add u
			git commit -qm user; cd ../clone; git worktree remove ../w`, log: "two\nuser\none\nfirst\n"},
		"one that does not go with ours": {do: `git worktree add -q ../w ralph/issue-42; cd ../w; echo u >two; git add two
			git commit -qm user; cd ../clone; git worktree remove ../w`, log: "user\none\nfirst\n",
			says: "our commits do not apply on top of that"},
		"deleted":  {do: `git branch -qD ralph/issue-42`, log: "two\none\nfirst\n"},
		"renamed":  {do: `git branch -qm ralph/issue-42 mine`, log: "two\none\nfirst\n"},
		"merged":   {do: `git merge -q --no-ff -m merge ralph/issue-42; git branch -f ralph/issue-42 main`, log: "two\nmerge\none\nfirst\n"},
		"set back": {do: `git branch -qf ralph/issue-42 main`, log: "two\none\nfirst\n"},
	}, "a commit in another working tree", "one that does not go with ours", "deleted") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newSandbox(t)
			dir := b.clone()
			tree := b.open()
			b.sh(tree.Dir(), `echo 1 >one`)
			c1 := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "one\n"))
			must[*Moved](t)(tree.Push(b.ctx))
			b.sh(tree.Dir(), `echo 2 >two`)
			b.sh(dir, c.do)
			two := must[loop.Commit](t)(tree.Commit(b.ctx, c1.SHA, "two\n"))
			_, err := tree.Push(b.ctx)
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("%v", err)
			}
			if got := b.sh(dir, `git log --format=%s ralph/issue-42`); got != c.log {
				t.Errorf("the branch has %q", got)
			}
			want := ""
			if c.says != "" { // nothing of it is lost
				want = two.SHA + " refs/ralph/tip/issue-42\n"
			}
			if got := b.sh(dir, `git for-each-ref --format='%(objectname) %(refname)' refs/ralph`); got != want {
				t.Errorf("kept is %q", got)
			}
			b.agree(tree)
		})
	}
}

// TestBaseIsCollected: what a run has begun from is there for as long as it needs it, whatever becomes of it in the clone.
func TestBaseIsCollected(t *testing.T) {
	t.Parallel()
	b := newSandbox(t)
	dir := b.clone()
	b.sh(dir, `echo more >more; git add more; git commit -qm more`)
	tree := b.open()
	base := tree.Head()
	gc := `git reflog expire --expire=now --expire-unreachable=now --all; git gc -q --prune=now`
	b.sh(dir, `git commit -q --amend -m other; echo x >>more; git commit -qam x; `+gc)
	b.sh(tree.Dir(), `git show HEAD:more; echo 1 >one`)
	one := b.turn(tree, `echo 1 >one`)
	b.sh(dir, gc)
	two := b.turn(tree, `echo 2 >two`)
	if got := b.sh(dir, `git rev-parse ralph/issue-42 ralph/issue-42~2; git fsck --no-dangling 2>&1`); got != two+"\n"+base+
		"\n" || one == two {
		t.Errorf("the clone has %s", got)
	}
}

// TestTakenUpWithinATurn: a run that was killed while its agent worked goes on with everything that lies in its
// checkout.
func TestTakenUpWithinATurn(t *testing.T) {
	for name, c := range sampled(t, map[string]struct {
		in, beside string // what happens in the checkout and in the clone meanwhile
		anew       bool   // the run has begun anew, and has not moved the branch: what an earlier one had there is kept elsewhere
		log        string
		files      string // of the turn's commit
	}{
		"as the turn left it": {log: "turn\nagent\nturn\nfirst\n", files: "a.txt three two"},
		"a git was killed": {in: `touch .git/index.lock ../index.lock ../repo.git/HEAD.lock ../repo.git/refs/heads/ralph/issue-42.lock
			mkdir -p ../repo.git/rebase-merge; cp .git/index ../repo.git/`, log: "turn\nagent\nturn\nfirst\n", files: "a.txt three two"},
		"the harness was committing": {in: `export GIT_DIR="$PWD/../repo.git" GIT_INDEX_FILE="$PWD/../index" GIT_OBJECT_DIRECTORY="$PWD/../../clone/.git/objects"
			git read-tree HEAD; git add -A; git commit -qm killed`, log: "turn\nagent\nturn\nfirst\n", files: "a.txt three two"},
		"the harness had committed, and handed that over": {in: `git add -A; git commit -qm turn -m "Ralph-Iteration: 2"`,
			log: "turn\nagent\nturn\nfirst\n", files: "a.txt three two"},
		"the branch has moved": {beside: `git worktree add -q ../w ralph/issue-42; cd ../w; echo u >user; git add user; git commit -qm user; cd ../clone; git worktree remove ../w`,
			log: "turn\nagent\nuser\nturn\nfirst\n", files: "a.txt three two"},
		"the branch is deleted": {beside: `git branch -qD ralph/issue-42`, log: "turn\nagent\nturn\nfirst\n", files: "a.txt three two"},
		"begun anew":            {anew: true, log: "turn\nagent\nfirst\n", files: "a.txt three two"},
		"half a repository":     {in: `rm .git/HEAD`, log: "turn\nturn\nfirst\n", files: "a.txt three two"},
		"no repository":         {in: `rm -r .git`, log: "turn\nturn\nfirst\n", files: "a.txt three two"},
		"a working tree of the agent's own": {in: `git worktree add -q other -b other; echo o >other/o; git -C other add o; git -C other commit -qm other`,
			log: "turn\nagent\nturn\nfirst\n", files: "a.txt three two"},
	}, "as the turn left it", "the harness was committing", "the harness had committed, and handed that over", "the branch has moved",
		"no repository", "begun anew") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newSandbox(t)
			dir := b.clone()
			one := b.turn(b.open(), `echo 1 >one`)
			since := one
			if c.anew {
				b.open(func(o *Options) { o.Ours, o.Fresh = true, true })
				since = b.base
			}
			own := filepath.Join(b.dir, "own", "work")
			b.sh(own, `echo 2 >two; git add two; git commit -qm agent; echo 3 >three; echo 3 >>a.txt; echo l >x.log; `+
				cmp.Or(c.in, ":")) // and here it is killed
			b.sh(dir, `git tag later; `+cmp.Or(c.beside, ":"))

			o := b.cliOptions()
			o.Resume, o.Unsettled, o.Ours, o.Killed = true, true, true, true
			tree := must[*Tree](t)(CheckoutOf(b.ctx, dir, o, b.base, "ralph/issue-42"))
			noError(t, tree.Start(b.ctx))
			if tree.Base() != b.base || !tree.Resumed() && c.beside == "" && !c.anew {
				t.Fatal(tree.Base(), tree.Head())
			}
			made := must[loop.Commit](t)(tree.Commit(b.ctx, since, "turn\n\nRalph-Iteration: 2\n"))
			var files []string
			for _, f := range made.Files {
				files = append(files, f.Path)
			}
			if got := strings.Join(files, " "); got != c.files || made.Empty {
				t.Errorf("committed %q, %s", got, made.Note)
			}
			must[*Moved](t)(tree.Push(b.ctx))
			if got := b.sh(dir, `git log --format=%s ralph/issue-42`); got != c.log {
				t.Errorf("the branch has %q; %s", got, made.Note)
			}
			if aside := b.sh(dir, `git for-each-ref --format='%(objectname)' refs/heads/wip`); (aside == one+"\n") != c.anew {
				t.Errorf("set aside is %q", aside)
			}
			if got := b.sh(own, `cat x.log`); got != "l\n" {
				t.Errorf("what is ignored is %q", got)
			}
			b.agree(tree)
		})
	}
}

// TestBegunAnew: what an earlier run has left uncommitted in its checkout is kept, when another one begins there.
func TestBegunAnew(t *testing.T) {
	for name, c := range sampled(t, map[string]struct {
		do    string // what was left
		kept  string // what is kept of it
		fresh bool
	}{
		"nothing":          {},
		"an edit":          {do: `echo 2 >two; echo 3 >>a.txt; rm sub/b.txt`, kept: "M\ta.txt\nD\tsub/b.txt\nA\ttwo\n"},
		"and a fresh run":  {do: `echo 2 >two`, kept: "A\ttwo\n", fresh: true},
		"committed":        {do: `echo 2 >two; git add two; git commit -qm two`, kept: "A\ttwo\n"},
		"a repository":     {do: `git init -q lib; echo l >lib/l; git -C lib add .; git -C lib commit -qm l`, kept: "A\tlib/l\n"},
		"in a submodule":   {do: `echo 2 >dep/f; echo n >dep/n`},
		"a secret":         {do: `echo 2 >two; echo ` + held + ` >x`},
		"only the ignored": {do: `echo 2 >x.log`},
	}, "and a fresh run", "in a submodule", "a secret") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newSandbox(t)
			dir := b.clone()
			b.sh(b.dir, `git init -q lib; cd lib; echo 1 >f; git add f; git commit -qm 1; cd ../clone
				git -c protocol.file.allow=always submodule add -q ../lib dep; git commit -qm dep`)
			one := b.turn(b.open(), `echo 1 >one`)
			b.sh(filepath.Join(b.dir, "own", "work"), cmp.Or(c.do, ":"))
			tree := b.open(func(o *Options) { o.Ours, o.Fresh, o.Secrets = true, c.fresh, []string{held} })
			if tree.Resumed() == c.fresh {
				t.Errorf("resumed at %s", tree.Head())
			}
			if got := b.sh(tree.Dir(), `git status --porcelain; test ! -e two; cat dep/f`); got != "1\n" {
				t.Errorf("it begins with %s", got)
			}
			got := b.sh(dir, `for r in $(git for-each-ref --format='%(refname)' refs/ralph/kept); do git diff-tree --no-commit-id --name-status -r $r; done`)
			if got != c.kept {
				t.Errorf("kept is %q", got)
			}
			if got := b.sh(dir, `git for-each-ref --format='%(refname) %(objectname)' refs/heads/wip`); (got != "") != c.fresh ||
				c.fresh && got != "refs/heads/wip/archive/ralph/issue-42-"+one[:8]+" "+one+"\n" {
				t.Errorf("set aside is %q", got)
			}
		})
	}
}

// TestKilledBeforeTheFirstRecord: what a run that nobody knows of has left is in nobody's way, also where the clone has
// moved on since.
func TestKilledBeforeTheFirstRecord(t *testing.T) {
	t.Parallel()
	for _, do := range []string{`:`, `echo 1 >one; git add one; git commit -qm one`, `git commit -q --amend -m other`} {
		b := newSandbox(t)
		dir := b.clone()
		b.open()
		now := strings.TrimSpace(b.sh(dir, do+`; git rev-parse HEAD`))
		tree := b.open()
		if tree.Base() != now || tree.Head() != now {
			t.Errorf("%s: base %s, head %s, want %s", do, tree.Base(), tree.Head(), now)
		}
		if got := b.sh(dir, `git for-each-ref --format='%(objectname) %(refname)' refs/ralph refs/heads`); got != now+
			" refs/heads/main\n"+now+" refs/ralph/tip/issue-42\n" {
			t.Errorf("%s: the clone has %s", do, got)
		}
		if err := tree.Remove(b.ctx); err != nil {
			t.Error(err)
		}
		if got := b.sh(dir, `git for-each-ref refs/ralph`); got != "" {
			t.Errorf("%s: left is %s", do, got)
		}
	}
}

func TestCheckoutOfSaysWhatToDo(t *testing.T) {
	t.Parallel()
	b := newSandbox(t)
	dir := b.clone()
	for name, c := range map[string]struct{ do, at, base, want string }{
		"bare":   {"true", "../remote.git", "", "is not in a git repository with a working tree"},
		"newer":  {"git init -q ../next; git -C ../next config core.repositoryformatversion 9", "../next", "", "fatal: Expected git repo version"},
		"unborn": {"git init -q ../unborn", "../unborn", "", "has no commit yet: make a first one"},
		"shallow": {"git clone -q --depth 1 \"file://$PWD\" ../shallow", "../shallow", "v1",
			"is shallow and does not hold v1: run git fetch --unshallow"},
		"no base": {"true", ".", "v1", "v1 is not a commit or branch of this clone"},
		"not ours": {"git clone -q . ../theirs; cd ../theirs; git branch ralph/issue-42", "../theirs", "",
			"exists, and nothing shows that ralph has made it: rename or delete it"},
		"a branch in the way": {"git clone -q . ../above; cd ../above; git branch ralph", "../above", "",
			"the branch ralph is in the way of the run's branch ralph/issue-42: rename it"},
		"a branch below": {"git clone -q . ../below; cd ../below; git branch ralph/issue-42/x", "../below", "",
			"the branch ralph/issue-42/x is in the way"},
	} {
		b.sh(dir, c.do)
		_, err := CheckoutOf(b.ctx, filepath.Join(dir, c.at), b.cliOptions(), c.base, "ralph/issue-42")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
