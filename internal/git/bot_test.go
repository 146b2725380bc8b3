package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

func TestBotIteration(t *testing.T) {
	b := newSandbox(t)
	tree := b.checkout(b.asNobody)
	if tree.Base() != b.base || tree.BaseBranch() != "main" || tree.Branch() != "ralph/issue-42" || tree.Resumed() {
		t.Fatalf("opened at %s %s %s", tree.Base(), tree.BaseBranch(), tree.Branch())
	}
	if got := b.sh(tree.Dir(),
		`git status --porcelain --branch; git log --format=%s; cat a.txt >/dev/null; readlink link`); got != "## ralph/issue-42\nfirst\na.txt\n" {
		t.Fatalf("the agent sees %q", got)
	}
	c := must[loop.Commit](t)(tree.Commit(b.ctx, tree.Base(), "nothing"))
	if !c.Empty || c.SHA != b.base || !c.NoDiff || c.Note != "" || c.Tree == "" {
		t.Fatalf("an empty iteration: %+v", c)
	}
	b.sh(tree.Dir(), `printf '\000' >bin; echo four >>a.txt; rm sub/b.txt; mkdir -p x; echo new >"x/with
newline"; echo q >'a"quote'; echo no >out.log; echo '# x' >.ralph_state.md; mkdir -p .ralph/runs/r; echo j >.ralph/runs/r/journal.jsonl
mkdir -p node_modules/x; echo 1 >node_modules/x/i.js; echo 1 >sub/.DS_Store; echo 1 >core.12; echo 1 >core.2d.js`)
	message := "Fix it\n\nRalph-Task: issue-42\n"
	c = must[loop.Commit](t)(tree.Commit(b.ctx, tree.Base(), message))
	want := []loop.FileChange{{Path: "a\"quote", Added: 1}, {Path: "a.txt", Added: 1},
		{Path: "bin", Added: -1, Deleted: -1}, {Path: "core.2d.js", Added: 1}, {Path: "sub/b.txt", Deleted: 1}, {Path: "x/with\nnewline", Added: 1}}
	if c.Empty || c.NoDiff || c.Note != "" || len(c.Files) != len(want) || c.SHA != tree.Head() {
		t.Fatalf("the commit: %+v", c)
	}
	for i := range want {
		if c.Files[i] != want[i] {
			t.Errorf("file %d: %+v, want %+v", i, c.Files[i], want[i])
		}
	}
	got := must[string](t)(tree.git.out(b.ctx, "log", "-1", "--format=%an %ce %P%n%B%T", c.SHA))
	if got != "ralph ralph@example.com "+b.base+"\n"+message+c.Tree+"\n" {
		t.Fatalf("the commit holds %q", got)
	}
	if got := b.sh(tree.Dir(), `git status --porcelain; git rev-parse HEAD`); got != c.SHA+"\n" {
		t.Fatalf("the agent sees %q", got)
	}
	if dirty, err := tree.Clean(b.ctx); err != nil || len(dirty) != 0 {
		t.Fatal(dirty, err)
	}
	b.sh(tree.Dir(), `echo z >>a.txt; mkdir junk; echo 1 >junk/j; mkdir n; git init -q n; ln -sf /etc/passwd link`)
	if dirty, err := tree.Clean(b.ctx); err != nil || strings.Join(dirty, " ") != "a.txt link" {
		t.Fatal(dirty, err)
	}
	noError(t, tree.Restore(b.ctx))
	if got := b.sh(tree.Dir(), `git status --porcelain; ls; readlink link; cat out.log`); got != "a\"quote\na.txt\nbin\ncore.12\ncore.2d.js\nlink\nnode_modules\nout.log\nsub\nx\na.txt\nno\n" {
		t.Fatalf("after Restore: %q", got)
	}
}

