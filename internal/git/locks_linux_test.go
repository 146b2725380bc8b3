package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// begun is a git of the user's that holds the clone's index for as long as its editor is open.
func (b *sandbox) begun(dir string) *exec.Cmd {
	b.t.Helper()
	git := exec.Command("git", "-C", dir, "commit", "-q", "--allow-empty", "-a")
	git.Env = append(testEnv(b.home),
		"GIT_EDITOR=touch '"+b.dir+"/open'; while [ -e '"+b.dir+"/open' ]; do sleep 0.1; done; :")
	noError(b.t, git.Start())
	b.t.Cleanup(func() { _, _ = git.Process.Kill(), git.Wait() })
	for end := time.Now().Add(time.Minute); !exists(filepath.Join(b.dir, "open")) && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	if !exists(filepath.Join(dir, ".git", "index.lock")) {
		b.t.Fatal("git holds no lock")
	}
	return git
}

// A git of the user's that is at work, and its lock of the index, are in nobody's way. One of a ref that the run moves is
// never taken away while a git is at work: the run does not begin, and says why. When that has died, it is.
func TestLockOfALivingGit(t *testing.T) {
	t.Parallel()
	b := newSandbox(t)
	dir := b.clone()
	git, lock := b.begun(dir), filepath.Join(dir, ".git", "packed-refs.lock")
	killed := func(o *Options) { o.Killed = true }
	b.turn(b.open(killed), `echo 1 >one`)
	if !exists(filepath.Join(dir, ".git", "index.lock")) {
		t.Error("the lock of the index is removed")
	}
	b.sh(dir, `touch -d '1 hour ago' .git/packed-refs.lock`)
	o := b.cliOptions()
	o.Ours = true
	_, err := CheckoutOf(b.ctx, dir, o, "", "ralph/issue-42")
	if err == nil || !strings.Contains(err.Error(),
		"is locked: "+lock+" exists, and git is running in the clone (process "+strconv.Itoa(git.Process.Pid)+": git ") {
		t.Errorf("it says %v", err)
	}
	if !exists(lock) {
		t.Fatal("the lock is removed")
	}
	_, _ = git.Process.Kill(), git.Wait()
	b.turn(b.open(func(o *Options) { o.Ours = true }), `echo 2 >two`)
	if exists(lock) || !exists(filepath.Join(dir, ".git", "index.lock")) {
		t.Error("the wrong lock is removed")
	}
}

// Locks that a killed ralph has left are removed; a young one that nobody of ours can have left is not, and neither are
// those that are not in the run's way.
func TestLocksOfTheDead(t *testing.T) {
	t.Parallel()
	ours := []string{"packed-refs.lock", "refs/heads/ralph/issue-42.lock", "refs/ralph/tip/issue-42.lock",
		"refs/heads/wip/x.lock"}
	theirs := []string{"index.lock", "HEAD.lock", "config.lock", "refs/heads/main.lock"}
	for _, killed := range []bool{true, false} {
		b := newSandbox(t)
		dir := filepath.Join(b.clone(), ".git")
		b.sh(dir, "mkdir -p refs/heads/ralph refs/heads/wip refs/ralph/tip; touch "+strings.Join(ours, " ")+" "+
			strings.Join(theirs, " "))
		o := b.cliOptions()
		o.Killed = killed
		tree, err := CheckoutOf(b.ctx, dir+"/..", o, "", "ralph/issue-42")
		if err == nil {
			err = tree.Start(b.ctx)
		}
		if (err == nil) != killed {
			t.Errorf("a ralph was killed: %v; %v", killed, err)
		}
		for _, name := range append(ours, theirs...) {
			_, err := os.Lstat(filepath.Join(dir, name))
			if gone := killed && strings.Contains(strings.Join(ours, " "), name); (err != nil) != gone {
				t.Errorf("a ralph was killed: %v; %s: %v", killed, name, err)
			}
		}
	}
}
