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
	named map[int]bool  // of what rests: the processes that were to be spared, not what came of them
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
	return t, entry + us() + ":" + dir, home.begin(t)
}

// plant starts the root.
func (t *tree) plant(cmd *exec.Cmd, from *starter) error {
	home.mu.Lock()
	home.starting++
	home.mu.Unlock()
	err := from.start(cmd)
	home.mu.Lock()
	defer home.mu.Unlock()
	home.starting--
	if err == nil {
		t.root = cmd.Process.Pid
		home.roots[t.root] = true
	}
	return err
}

// waited notes that the root has been waited for.
func (t *tree) waited() {
	home.mu.Lock()
	defer home.mu.Unlock()
	delete(home.roots, t.root)
}

// close forgets the tree.
func (t *tree) close() {
	home.mu.Lock()
	defer home.mu.Unlock()
	delete(home.trees, t)
}

// holds reports whether a process was seen in the tree, or shares a group or session with what was.
func (t *tree) holds(s stat) bool {
	return t.known[s.pid] == s.start || t.led(s.group) || t.led(s.session)
}

// led reports whether a group or session is one of the tree. While it exists, no new process gets its id: a living
// process that has it and is not the one we know says that it is another group.
func (t *tree) led(id int) bool {
	start, known := t.known[id]
	if !known && id != t.root || id == 0 {
		return false
	}
	leader, alive := readStat(id)
	return !alive || leader.start == start || id == t.root && home.roots[id]
}

// members lists the living processes of the tree. again asks for another look, as orphans does, and when an orphan has
// died under our eyes: what it left, dead or alive, is still to be seen to.
func (t *tree) members() (found []stat, again bool) {
	orphans, again := home.orphans(t, true, func(stat) {})
	all := living()
	home.mu.Lock()
	defer home.mu.Unlock()
	in := map[int]bool{}
	for _, s := range orphans {
		in[s.pid] = true
	}
	for _, s := range all {
		if s.pid == t.root && home.roots[t.root] || t.known[s.pid] == s.start || t.taken && t.holds(s) {
			in[s.pid] = true
		}
	}
	found = below(all, in, t.taken, home.spared)
	if t.known == nil {
		t.known = map[int]ticks{}
	}
	lives := map[int]bool{}
	for _, s := range found {
		t.known[s.pid], lives[s.pid] = s.start, true
	}
	died := slices.ContainsFunc(orphans, func(s stat) bool { return !lives[s.pid] })
	return found, again || died
}

// below lists the processes whose ids are in a set and all that came of them, which joins the set; when wide, by group
// and session too. What is to be skipped is left out, with what is below that alone.
func below(all []stat, in map[int]bool, wide bool, skip func(stat) bool) (found []stat) {
	rest := slices.DeleteFunc(all, skip)
	for again := true; again; {
		again = false
		rest = slices.DeleteFunc(rest, func(s stat) bool {
			belongs := in[s.pid] || in[s.parent] || wide && (in[s.group] || in[s.session])
			if belongs {
				in[s.pid], again = true, true
				found = append(found, s)
			}
			return belongs
		})
	}
	return found
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

// left lists what is alive and ours to end, as far as one look tells: orphans only, since what is below them becomes an
// orphan when they die, and their death is told to nobody who could start them anew. With each it does something at
// once.
func (t *tree) left(late bool, each func(stat)) (left []stat, again bool) {
	if !t.taken && childless() {
		return nil, false
	}
	left, again = home.orphans(t, late, each)
	if t.taken { // it may hang below something that is spared on
		var more bool
		left, more = t.members()
		again = again || more || t.some // what has died since may have left something
		t.some = len(left) > 0
	}
	return slices.DeleteFunc(left, func(s stat) bool { return t.other[s.pid] == s.start }), again
}

// doubt is how long an orphan may be one that nobody can attribute just now.
const doubt = 100 * time.Millisecond

// kill ends every process of the tree, again and again until none is left: one may be born while the list is read. What
// is left when that takes too long is given to the family, which goes on.
func (t *tree) kill() {
	began, pause := time.Now(), 100*time.Microsecond
	for time.Since(began) < killing {
		alone, before := home.alone(), len(t.struck)
		each := t.strike
		if !alone { // whose those below are can be seen only as long as this one stays where it is
			each = freeze
		}
		left, again := t.left(time.Since(began) > doubt, each)
		if len(left) == 0 && !again {
			return
		}
		if !alone || t.taken { // what was named to us may be nobody's orphan
			t.cut()
		}
		// it flees: nobody is faster than a loop without rest
		if pause = min(2*pause, 10*time.Millisecond); len(t.struck) > before {
			pause = 50 * time.Microsecond
		}
		time.Sleep(pause)
	}
	home.hunt()
}

// freeze stops a process.
func freeze(s stat) { _ = syscall.Kill(s.pid, syscall.SIGSTOP) }

// strike kills a process, or notes that it is not ours to kill.
func (t *tree) strike(s stat) {
	if t.other == nil {
		t.other, t.struck = map[int]ticks{}, map[int]ticks{}
	}
	if syscall.Kill(s.pid, syscall.SIGKILL) == syscall.EPERM {
		t.other[s.pid] = s.start
	}
	t.struck[s.pid] = s.start
}

// cut kills the whole tree once, its root included.
func (t *tree) cut() {
	all, _ := t.members()
	for _, s := range all {
		t.strike(s)
	}
}

func thisThread() int { return unix.Gettid() }

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

// renouncePrivileges makes sure that what this thread starts never becomes more than it is, by sudo or a setuid file.
func renouncePrivileges() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }

// HideSelf keeps processes of our own user from reading our memory and environment through /proc. It does not hide us
// from root.
func HideSelf() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
