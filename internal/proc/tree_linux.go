package proc

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// tree is a process, its root, and everything that came of it. Agents and builds start sessions of their own, so the
// root's group is not enough. Everything that lives below the root or below an orphan of the tree belongs to it. An
// orphan is our own child (see family) and belongs to the tree
//
//   - that it was seen in before,
//   - that it shares a group or session with, or
//   - whose mark it has in its environment, which the root got from us;
//   - else, to the only active tree. When several are active, it is left, and the last of them to end takes it.
//
// So nothing escapes. What is left to the last: of trees that are active at the same time, a process that clears its
// environment, opens a session and loses its parent is ended with the last of them, not with its own. The same process
// of something that was spared is ended with the next tree. What a service of the machine (systemd, docker, cron)
// starts when it is asked to is no part of the tree. What the kernel does not let us end is left as well: another
// user's process, and one in uninterruptible sleep, which ends when it wakes.
type tree struct {
	root  int
	marks [][]byte
	known map[int]ticks // what was seen of it, and when that was started
	named map[int]bool  // of what rests: the processes that were to be spared, not what resulted from them
	taken bool          // it has no root: it is of what was spared, to be ended, or of what was never ours
	some  bool          // the last look at what was taken found something alive
	kept  int           // how many processes, from the root down, only keep its box
	// other is what is not ours to end; struck is what was killed.
	other, struck map[int]ticks
}

// newTree makes a tree active. Its root is to be started in dir with entry in its environment, which says whose it is
// and where it began.
func newTree(dir string) (t *tree, entry string, err error) {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	entry = markPrefix + hex.EncodeToString(b[:]) + "="
	t = &tree{marks: [][]byte{[]byte(entry)}}
	return t, entry + us() + ":" + dir, registry.begin(t)
}

// startRoot starts the root.
func (t *tree) startRoot(cmd *exec.Cmd, from *starter) error {
	registry.mu.Lock()
	registry.starting++
	registry.mu.Unlock()
	err := from.start(cmd)
	registry.mu.Lock()
	defer registry.mu.Unlock()
	registry.starting--
	if err == nil {
		t.root = cmd.Process.Pid
		registry.roots[t.root] = true
	}
	return err
}

// waited notes that the root has been waited for.
func (t *tree) waited() {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	delete(registry.roots, t.root)
}

// close forgets the tree.
func (t *tree) close() {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	delete(registry.trees, t)
}

// keep notes how many processes, from the root down, only keep the box of the rest.
func (t *tree) keep(keepers int) { t.kept = keepers }

// terminate asks every process of the tree to end, also those that are stopped. Those that keep a box end with what
// they keep.
func (t *tree) terminate() {
	all, _ := t.members()
	keep, _ := t.keepers()
	for _, s := range all {
		if slices.Contains(keep, s.pid) {
			continue
		}
		_ = syscall.Kill(s.pid, syscall.SIGTERM)
		_ = syscall.Kill(s.pid, syscall.SIGCONT)
	}
}

// gone reports whether nothing of the tree is alive, once its root has been waited for.
func (t *tree) gone() bool {
	left, again := t.left(false, func(stat) {})
	return len(left) == 0 && !again
}

// doubt is how long an orphan may be one that no one can attribute just now.
const doubt = 100 * time.Millisecond

// kill ends every process of the tree, again and again until none is left: one may be born while the list is read. What
// is left when that takes too long is given to the family, which continues.
func (t *tree) kill() {
	began, pause := time.Now(), 100*time.Microsecond
	for time.Since(began) < killing {
		alone, before := registry.alone(), len(t.struck)
		each := t.killProcess
		if !alone { // whose those below are can be seen only as long as this one stays where it is
			each = freeze
		}
		left, again := t.left(time.Since(began) > doubt, each)
		if len(left) == 0 && !again {
			return
		}
		if !alone && len(left) > 0 || t.taken { // what was named to us may be no one's orphan
			t.cut()
		}
		// it flees: no one is faster than a loop without rest
		if pause = min(2*pause, 10*time.Millisecond); len(t.struck) > before {
			pause = 50 * time.Microsecond
		}
		time.Sleep(pause)
	}
	registry.killLeftovers()
}

// freeze stops a process.
func freeze(s stat) { _ = syscall.Kill(s.pid, syscall.SIGSTOP) }

// halt stops every process of the tree, so that none makes another while they are killed.
func (t *tree) halt() {
	halted := map[int]ticks{}
	for began := time.Now(); time.Since(began) < killing; {
		all, _ := t.members()
		before := len(halted)
		for _, s := range all {
			if halted[s.pid] != s.start {
				freeze(s)
				halted[s.pid] = s.start
			}
		}
		if len(halted) == before {
			return
		}
	}
}

// cut kills the whole tree once, its root included.
func (t *tree) cut() {
	all, _ := t.members()
	for _, s := range all {
		t.killProcess(s)
	}
}

// bytesThere asks a pipe how much is in it.
const bytesThere = unix.TIOCINQ

// attributes put the process in a session of its own, which no process of the tree can leave for ours and where there
// is no terminal to wait at or to type into, and end it when we die.
func attributes(as *User) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if as != nil {
		a.Credential = as.credential()
	}
	return a
}

// interrupt asks one process to end by itself, also when it is stopped.
func interrupt(p *os.Process) {
	_ = p.Signal(syscall.SIGINT)
	_ = p.Signal(syscall.SIGCONT)
}

// HideSelf keeps processes of our own user from reading our memory and environment through /proc. It does not hide us
// from root.
func HideSelf() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
