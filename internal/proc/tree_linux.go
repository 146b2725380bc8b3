package proc

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// tree is a process, its root, and everything that it started. Agents and builds start sessions of their own, so the
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

// newTree makes a tree active. Start its root in dir with entry in its environment, which says whose it is and where it
// began.
func newTree(dir string) (t *tree, entry string, err error) {
	entry = markPrefix + rand.Text() + "="
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

// halt stops every process of the tree, so that it starts no other while they are killed.
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

// attributes put the process in a session of its own, which no process of the tree can leave for ours and where there
// is no terminal to wait at or to type into, and end it when we die.
func attributes(as *User) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if as != nil {
		a.Credential = as.credential()
	}
	return a
}

// processTrees is every tree of this process. Its lock is held for looks at a few processes, never while ralph waits
// for one or starts it.
//
// Our children are of three kinds: roots of trees, which os/exec waits for; what others in this process start through
// os/exec; and orphans, which are ours to end and to reap. Linux gives orphans to our first thread, on which no one but
// the main goroutine runs (see init), so what others start is never among them. What the main goroutine itself starts
// beside this package is known by our session, which nothing of a tree is ever in: it must not start a process in a
// session of its own while a tree is active. On kernels without lists of children (CONFIG_PROC_CHILDREN), nor must
// anyone.
type processTrees struct {
	mu       sync.Mutex
	ready    bool  // we are the subreaper
	session  int   // ours
	since    ticks // when the oldest tree began of those that have been active without a gap: no orphan is older
	trees    map[*tree]bool
	resting  []*tree      // what was spared: one for each run that spared something
	roots    map[int]bool // until they have been waited for
	starting int          // those that will be in roots at once
	sweeping bool
	hunting  bool // something was left that could not be ended in time
}

var registry = &processTrees{trees: map[*tree]bool{}, roots: map[int]bool{}}

// init keeps the first thread for the main goroutine. Then the children of that thread are orphans and what the main
// goroutine started.
func init() { runtime.LockOSThread() }

// often is how long dead orphans may lie about while a tree is active: thousands in a long turn must not pile up. A
// look that finds crowd of them is followed by the next one ten times as soon.
const (
	often = 250 * time.Millisecond
	crowd = 16
)

// begin makes a tree active.
func (f *processTrees) begin(t *tree) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.ready {
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("becoming the parent of orphaned processes: %w", err)
		}
		f.ready = true
		f.session, _ = unix.Getsid(0)
	}
	if len(f.trees) == 0 && len(f.resting) == 0 && !f.hunting {
		f.since = clock()
	}
	f.trees[t] = true
	if !f.sweeping {
		f.sweeping = true
		time.AfterFunc(often, f.sweep)
	}
	return nil
}

// single reports whether one tree is active, and nothing spared is about: every orphan is its own then.
func (f *processTrees) single() bool { return len(f.trees) == 1 && len(f.resting) == 0 }

func (f *processTrees) alone() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.single()
}

// sweep reaps the orphans that have ended, while there can be any.
func (f *processTrees) sweep() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sweeping = len(f.trees) > 0 || len(f.resting) > 0 || f.hunting; !f.sweeping {
		return
	}
	reaped := 0
	defer func() {
		pause := often
		if reaped >= crowd {
			pause /= 10
		}
		time.AfterFunc(pause, f.sweep)
	}()
	if childless() {
		return
	}
	for _, c := range adopted() {
		if exited(c.pid) && !f.perhapsRoot(c) {
			if s, ok := readStat(c.pid); ok && f.orphan(s) && reap(c.pid) {
				reaped++
			}
		}
	}
}

// killLeftovers sees to it that what a tree could not end in time is ended beside everything else, and reaped.
func (f *processTrees) killLeftovers() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hunting {
		return
	}
	f.hunting = true
	go f.killOrphans()
}

// killOrphans ends orphans that no one owns, while no tree is active: as long as one is, they may be its own, and it ends
// them.
func (f *processTrees) killOrphans() {
	stray := &tree{} // an inactive one
	for pause := time.Millisecond; ; {
		time.Sleep(pause)
		f.mu.Lock()
		idle := len(f.trees) == 0
		if idle {
			f.trees[stray] = true
		}
		f.mu.Unlock()
		if !idle {
			pause = often
			continue
		}
		before := len(stray.struck)
		left, again := stray.left(true, stray.killProcess)
		over := len(left) == 0 && !again
		f.mu.Lock()
		delete(f.trees, stray)
		f.hunting = !over
		f.mu.Unlock()
		if over {
			return
		}
		if pause = min(2*pause, often); len(stray.struck) > before {
			pause = 50 * time.Microsecond
		}
		clear(stray.struck)
	}
}

