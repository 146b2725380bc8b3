package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

func TestCloneIteration(t *testing.T) {
	b := newSandbox(t)
	dir := b.clone()
	b.sh(dir, `echo own >own.txt; mkdir mine; echo 1 >'mine/a [b]*'; printf x >'nl
x'; echo t >x.tmp; printf '#!/bin/sh\nexit 1\n' >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`)
	tree := b.open()
	if tree.Dir() != dir || tree.Base() != b.base || tree.BaseBranch() != "main" {
		t.Fatal(tree.Dir(), tree.Base(), tree.BaseBranch())
	}
	b.sh(dir,
		`echo four >>a.txt; echo changed >own.txt; echo new >mine/agent; echo 1 >y.tmp; mkdir -p .ralph/runs; echo x >.ralph/runs/j; touch .ralph.lock; git add a.txt`)
	c := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "subject\n"))
	if len(c.Files) != 2 || c.Files[0].Path != "a.txt" || c.Files[1].Path != "mine/agent" || c.Note != "" {
		t.Fatalf("%+v", c)
	}
	if got := b.sh(dir, `git log -1 --format='%an %ae %s'; git branch --show-current`); !strings.HasPrefix(got,
		"Alice alice") && got != "Bob bob@example.com subject\nralph/issue-42\n" {
		t.Fatal(got)
	}
	b.sh(dir, `echo junk >junk; echo dirt >a.txt; git checkout -q --detach`)
	if dirty, err := tree.Clean(b.ctx); err != nil || strings.Join(dirty, " ") != "a.txt" {
		t.Fatal(dirty, err)
	}
	if err := tree.Restore(b.ctx); err != nil {
		t.Fatal(err)
	}
	if got := b.sh(dir, `ls; cat own.txt; git symbolic-ref HEAD; git status --porcelain --ignored`); got !=
		"a.txt\nlink\nmine\nnl\nx\nown.txt\nsub\nx.tmp\ny.tmp\nchanged\nrefs/heads/ralph/issue-42\n?? \"mine/a [b]*\"\n?? "+
			"\"nl\\nx\"\n?? own.txt\n!! .ralph.lock\n!! .ralph/runs/\n!! x.tmp\n!! y.tmp\n" {
		t.Fatalf("%q", got)
	}
	must[string](t)(tree.SaveRecord(b.ctx, map[string][]byte{"journal.jsonl": []byte("1\n")}, "r"))
	if moved, err := tree.Push(b.ctx); moved != nil || err != nil {
		t.Fatal(moved, err)
	}
	sha := must[string](t)(tree.FailureBranch(b.ctx, "wip/ralph-fail-issue-42-20261121-053000", "m\n",
		map[string][]byte{".ralph_state.md": []byte("s")}))
	if err := tree.Archive(b.ctx); err != nil {
		t.Fatal(err)
	}
	if got := b.sh(dir,
		`git for-each-ref --format='%(objectname) %(refname)' refs/heads/wip; git -C ../remote.git for-each-ref --format='%(refname)'`); got != sha+" refs/heads/wip/archive/ralph-fail-issue-42-20261121-053000\nrefs/heads/main\n" {
		t.Fatal(got)
	}
}