func TestResumeAndFresh(t *testing.T) {
	b := newSandbox(t)
	tree := b.checkout()
	os.WriteFile(filepath.Join(tree.Dir(), "new"), []byte("1"), 0o644)
	c := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "one"))
	must[string](t)(tree.SaveRecord(b.ctx, map[string][]byte{"journal.jsonl": []byte("{}\n"), "a b": {0, '\n'}}, "record"))
	must[*Moved](t)(tree.Push(b.ctx))
	b.sh(b.dir, `cd seed; echo more >more; git add .; git commit -qm more; git push -q ../remote.git main; rm -rf ../root`)

	again := b.checkout()
	if again.Base() != b.base || again.Head() != c.SHA || !again.Resumed() {
		t.Fatalf("resumed at %s, base %s", again.Head(), again.Base())
	}
	r, ok, err := again.LoadRecord(b.ctx)
	if err != nil || !ok || string(r.Files["journal.jsonl"]) != "{}\n" || string(r.Files["a b"]) != "\x00\n" ||
		r.Task != "issue-42" {
		t.Fatal(r, ok, err)
	}
	all, _, err := RecordsWith(b.ctx, Options{Root: b.dir, Remote: Remote{URL: b.remote}, Env: testEnv(b.home)[:2]},
		RefFiles{Below: "refs/ralph/leases/"})
	if err != nil || len(all) != 1 || all[0].Task != "issue-42" || all[0].SHA != r.SHA ||
		string(all[0].Files["journal.jsonl"]) != "{}\n" {
		t.Fatal(all, err)
	}
	again.BeginFresh()
	if again.Base() == b.base || again.Head() != again.Base() {
		t.Fatalf("starts fresh at %s, base %s", again.Head(), again.Base())
	}
	os.RemoveAll(filepath.Join(b.dir, "root"))

	fresh := b.checkout(func(o *Options) { o.Fresh = true })
	if fresh.Base() == b.base || fresh.Resumed() {
		t.Fatalf("fresh at %s, base %s", fresh.Head(), fresh.Base())
	}
	os.WriteFile(filepath.Join(fresh.Dir(), "other"), []byte("1"), 0o644)
	d := must[loop.Commit](t)(fresh.Commit(b.ctx, fresh.Base(), "two"))
	must[*Moved](t)(fresh.Push(b.ctx))
	got := b.sh(b.remote, `git for-each-ref --format='%(objectname) %(refname)' refs/heads/ralph refs/heads/wip`)
	if want := d.SHA + " refs/heads/ralph/issue-42\n" + c.SHA + " refs/heads/wip/archive/ralph/issue-42-" + c.SHA[:8] +
		"\n"; got != want {
		t.Fatalf("the remote has\n%swant\n%s", got, want)
	}
}

func TestReadsCommitsNotFiles(t *testing.T) {
	b := newSandbox(t)
	tree := b.checkout()
	os.WriteFile(filepath.Join(tree.Dir(), ".ralph", "settings.json"), []byte("evil"), 0o644)
	text, ok, err := tree.File(b.ctx, tree.Base(), ".ralph/settings.json")
	if err != nil || !ok || string(text) != "{}\n" {
		t.Fatalf("%q %v %v", text, ok, err)
	}
	if text, ok, err := tree.Read(b.ctx, tree.Base(), "a.txt", 6); err != nil || !ok || string(text) != "one\ntw" {
		t.Errorf("%q %v %v", text, ok, err)
	}
	for _, name := range []string{"none", "link", "sub", "*", "../a.txt"} {
		if text, ok, err := tree.Read(b.ctx, tree.Base(), name, 6); ok || name != "../a.txt" && err != nil {
			t.Errorf("%s: %q %v %v", name, text, ok, err)
		}
	}
	if _, _, err := tree.File(b.ctx, tree.Base(), "link"); err == nil {
		t.Fatal("a link was read")
	}
	names, err := tree.List(b.ctx, tree.Base())
	if got := strings.Join(names, " "); err != nil || got != ".gitignore .ralph a.txt link sub" {
		t.Fatal(got, err)
	}
	c := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "x"))
	diff := must[string](t)(tree.Diff(b.ctx, b.base, c.SHA, 1000))
	if !strings.Contains(diff, "-{}\n+evil\n") {
		t.Fatal(diff)
	}
	if diff := must[string](t)(tree.Diff(b.ctx, b.base, c.SHA, 10)); !strings.HasPrefix(diff, "diff --git\n[... ") {
		t.Fatal(diff)
	}
}

