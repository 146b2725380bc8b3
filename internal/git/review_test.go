package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/need"
	"github.com/ralph-loop/ralph/internal/loop"
)

func TestReview(t *testing.T) {
	for i, shape := range []string{"bot", "clone"} {
		rows := map[string]struct{ do, what string }{
			"nothing":      {`git log --stat >/dev/null; git status --porcelain; git diff HEAD~; cat a.txt >/dev/null; touch x 2>/dev/null || true; rm -f x 2>/dev/null || true`, ""},
			"a file":       {`chmod u+w a.txt; echo x >>a.txt; touch -d 2020-01-01 a.txt`, "a.txt"},
			"a new file":   {`chmod u+w .; echo x >new.log`, "new.log"},
			"a file gone":  {`chmod u+w sub; rm -f sub/b.txt`, "sub"},
			"HEAD there":   {`chmod -R u+w .git; git checkout -q --detach HEAD~`, ".git/HEAD"},
			"the run's":    {`cd "$RUN"; echo x >>a.txt`, "a.txt in the run's tree"},
			"new in run's": {`cd "$RUN"; echo x >new`, "new in the run's tree"},
			"the run's ref": {`cd "$RUN"; git checkout -q -b other; git branch -f ralph/issue-42 HEAD~`,
				"HEAD of the run's tree"},
		}
		tried := []string{"nothing", "HEAD there", "new in run's"}
		if i == 1 {
			tried = []string{"a file", "the run's ref"}
		}
		for name, c := range sampled(t, rows, tried...) {
			t.Run(shape+"/"+name, func(t *testing.T) {
				t.Parallel()
				b := newSandbox(t)
				tree := b.work(shape)
				b.sh(tree.Dir(), `echo 1 >one; echo x >x.log`)
				commit := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "one"))
				r := must[*Review](t)(tree.Review(b.ctx, commit.SHA))
				do := strings.Join(r.Env(), "'; export '")
				do = "export '" + do + "'; RUN='" + tree.Dir() + "'; " + c.do
				if b.as != nil && strings.Contains(c.do, "chmod") { // that user cannot; somebody who can does it
					b.as = nil
				}
				b.sh(r.Dir(), do)
				ok, what, err := r.Untouched(b.ctx)
				if err != nil || ok != (c.what == "") || !strings.Contains(what, c.what) {
					t.Errorf("%v %q %v", ok, what, err)
				}
				if head := tree.headNow(); head != (place{"refs/heads/ralph/issue-42", commit.SHA}) {
					t.Errorf("the run's HEAD is %v", head)
				}
				if left, err := tree.git.uncommitted(b.ctx, nil); err != nil || len(left) > 0 {
					t.Errorf("the run's tree is left with %q %v", left, err)
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
				if _, err := os.Stat(r.Dir()); err == nil {
					t.Error("the checkout is still there")
				}
			})
		}
	}
}

func TestReviewIsNotWritable(t *testing.T) {
	need.That(t, "root", os.Getuid() == 0) // nobody else can make files that another user owns
	b := newSandbox(t)
	tree := b.checkout(b.asNobody)
	r := must[*Review](t)(tree.Review(b.ctx, b.base))
	defer r.Close()
	export := "export '" + strings.Join(r.Env(), "' '") + "'; "
	got := b.sh(r.Dir(),
		export+
			`for f in a.txt new .git/HEAD .git/new sub/new; do (echo x >>$f) 2>/dev/null && echo wrote $f; done; chmod u+w a.txt 2>/dev/null || echo no; git log --format=%s; git diff --stat HEAD`)
	if got != "no\nfirst\n" {
		t.Fatal(got)
	}
	got = b.sh(tree.Dir(),
		`for f in repo.git/HEAD repo.git/config index gitconfig x repo.git/objects/x; do (echo x >>../$f) 2>/dev/null && echo wrote $f; done; cd ../repo.git && git --git-dir="$PWD" cat-file -t HEAD`)
	if got != "commit\n" {
		t.Fatal(got)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "root", "repo.git", "hooks")); err == nil {
		t.Fatal("there are hooks")
	}
}