// perhapsRoot reports whether a child is a root, or may be one that is not noted yet.
func (f *processTrees) perhapsRoot(c child) bool { return f.roots[c.pid] || c.unsure && f.starting > 0 }

// orphan tells an orphan from the rest of our children.
func (f *processTrees) orphan(s stat) bool {
	return s.session != f.session && s.start >= f.since
}

// orphans lists the living orphans that belong to a tree, the newest first, does something with each at once, and reaps
// the dead of all trees. again asks for another look: at the orphans of those that were reaped, and at those that
// no one can attribute just now. When it is late, these count as unattributed.
func (f *processTrees) orphans(t *tree, late bool, each func(stat)) (mine []stat, again bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var dead []int
	for _, c := range slices.Backward(adopted()) {
		s, ok := readStat(c.pid)
		switch {
		case !ok || f.roots[c.pid] || !f.orphan(s) && t.known[c.pid] != s.start:
		case f.perhapsRoot(c):
			again = true
		case s.dead():
			dead = append(dead, c.pid)
		default:
			owner, sure := f.owner(s)
			if owner == t || late && !sure && len(f.trees) == 1 {
				mine = append(mine, s)
				each(s)
			}
			again = again || !sure && !late
		}
	}
	for _, pid := range dead { // only now: what flees does not wait
		again = reap(pid) || again
	}
	return mine, again
}

// owner is the active tree that an orphan belongs to; nil when it belongs to another process, or that cannot be said.
// It is not sure of one that is just becoming another program.
func (f *processTrees) owner(s stat) (t *tree, sure bool) {
	for _, rest := range f.resting {
		if rest.holds(s) {
			return nil, true
		}
	}
	for t := range f.trees {
		if f.single() || t.holds(s) {
			return t, true
		}
	}
	sure = true
	for t := range f.trees {
		yes, known := s.hasMark(t.marks)
		if yes {
			return t, true
		}
		sure = sure && known
	}
	if slices.ContainsFunc(f.resting, func(rest *tree) bool { yes, _ := s.hasMark(rest.marks); return yes }) || !sure ||
		len(f.trees) > 1 {
		return nil, sure
	}
	for t = range f.trees { // the last of them takes what no one knows
	}
	return t, true
}

// spared reports whether a process was spared.
func (f *processTrees) spared(s stat) bool {
	return slices.ContainsFunc(f.resting, func(rest *tree) bool { return rest.known[s.pid] == s.start })
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
	return !alive || leader.start == start || id == t.root && registry.roots[id]
}