func TestCheckoutSaysWhatIsMissing(t *testing.T) {
	b := newSandbox(t)
	b.sh(b.dir, `git init -q --bare -b main empty.git`)
	for name, c := range map[string]struct{ url, base, want string }{
		"empty":   {filepath.Join(b.dir, "empty.git"), "", "has no commit yet: push a first one"},
		"no base": {b.remote, "develop", "has no branch develop: create it"},
	} {
		o := b.options()
		o.Root, o.Remote.URL = filepath.Join(b.dir, name), c.url
		if _, err := Checkout(b.ctx, o, c.base, "ralph/x"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMovedBranch(t *testing.T) {
	b := newSandbox(t)
	tree := b.checkout(b.asNobody)
	b.sh(tree.Dir(), `echo 1 >one`)
	c := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "one"))
	must[*Moved](t)(tree.Push(b.ctx))
	b.as = nil
	b.sh(b.dir,
		`cd seed; git fetch -q ../remote.git ralph/issue-42; git checkout -q -b w FETCH_HEAD; mkdir d; echo theirs >d/theirs; git add .; git commit -qm theirs; git push -q ../remote.git w:ralph/issue-42`)
	b.as = tree.o.As
	b.sh(tree.Dir(), `echo 2 >two`)
	d := must[loop.Commit](t)(tree.Commit(b.ctx, c.SHA, "two"))
	must[string](t)(tree.SaveRecord(b.ctx, map[string][]byte{"journal.jsonl": []byte("1")}, "record"))
	moved := must[*Moved](t)(tree.Push(b.ctx))
	if moved == nil || moved.From != d.SHA || moved.Commit.SHA != tree.Head() || len(moved.Commit.Files) != 1 ||
		moved.Commit.Files[0].Path != "two" {
		t.Fatalf("%+v", moved)
	}
	if got := b.sh(tree.Dir(),
		`git status --porcelain; git log --format=%s; ls; echo mine >>d/theirs; touch d/new; git rev-parse HEAD`); got != "two\ntheirs\none\nfirst\na.txt\nd\nlink\none\nsub\ntwo\n"+tree.Head()+"\n" {
		t.Fatalf("%q", got)
	}
	b.as = nil
	if got := b.sh(b.remote, `git rev-parse ralph/issue-42`); strings.TrimSpace(got) != tree.Head() {
		t.Fatal(got)
	}

	// And now a change that does not go with ours.
	b.sh(b.dir,
		`cd seed; git fetch -q ../remote.git ralph/issue-42; git checkout -q --detach FETCH_HEAD; echo other >a.txt; git commit -qam other; git push -q ../remote.git HEAD:ralph/issue-42`)
	os.WriteFile(filepath.Join(tree.Dir(), "a.txt"), []byte("ours"), 0o644)
	e := must[loop.Commit](t)(tree.Commit(b.ctx, tree.Head(), "three"))
	_, err := tree.Push(b.ctx)
	var conflict *ConflictError
	if !errors.As(err, &conflict) || tree.Head() != e.SHA {
		t.Fatal(err)
	}
	if dirty, err := tree.Clean(b.ctx); err != nil || len(dirty) != 0 {
		t.Fatal(dirty, err)
	}
	b.sh(b.remote, `git update-ref -d refs/heads/ralph/issue-42`)
	if _, err := tree.Push(b.ctx); !errors.As(err, &conflict) ||
		!strings.Contains(err.Error(), "no longer exists there") {
		t.Fatal(err)
	}
}

func TestCheckBranchName(t *testing.T) {
	for name, ok := range map[string]bool{"ralph/issue-42": true, "": false, "-x": false, "a..b": false, "HEAD": false,
		"a b": false, "a.lock": false} {
		if err := CheckBranchName(t.Context(), name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestFailureBranchAndArchive: in a clone nothing else moves, and nothing is pushed.
func TestFailureBranchAndArchive(t *testing.T) {
	for _, shape := range []string{"bot", "clone"} {
		b := newSandbox(t)
		tree, origin := b.work(shape), b.remote
		b.as = nil
		if shape == "clone" {
			origin = filepath.Join(b.dir, "clone")
		}
		one := b.turn(tree, `echo 1 >new`)
		const name, message = "wip/ralph-fail-issue-42-20261121-053000", "Ralph Loop failed: issue-42\n\nLast gate: make test\n"
		b.sh(origin, `git branch wip `+b.base) // it has dashes for its slashes then
		beside := must[string](t)(tree.FailureBranch(b.ctx, tree.Head(), name, message, nil))
		if beside != strings.Replace(name, "/", "-", 1) || b.sh(origin, `git log -1 --format=%P `+beside) != one+"\n" {
			t.Fatal(beside)
		}
		b.sh(origin, `git branch -q -D wip`)
		must[string](t)(tree.FailureBranch(b.ctx, tree.Head(), name, message, map[string][]byte{".ralph_state.md": []byte("s")}))
		sha := strings.TrimSpace(b.sh(origin, `git rev-parse `+name))
		if got := b.sh(origin, `git log -1 --format='%P%n%B' `+name+`; git show `+name+`:.ralph_state.md; git cat-file -e `+name+`:new`); got !=
			one+"\n"+message+"\ns" {
			t.Errorf("%s: %q", shape, got)
		}
		b.sh(origin, `git update-ref refs/heads/wip/ralph-fail-issue-42-7-20261121-053000 `+b.base) // of another task
		for range 2 {
			noError(t, tree.Archive(b.ctx))
		}
		want := sha + " refs/heads/wip/archive/ralph-fail-issue-42-20261121-053000\n" + b.base +
			" refs/heads/wip/ralph-fail-issue-42-7-20261121-053000\n"
		if got := b.sh(origin, `git for-each-ref --format='%(objectname) %(refname)' refs/heads/wip`); got != want {
			t.Errorf("%s: %s", shape, got)
		}
		if got := b.sh(b.remote, `git for-each-ref --format='%(refname)'`); shape == "clone" && got != "refs/heads/main\n" {
			t.Errorf("pushed are %s", got)
		}
		if dirty, err := tree.Clean(b.ctx); err != nil || len(dirty) != 0 {
			t.Error(dirty, err)
		}
		if _, err := tree.FailureBranch(b.ctx, tree.Head(), "a..b", "", nil); err == nil {
			t.Error("a bad name was taken")
		}
	}
}
