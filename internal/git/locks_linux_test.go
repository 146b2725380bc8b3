package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

// begun is a git of the user's that holds the clone's index for as long as its editor is open.
func (b *sandbox) begun(dir string) *exec.Cmd {
	b.t.Helper()
	git := exec.Command("git", "-C", dir, "commit", "-q", "--allow-empty", "-a")
	git.Env = append(testEnv(b.home),
		"GIT_EDITOR=touch '"+b.dir+"/open'; while [ -e '"+b.dir+"/open' ]; do sleep 0.1; done; :")
	if err := git.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _, _ = git.Process.Kill(), git.Wait() })
	for end := time.Now().Add(time.Minute); !exists(filepath.Join(b.dir, "open")) && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	if !exists(filepath.Join(dir, ".git", "index.lock")) {
		b.t.Fatal("git holds no lock")
	}
	return git
}

// A lock that a living git of the user's holds is never taken away, however old it is and whoever has died there; the
// run does not begin, and says why. When that git has died, its lock is as good as ours.
func TestLockOfALivingGit(t *testing.T) {
	t.Parallel()
	b := newSandbox(t)
	dir := b.clone()
	git, lock := b.begun(dir), filepath.Join(dir, ".git", "index.lock")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(lock, old, old); err != nil {
		t.Fatal(err)
	}
	o := b.options()
	b.sh(b.dir, "mkdir -p root && touch root/open") // a ralph was killed here
	_, err := Open(b.ctx, dir, o, "ralph/issue-42", "")
	if err == nil || !strings.Contains(err.Error(),
		"is locked: "+lock+" is there, and git is at work in the clone (process "+strconv.Itoa(git.Process.Pid)+": git ") {
		t.Errorf("it says %v", err)
	}
	if !exists(lock) {
		t.Fatal("the lock is removed")
	}
	_, _ = git.Process.Kill(), git.Wait()
	tree, err := Open(b.ctx, dir, o, "ralph/issue-42", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Start(b.ctx); err != nil || exists(lock) {
		t.Errorf("%v; the lock is there: %v", err, exists(lock))
	}
}

// Locks that a killed ralph has left are removed; a young one that nobody of ours can have left is not.
func TestLocksOfTheDead(t *testing.T) {
	t.Parallel()
	for _, died := range []bool{true, false} {
		b := newSandbox(t)
		dir := b.clone()
		b.sh(dir, "mkdir -p ../root .git/refs/heads/ralph; touch .git/index.lock .git/HEAD.lock .git/packed-refs.lock "+
			".git/refs/heads/ralph/issue-42.lock")
		if died {
			b.sh(dir, "touch ../root/open")
		}
		tree, err := Open(b.ctx, dir, b.options(), "ralph/issue-42", "")
		if err == nil {
			err = tree.Start(b.ctx)
		}
		left := b.sh(dir, "find .git -name '*.lock' | wc -l")
		if died && (err != nil || strings.TrimSpace(left) != "0") || !died && (err == nil || strings.TrimSpace(left) != "4") {
			t.Errorf("a ralph has died: %v; %v; locks: %s", died, err, left)
		}
	}
}

// A git of the harness that is killed leaves its locks in the harness's own repository: they are in nobody's way.
func TestLocksInOurOwnRepository(t *testing.T) {
	t.Parallel()
	b := newSandbox(t)
	dir := b.clone()
	tree := b.open()
	b.sh(dir, `echo 1 >one`)
	c := must[loop.Commit](t)(tree.Commit(b.ctx, b.base, "one"))
	b.sh(tree.dir,
		`touch HEAD.lock index.lock packed-refs.lock config.lock refs/heads/ralph/issue-42.lock`) // and here it is killed
	again, err := Open(b.ctx, dir, tree.o, "ralph/issue-42", "")
	if err == nil {
		err = again.Start(b.ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	b.sh(dir, `echo 2 >two`)
	if d := must[loop.Commit](t)(again.Commit(b.ctx, c.SHA, "two")); len(d.Files) != 1 {
		t.Errorf("%+v", d)
	}
	if left := b.sh(tree.dir, `find . -name '*.lock'`); left != "" {
		t.Errorf("there is %s", left)
	}
}

// A ralph that is killed before its first record has left its branch, or only the mark of it: the next start begins as
// the first one did. A branch of that name which the user has made is refused.
func TestKilledBeforeTheFirstRecord(t *testing.T) {
	t.Parallel()
	for what, leave := range sampled(t, map[string]string{
		"nothing":               `git checkout -q main; git branch -D ralph/issue-42; rm -r .git/ralph`,
		"the mark":              `git checkout -q main; git branch -D ralph/issue-42`,
		"the branch":            `git checkout -q main`,
		"the branch and HEAD":   `:`,
		"half a new mark":       `for f in $(find .git/ralph -name branch); do printf 123 >$f.ralph-new; done`,
		"the user's own branch": `git checkout -q main; git branch -q -D ralph/issue-42; git branch ralph/issue-42; rm -r .git/ralph`,
	}, "the mark", "half a new mark", "the user's own branch") {
		b := newSandbox(t)
		dir := b.clone()
		first := b.open()
		b.sh(dir, leave)
		tree, err := Open(b.ctx, dir, first.o, "ralph/issue-42", "")
		if what == "the user's own branch" {
			if err == nil || !strings.Contains(err.Error(),
				"the branch ralph/issue-42 exists, and nothing shows that ralph has made it") {
				t.Errorf("%s: %v", what, err)
			}
			continue
		}
		if err == nil {
			err = tree.Start(b.ctx)
		}
		if err != nil || tree.Base() != b.base || tree.BaseBranch() != "main" || tree.Head() != b.base {
			t.Errorf("%s: %v, %+v", what, err, tree)
		}
	}
}
