package git

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestModifiedFilesAreLeftOut: a run beside modified files neither commits nor changes them, whatever the agent does,
// and the clone's index has of them what it had.
func TestModifiedFilesAreLeftOut(t *testing.T) {
	const before = `git add -A; git commit -qm more; echo edited >>a.txt; echo staged >s.txt; git add s.txt; echo later >>s.txt; echo new >staged-new; git add staged-new; git rm -q --cached gone.txt; rm kept.txt`
	for name, c := range sampled(t, map[string]struct{ do, files, note string }{
		"other work": {`echo w >work`, "work", ""},
		"git add -A": {`echo w >work; git add -A`, "work", ""},
		"commit all": {`echo w >work; git add -A; git commit -qm all`, "work",
			"hold files that are left out of the run"},
		"commit its own": {`echo w >work; git add work; git commit -qm mine --only work`, "work", ""},
		"edits one": {`echo w >work; echo agent >>a.txt`, "work",
			"what was changed in a.txt is not committed: it was modified before the run"},
		"another branch": {`git checkout -q -b other; echo w >work; git add work; git commit -qm there --only work`, "work",
			"switched to"},
		"stash of nothing": {`echo w >work; git status >/dev/null; git diff >/dev/null`, "work", ""},
	}, "commit all", "edits one") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newSandbox(t)
			dir := b.clone()
			b.sh(dir, `echo s >s.txt; echo g >gone.txt; echo k >kept.txt; `+before)
			status := b.sh(dir, `git status --porcelain; git diff; git diff --cached`)
			if _, err := Open(b.ctx, dir, b.cliOptions(), "ralph/issue-42", ""); err == nil ||
				!strings.Contains(err.Error(), "tracked files are modified (a.txt, gone.txt, kept.txt, s.txt, staged-new)") {
				t.Fatal(err)
			}
			tree := b.open(func(o *Options) { o.AllowDirty = true })
			since := tree.Head()
			shown := func() string {
				return b.sh(dir, `git status --porcelain -- . ':!work'; git diff; git diff --cached`)
			}
			if got := shown(); got != status {
				t.Fatalf("the clone's index after the start:\n%s\nwas\n%s", got, status)
			}
			b.sh(dir, c.do)
			made := must[loop.Commit](t)(tree.Commit(b.ctx, since, "work"))
			var files []string
			for _, f := range made.Files {
				files = append(files, f.Path)
			}
			if got := strings.Join(files, " "); got != c.files || !strings.Contains(made.Note, c.note) || c.note == "" &&
				made.Note != "" {
				t.Errorf("committed %q, note %q", got, made.Note)
			}
			if got := shown(); got != status && name != "edits one" {
				t.Errorf("the clone's index and files:\n%s\nwere\n%s", got, status)
			}
			if dirty, err := tree.Clean(b.ctx); err != nil || dirty != nil {
				t.Errorf("%q %v", dirty, err)
			}
			b.sh(dir, `echo junk >>sub/b.txt; echo junk >junk`)
			if err := tree.Restore(b.ctx); err != nil {
				t.Fatal(err)
			}
			if got := shown(); got != status && name != "edits one" {
				t.Errorf("after a restoration:\n%s\nwas\n%s", got, status)
			}
			again := b.open(func(o *Options) { o.Resume, o.Settled = true, true })
			b.sh(dir, `echo w2 >work`)
			if more := must[loop.Commit](t)(again.Commit(b.ctx, made.SHA, "more")); len(more.Files) != 1 ||
				more.Files[0].Path != "work" {
				t.Errorf("%+v", more)
			}
			if got := shown(); got != status && name != "edits one" {
				t.Errorf("after another process:\n%s\nwas\n%s", got, status)
			}
			if err := again.Return(b.ctx); err != nil {
				t.Fatal(err)
			}
			if got := shown(); got != status && name != "edits one" {
				t.Errorf("at the end:\n%s\nwas\n%s", got, status)
			}
		})
	}
}

// TestMarkedFilesAreLeftOut: so are files that the user has marked as not to be looked at.
func TestMarkedFilesAreLeftOut(t *testing.T) {
	for _, mark := range []string{"skip-worktree", "assume-unchanged"} {
		b := newSandbox(t)
		dir := b.clone()
		b.sh(dir, `git update-index --`+mark+` a.txt; echo mine >a.txt`)
		tree := b.open()
		b.sh(dir, `git update-index --no-`+mark+` a.txt; echo w >work; git add -A; git commit -qm all`)
		made := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "work"))
		if len(made.Files) != 1 || made.Files[0].Path != "work" || !strings.Contains(made.Note, "left out of the run") {
			t.Errorf("%+v", made)
		}
		if err := tree.Restore(b.ctx); err != nil {
			t.Fatal(err)
		}
		if got := b.sh(dir, `cat a.txt; git ls-files -v a.txt; git status --porcelain`); !strings.HasPrefix(got, "mine\n") ||
			strings.Contains(got, " M") {
			t.Errorf("%q", got)
		}
	}
}

// TestWhatIsUnderWay: what the user has begun in the clone is neither gone on with nor dropped.
func TestWhatIsUnderWay(t *testing.T) {
	for begin, want := range map[string]string{
		`git checkout -q -b o; echo 1 >one; git add one; git commit -qm one; git checkout -q main; git merge -q --no-commit --no-ff o`:                                                                                                 "a merge is under way",
		`echo 1 >one; git add one; git commit -qm one; GIT_SEQUENCE_EDITOR="sed -i s/^pick/edit/" git rebase -q -i HEAD~1`:                                                                                                             "a rebase is under way",
		`git bisect start -q 2>/dev/null || git bisect start`:                                                                                                                                                                          "a bisection is under way in this clone: end it (git bisect reset), then run again",
		`echo x >one; git add one; git commit -qm one; git checkout -q -b o HEAD~; git cherry-pick --no-commit main; git reset -q --hard; echo x >one; git add one; git commit -qm mine; git cherry-pick main >/dev/null 2>&1 || true`: "a cherry-pick is under way",
	} {
		b := newSandbox(t)
		dir := b.clone()
		b.sh(dir, begin)
		before := b.sh(dir, `git status`)
		_, err := Open(b.ctx, dir, b.cliOptions(), "ralph/issue-42", "")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", begin, err)
		}
		if after := b.sh(dir, `git status`); after != before {
			t.Errorf("%s:\n%s\nwas\n%s", begin, after, before)
		}
	}
}