func TestCloneIsTakenUpAgain(t *testing.T) {
	b := newSandbox(t)
	dir := b.clone()
	b.sh(dir, `echo own >own.txt`)
	tree := b.open()
	b.sh(dir, `echo 1 >one`)
	c := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "one"))
	must[string](t)(tree.SaveRecord(b.ctx, map[string][]byte{"journal.jsonl": []byte("1\n")}, "r"))
	b.sh(dir,
		`echo 2 >two; echo 2 >>a.txt; git add two; git -c core.hooksPath=/dev/null commit -qm agent; echo 3 >three; touch .git/index.lock; touch -d '2 minutes ago' .git/index.lock`) // and here it is killed

	o := b.cliOptions()
	if _, err := Open(b.ctx, dir, o, "ralph/issue-42", ""); err == nil ||
		!strings.Contains(err.Error(), "tracked files are modified (a.txt): commit or stash") {
		t.Fatal(err)
	}
	again := b.open(func(o *Options) { o.Resume = true })
	if again.Base() != b.base || again.BaseBranch() != "main" || !again.Resumed() {
		t.Fatal(again.Base(), again.BaseBranch())
	}
	if r, ok, err := again.LoadRecord(b.ctx); err != nil || !ok || string(r.Files["journal.jsonl"]) != "1\n" {
		t.Fatal(r, ok, err)
	}
	d := must[loop.Commit](t)(again.Commit(b.ctx, c.SHA, "left over"))
	if got := b.files(again, d.SHA); !strings.Contains(got, "three\ntwo") || strings.Contains(got, "own.txt") {
		t.Fatal(got)
	}
	if got := b.sh(dir,
		`git log --format=%s; git status --porcelain`); got != "left over\nagent\none\nfirst\n?? own.txt\n" {
		t.Fatal(got)
	}
	// Everything of the agent's is committed: what somebody else has put there since is not cleared away.
	b.sh(dir, `echo mine >mine.txt`)
	if err := b.open(func(o *Options) { o.Resume, o.Settled = true, true }).Restore(b.ctx); err != nil {
		t.Fatal(err)
	}
	if got := b.sh(dir, `git status --porcelain; rm mine.txt`); got != "?? mine.txt\n?? own.txt\n" {
		t.Fatal(got)
	}
	// A run that begins anew, while the clone still stands on the run's branch.
	fresh := b.open(func(o *Options) { o.Fresh = true })
	if got := b.sh(dir, `git log --format=%s; git log --format=%s wip/archive/ralph/issue-42-`+
		d.SHA[:8]); fresh.Base() != b.base || got != "first\nleft over\nagent\none\nfirst\n" {
		t.Fatal(got)
	}
}