// members lists the living processes of the tree. again asks for another look, as orphans does, and when an orphan has
// died under our eyes: what it left, dead or alive, is still to be seen to.
func (t *tree) members() (found []stat, again bool) {
	orphans, again := registry.orphans(t, true, func(stat) {})
	all := living()
	registry.mu.Lock()
	defer registry.mu.Unlock()
	in := map[int]bool{}
	for _, s := range orphans {
		in[s.pid] = true
	}
	for _, s := range all {
		if s.pid == t.root && registry.roots[t.root] || t.known[s.pid] == s.start || t.taken && t.holds(s) {
			in[s.pid] = true
		}
	}
	found = descendants(all, in, t.taken, registry.spared)
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

// left lists what is alive and ours to end, as far as one look shows: orphans only, since what is below them becomes an
// orphan when they die, and no one who could start them again learns of their death. With each it does something at
// once.
func (t *tree) left(late bool, each func(stat)) (left []stat, again bool) {
	if !t.taken && childless() {
		return nil, false
	}
	left, again = registry.orphans(t, late, each)
	if t.taken { // it may hang below something that is spared on
		var more bool
		left, more = t.members()
		again = again || more || t.some // what has died since may have left something
		t.some = len(left) > 0
	}
	return slices.DeleteFunc(left, func(s stat) bool { return t.other[s.pid] == s.start }), again
}

// killProcess kills a process, or notes that it is not ours to kill.
func (t *tree) killProcess(s stat) {
	if t.other == nil {
		t.other, t.struck = map[int]ticks{}, map[int]ticks{}
	}
	if syscall.Kill(s.pid, syscall.SIGKILL) == syscall.EPERM {
		t.other[s.pid] = s.start
	}
	t.struck[s.pid] = s.start
}

// descendants lists the processes whose ids are in a set and everything that they started, which joins the set; when
// wide, by group and session too. What skip names is left out, with what is only below that.
func descendants(all []stat, in map[int]bool, wide bool, skip func(stat) bool) (found []stat) {
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

// spare leaves processes of the tree running, and what resulted from them. It is forgotten here and rests in the family,
// until End. One that has died since it was named is not spared, nor is what it left.
func (t *tree) spare(pids []int) (any bool) {
	in := valid(pids)
	if len(in) == 0 {
		return false // and the machine is not looked through
	}
	all := living()
	maps.DeleteFunc(in, func(pid int, _ bool) bool {
		return !slices.ContainsFunc(all, func(s stat) bool { return s.pid == pid })
	})
	registry.mu.Lock()
	defer registry.mu.Unlock()
	rest := &tree{marks: t.marks, known: map[int]ticks{}, named: maps.Clone(in)}
	for _, s := range descendants(all, in, true, registry.spared) {
		rest.known[s.pid] = s.start
		delete(t.known, s.pid)
	}
	if len(rest.known) > 0 {
		registry.resting = append(registry.resting, rest)
	}
	return len(rest.known) > 0
}

// take makes an active tree of processes that rest, and what resulted from them. What only a mark attributes goes with the
// last process that was named when it was spared.
func take(pids []int) (*tree, error) {
	in := valid(pids)
	all := living()
	t := &tree{known: map[int]ticks{}, taken: true}
	if err := registry.begin(t); err != nil {
		return nil, err
	}
	registry.mu.Lock()
	defer registry.mu.Unlock()
	running := map[int]ticks{}
	for _, s := range all {
		running[s.pid] = s.start
	}
	elsewhere := func(s stat) bool { // another process by now, a run's own, or to be spared on
		return registry.roots[s.pid] || slices.ContainsFunc(registry.resting, func(rest *tree) bool {
			start, known := rest.known[s.pid]
			return known && start != s.start || rest.named[s.pid] && !in[s.pid]
		})
	}
	found := descendants(slices.Clone(all), maps.Clone(in), true, elsewhere)
	for _, s := range found {
		t.known[s.pid] = s.start
	}
	registry.resting = slices.DeleteFunc(registry.resting, func(rest *tree) bool {
		maps.DeleteFunc(rest.known, func(pid int, start ticks) bool { return t.known[pid] == start })
		maps.DeleteFunc(rest.named, func(pid int, _ bool) bool { return in[pid] || running[pid] != rest.known[pid] })
		if len(rest.named) == 0 {
			maps.Copy(t.known, rest.known)
			t.marks = append(t.marks, rest.marks...)
		}
		return len(rest.named) == 0
	})
	return t, nil
}

// valid is a set of ids without those that are never meant.
func valid(pids []int) map[int]bool {
	in := map[int]bool{}
	for _, pid := range pids {
		if pid > 1 && pid != os.Getpid() {
			in[pid] = true
		}
	}
	return in
}

// anySpared reports whether something is spared: End has not been asked for it.
func anySpared() bool {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	return len(registry.resting) > 0
}

// keepers are the processes of the tree that only keep its box, from the root down, and the one that they keep. While
// that does not exist, nothing is kept, and the root is a process as any other.
func (t *tree) keepers() (keep []int, kept int) {
	if t.kept == 0 {
		return nil, t.root
	}
	all := living()
	kept = t.root
	for range t.kept {
		keep = append(keep, kept)
		if kept = oldest(all, kept); kept == 0 {
			return nil, t.root
		}
	}
	return keep, kept
}

// oldest is the oldest child of a process; 0 when it has none.
func oldest(all []stat, parent int) int {
	all = slices.DeleteFunc(slices.Clone(all), func(s stat) bool { return s.parent != parent })
	if len(all) == 0 {
		return 0
	}
	return slices.MinFunc(all, func(a, b stat) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.pid, b.pid))
	}).pid
}

// innermost is the process that was meant, within its box; root is the tree's.
func (t *tree) innermost(root *os.Process) *os.Process {
	if _, pid := t.keepers(); pid != t.root {
		if p, err := os.FindProcess(pid); err == nil {
			return p
		}
	}
	return root
}
