package proc

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// tree is a process and everything that came of it. Agents and builds start sessions of their own, so the process group is not
// enough; a process belongs to the tree when it
//
//   - carries the mark that the first process got in its environment, or
//   - is in the group or session of one that belongs, or
//   - is a child of one that belongs, now or when the tree was last looked at.
//
// What escapes is a process that clears its environment, opens a session and loses its parent, all between two looks.
type tree struct {
	root  int
	mark  []byte
	since uint64            // start time of the root: nothing older belongs
	began time.Time         // the same by our clock
	known map[int]startTime // everything ever seen
}

// startTime tells a process from a later one with the same id.
type startTime uint64

// markPrefix begins the name of a mark. The name itself is random, so a harness within a harness adds its own beside it.
const markPrefix = "TREE_MARK_"

func newMark() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	return markPrefix + hex.EncodeToString(b[:])
}

func newTree(root int, mark string) *tree {
	t := &tree{root: root, mark: []byte(mark + "="), known: map[int]startTime{}, began: time.Now()}
	if s, ok := readStat(root); ok {
		t.since = s.start
		t.known[root] = startTime(s.start)
	}
	return t
}

// stat is what /proc/PID/stat tells.
type stat struct {
	pid, parent, group, session int
	state                       byte
	start                       uint64
	kernel                      bool // a thread of the kernel's own
	environ                     bool // it has its environment: false for a moment while it becomes another program
}

func readStat(pid int) (s stat, ok bool) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return s, false
	}
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:]) // the name before may hold anything
	if len(fields) < 49 {
		return s, false
	}
	number := func(i int) int { n, _ := strconv.Atoi(string(fields[i])); return n }
	s = stat{pid: pid, state: fields[0][0], parent: number(1), group: number(2), session: number(3)}
	s.kernel, s.environ = number(6)&0x00200000 != 0, string(fields[47]) != "0"
	s.start, err = strconv.ParseUint(string(fields[19]), 10, 64)
	return s, err == nil
}

// find lists the living processes of the tree. It is unsure while there is a process whose mark cannot be read just now.
func (t *tree) find() (found []int, unsure bool) {
	var rest []stat
	in := map[int]bool{}
	add := func(s stat) {
		in[s.pid] = true
		t.known[s.pid] = startTime(s.start)
		found = append(found, s.pid)
	}
	for _, s := range t.candidates() {
		mine := t.known[s.pid] == startTime(s.start) || s.group == t.root || s.session == t.root
		if !mine {
			var sure bool
			mine, sure = t.marked(s)
			unsure = unsure || !sure
		}
		if mine {
			add(s)
		} else {
			rest = append(rest, s)
		}
	}
	for again := true; again; {
		again = false
		for i, s := range rest {
			if s.pid != 0 && (in[s.parent] || in[s.group] || in[s.session]) {
				add(s)
				rest[i] = stat{}
				again = true
			}
		}
	}
	return found, unsure
}

// wrap is a time in which process ids cannot come round: until then, a lower id than the root's is an older process. Most runs are
// that short, and need not look at the whole machine.
const wrap = 200 * time.Millisecond

// candidates are the processes that may belong: younger than the root, alive, not ourselves.
func (t *tree) candidates() []stat {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var list []stat
	self, short := os.Getpid(), time.Since(t.began) < wrap
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == self || short && pid < t.root {
			continue
		}
		s, ok := readStat(pid)
		switch {
		case !ok || s.start < t.since:
		case s.state == 'Z' || s.state == 'X':
			t.reap(s)
		default:
			list = append(list, s)
		}
	}
	return list
}

// reap takes away an orphan that became our child because we are the first process of a container.
func (t *tree) reap(s stat) {
	if s.pid != t.root && s.parent == os.Getpid() && t.known[s.pid] == startTime(s.start) {
		_, _ = syscall.Wait4(s.pid, nil, syscall.WNOHANG, nil)
	}
}

// marked reports whether a process carries the mark. It is not sure of one that is becoming another program, which has no environment
// until it has become it.
func (t *tree) marked(s stat) (yes, sure bool) {
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(s.pid) + "/environ")
	switch {
	case len(environ) > 0:
		return bytes.Contains(environ, t.mark), true
	case s.kernel || err == nil && s.environ:
		return false, true
	}
	return false, !readable(s.pid)
}

// readable reports whether a process lives and is one whose environment is ours to read.
func readable(pid int) bool {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return false
	}
	_, rest, _ := bytes.Cut(status, []byte("\nUid:\t"))
	uid, _, _ := bytes.Cut(rest, []byte("\t"))
	self := os.Geteuid()
	return self == 0 || string(uid) == strconv.Itoa(self)
}

// terminate asks every process of the tree to end.
func (t *tree) terminate() {
	found, _ := t.find()
	for _, pid := range found {
		_ = syscall.Kill(pid, syscall.SIGTERM)
	}
}

// gone reports whether nothing of the tree is alive, as far as one look tells.
func (t *tree) gone() bool {
	found, unsure := t.find()
	return len(found) == 0 && !unsure
}

// How long kill goes on: with a tree that grows while it is cut, and with processes that it cannot be sure of.
const (
	killing = 3 * time.Second
	doubt   = 100 * time.Millisecond
)

// kill ends every process of the tree, again and again until two looks in a row find none: one may be born, and its parent gone, while
// the list is read.
func (t *tree) kill() {
	began, pause := time.Now(), time.Millisecond
	for clean := 0; clean < 2 && time.Since(began) < killing; {
		found, unsure := t.find()
		for _, pid := range found {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if len(found) == 0 && (!unsure || time.Since(began) > doubt) {
			clean++
			continue
		}
		clean = 0
		time.Sleep(pause)
		pause = min(2*pause, 20*time.Millisecond)
	}
}

// attributes put the process in a group of its own and end it when we die.
func attributes(as *User) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if as != nil {
		a.Credential = as.credential()
	}
	return a
}

// renouncePrivileges makes sure that what this thread starts never becomes more than it is, by sudo or a setuid file.
func renouncePrivileges() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }

// HideSelf keeps processes of our own user from reading our memory and environment through /proc. It does not hide us from root.
func HideSelf() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