func TestOpenSaysWhatToDo(t *testing.T) {
	b := newSandbox(t)
	dir := b.clone()
	for name, c := range map[string]struct{ do, at, base, want string }{
		"nothing": {"mkdir ../plain", "../plain", "", "is not in a git repository with a working tree: change into one"},
		"bare":    {"true", "../remote.git", "", "is not in a git repository with a working tree"},
		"unborn":  {"git init -q ../unborn", "../unborn", "", "has no commit yet: make a first one"},
		"dirty": {"git clone -q . ../dirty; cd ../dirty; for i in 1 2 3 4 5 6 7; do echo >f$i; done; git add .",
			"../dirty", "", "(f1, f2, f3, f4, f5 and 2 more): commit or stash"},
		"shallow": {"git clone -q --depth 1 \"file://$PWD\" ../shallow", "../shallow", "v1",
			"is shallow and does not hold v1: run git fetch --unshallow"},
		"no base": {"true", ".", "v1", "v1 is not a commit or branch of this clone"},
		"not ours": {"git clone -q . ../theirs; cd ../theirs; git branch ralph/issue-42", "../theirs", "",
			"exists, and nothing shows that ralph has made it: rename or delete it"},
	} {
		b.sh(dir, c.do)
		_, err := Open(b.ctx, filepath.Join(dir, c.at), b.cliOptions(), "ralph/issue-42", c.base)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.sh(dir, `git checkout -q --detach`)
	tree := b.open()
	if tree.BaseBranch() != "" || tree.Base() != b.base {
		t.Error(tree.BaseBranch())
	}
}

// TestBranchOfAnotherWorkingTree: ralph has made the branch there, and says so.
func TestBranchOfAnotherWorkingTree(t *testing.T) {
	b := newSandbox(t)
	dir := b.clone()
	b.open().Close()
	b.sh(dir, `git checkout -q --detach; git worktree add -q --detach ../second`)
	second := filepath.Join(filepath.Dir(dir), "second")
	if _, err := Open(b.ctx, second, b.cliOptions(), "ralph/issue-42", ""); err == nil ||
		!strings.Contains(err.Error(), "belongs to a run in the working tree "+dir+": go on there") {
		t.Error(err)
	}
	tree, err := Open(b.ctx, second, b.cliOptions(), "ralph/issue-43", "")
	if err == nil {
		err = tree.Start(b.ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	tree.Close()
	if _, err := Open(b.ctx, dir, b.cliOptions(), "ralph/issue-43", ""); err == nil ||
		!strings.Contains(err.Error(), "belongs to a run in the working tree "+second+": go on there") {
		t.Error(err)
	}
}

// TestBranchWithoutMark: an earlier version noted that a branch was its own only after it had made it, and may have
// been killed in between. Of a branch on which anything has happened since, or that a person has made, that cannot be
// so.
func TestBranchWithoutMark(t *testing.T) {
	for name, c := range sampled(t, map[string]struct{ do, want string }{
		"as ralph makes it": {`git checkout -q --no-track -B ralph/issue-42 $(git rev-parse HEAD) --`, ""},
		"and HEAD elsewhere": {`git checkout -q --no-track -B ralph/issue-42 $(git rev-parse HEAD) --; git checkout -q main`,
			""},
		"as people make it":   {`git checkout -qb ralph/issue-42`, "nothing shows that ralph has made it"},
		"with a commit on it": {`git checkout -q --no-track -B ralph/issue-42 $(git rev-parse HEAD) --; git commit -q --allow-empty -m mine`, "nothing shows that ralph has made it"},
		"without a log":       {`git -c core.logAllRefUpdates=false checkout -q --no-track -B ralph/issue-42 $(git rev-parse HEAD) --`, "nothing shows that ralph has made it"},
	}, "and HEAD elsewhere", "with a commit on it", "without a log") {
		t.Run(name, func(t *testing.T) {
			b := newSandbox(t)
			dir := b.clone()
			b.sh(dir, c.do)
			for range 2 { // a refusal is no leave for the next start
				tree, err := Open(b.ctx, dir, b.cliOptions(), "ralph/issue-42", "")
				if c.want != "" {
					if err == nil || !strings.Contains(err.Error(), c.want) {
						t.Errorf("%v", err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(tree.Start(b.ctx), tree.Close()); err != nil || tree.Base() != b.base {
					t.Errorf("%v, base %s, want %s", err, tree.Base(), b.base)
				}
			}
		})
	}
}

func TestLinkedWorktree(t *testing.T) {
	b := newSandbox(t)
	dir := b.clone()
	b.sh(dir,
		`git worktree add -q ../linked -b side; rm -r ../clone/sub; mv ../linked ../x; git worktree repair ../x 2>/dev/null`)
	tree, err := Open(b.ctx, filepath.Join(b.dir, "x"), b.cliOptions(), "ralph/issue-42", "")
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if err := tree.Start(b.ctx); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(filepath.Join(tree.Dir(), "new"), []byte("1"), 0o644)
	c := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "x"))
	review := must[*Review](t)(tree.Review(b.ctx, c.SHA))
	if got := b.sh(review.Dir(), `git -c safe.directory='*' log --format=%s; cat new`); got != "x\nfirst\n1" {
		t.Fatal(got)
	}
	if err := review.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestRemoteURL(t *testing.T) {
	b := newSandbox(t)
	dir := b.clone()
	if url, err := RemoteURL(b.ctx, dir, testEnv(b.home)); url != b.remote || err != nil {
		t.Fatal(url, err)
	}
	b.sh(dir, `git remote remove origin`)
	if url, err := RemoteURL(b.ctx, dir, testEnv(b.home)); url != "" || err != nil {
		t.Fatal(url, err)
	}
}
