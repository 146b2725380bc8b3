package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// usage is what a process has taken of the machine, with everything that it started. What the whole machine has in use
// is asked first, which costs microseconds; the processes themselves are examined only where that is more than one of
// them may have.
type usage struct {
	limits Limits
	disks  []*disk
	ooms   int64  // how often the system had killed something for want of memory before it began
	group  *group // nil: without one
}

// newUsage begins to count, before the process does.
func newUsage(s Spec, dir string) *usage {
	t := &usage{limits: s.Limits}
	if s.Limits.Disk > 0 {
		t.disks = disksOf(append([]string{dir, s.WritableDir}, s.Limits.Dirs...))
	}
	if s.Limits.Memory > 0 {
		t.ooms = kernelCount("/proc/vmstat", "oom_kill")
	}
	t.group = newGroup(groupsOf(), s.Limits)
	return t
}

// bind has the system hold a process that has just begun, as far as it does that of one process alone.
func (t *usage) bind(pid int, s Spec) {
	if t.limits.Memory > 0 { // should memory run out before we see it, the system ends this, and not us
		_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte(firstToGo), 0)
	}
	if t.limits.Disk > 0 {
		lower(pid, unix.RLIMIT_FSIZE, uint64(t.limits.Disk))
	}
	if t.limits.Processes > 0 && s.As != nil && s.As.UID != 0 {
		lower(pid, rlimitNPROC, MostOfUser(t.limits.Processes))
	}
}

// firstToGo is a process's place among those that the system ends for want of memory: of -1000 to 1000, where 0 is
// usual.
const firstToGo = "500"

// rlimitNPROC is RLIMIT_NPROC of all systems that Linux runs on but MIPS and SPARC.
const rlimitNPROC = 6

// lower lowers a limit of a process that the system keeps.
func lower(pid, resource int, most uint64) {
	var now unix.Rlimit
	if unix.Prlimit(pid, resource, nil, &now) == nil && now.Max > most {
		_ = unix.Prlimit(pid, resource, &unix.Rlimit{Cur: most, Max: most}, nil)
	}
}

func (t *usage) watched() bool {
	return t.limits.Processes > 0 || t.limits.Memory > 0 || t.limits.Disk > 0
}

// enter has the process begin where the kernel counts what it takes.
func (t *usage) enter(a *syscall.SysProcAttr) { t.group.enter(a) }

// outside gives up that the kernel counts, when a process could not begin so. It reports whether there was anything to
// give up.
func (t *usage) outside() bool {
	had := t.group != nil
	t.group.remove()
	t.group = nil
	return had
}

// kill kills all of it at once, where the kernel does that.
func (t *usage) kill() { t.group.kill() }

// close ends the counting. A group in which something was spared goes when we look for groups again, as another
// process.
func (t *usage) close(spared bool) {
	if t.group != nil && spared {
		_ = t.group.at.Close()
		return
	}
	t.group.remove()
}

// look says which limit has been passed; ok is false when none has.
func (t *usage) look(of *tree) (e limitExceeded, ok bool) {
	if e, ok = t.full(); ok {
		return e, true
	}
	if e, ok = t.group.passed(t.limits); ok {
		return e, true
	}
	many, much := t.perhapsMany(), t.perhapsMuch()
	if !many && !much {
		return e, false
	}
	all, _ := of.members()
	if many {
		count := 0
		for _, s := range all {
			count += max(s.threads, 1)
		}
		if count > t.limits.Processes {
			return tooMany(t.limits), true
		}
	}
	if much && t.memory(all) > t.limits.Memory {
		return tooMuch(t.limits), true
	}
	return e, false
}

func (t *usage) perhapsMany() bool {
	if t.limits.Processes == 0 {
		return false
	}
	raw, _ := os.ReadFile("/proc/loadavg") // 0.20 0.18 0.12 1/80 11206
	_, threads, _ := strings.Cut(string(raw), "/")
	threads, _, _ = strings.Cut(threads, " ")
	n, err := strconv.Atoi(threads)
	return err != nil || n > t.limits.Processes
}

func (t *usage) perhapsMuch() bool {
	if t.limits.Memory == 0 {
		return false
	}
	m := memoryOfMachine()
	return m["MemTotal"]-m["MemAvailable"]+m["SwapTotal"]-m["SwapFree"] > t.limits.Memory
}

// memory is what processes have of it: their own, their parts of what they share, and files in memory that only they
// see.
func (t *usage) memory(all []stat) int64 {
	var resident, own int64
	for _, s := range all {
		resident += s.resident
	}
	files := int64(0)
	if len(all) > 0 {
		files = filesInMemory(all[len(all)-1].pid)
	}
	if resident+files <= t.limits.Memory {
		return resident + files
	}
	for _, s := range all {
		share := kernelTable("/proc/" + strconv.Itoa(s.pid) + "/smaps_rollup")
		if pss, ok := share["Pss"]; ok {
			own += pss + share["SwapPss"]
		} else {
			own += s.resident
		}
	}
	return own + files
}

// filesInMemory is how much the file systems in memory hold that a process sees and we do not.
func filesInMemory(pid int) (bytes int64) {
	at := "/proc/" + strconv.Itoa(pid)
	theirs, err := os.Readlink(at + "/ns/mnt")
	if ours, _ := os.Readlink("/proc/self/ns/mnt"); err != nil || theirs == ours {
		return 0
	}
	shared := map[string]bool{}
	for _, m := range mounts("/proc/self/mountinfo") {
		shared[m.device] = true
	}
	for _, m := range mounts(at + "/mountinfo") {
		var s unix.Statfs_t
		if m.kind == "tmpfs" && !shared[m.device] && unix.Statfs(at+"/root"+m.point, &s) == nil {
			shared[m.device] = true
			bytes += int64(s.Blocks-s.Bfree) * s.Bsize
		}
	}
	return bytes
}

// told says which limit a process that has ended by itself was ended by.
func (t *usage) told(end Result) (e limitExceeded) {
	code := end.Exit - 128 // of a shell that says how its command ended
	if e, ok := t.group.passed(t.limits); ok {
		return e
	}
	switch {
	case t.limits.Disk > 0 && (end.Signal == "SIGXFSZ" || code == int(unix.SIGXFSZ)):
		return limitExceeded{LimitDisk, "it wrote a file of more than " + safetext.Bytes(t.limits.Disk)}
	case t.limits.Memory > 0 && (end.Signal == "SIGKILL" || code == int(unix.SIGKILL)) &&
		kernelCount("/proc/vmstat", "oom_kill") > t.ooms:
		return limitExceeded{LimitMemory, "the machine, or the container, ran out of memory"}
	}
	return e
}

func memoryOfMachine() map[string]int64 { return kernelTable("/proc/meminfo") }

// Memory is how many bytes of memory there are for us: the machine's, or the container's; 0: no one knows.
func Memory() int64 {
	most := memoryOfMachine()["MemTotal"]
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		raw, err := os.ReadFile(file)
		if n, bad := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64); err == nil && bad == nil && n > 0 {
			most = min(most, n)
		}
	}
	return most
}

// disk is a file system, as some directories see it.
type disk struct {
	device uint64
	dirs   []string // messages name the first
	used   int64    // bytes when the count began
}

// disksOf are the file systems of some directories. Those that do not exist have none.
func disksOf(dirs []string) (list []*disk) {
	known := map[uint64]*disk{}
	for _, dir := range dirs {
		var s unix.Stat_t
		if dir == "" || unix.Stat(dir, &s) != nil {
			continue
		}
		if d := known[s.Dev]; d != nil {
			d.dirs = append(d.dirs, dir)
			continue
		}
		d := &disk{device: s.Dev, dirs: []string{dir}}
		d.used, _, _ = d.now()
		known[s.Dev] = d
		list = append(list, d)
	}
	return list
}

// now is how many bytes of it are used and free, and how many it has.
func (d *disk) now() (used, free, all int64) {
	var s unix.Statfs_t
	if unix.Statfs(d.dirs[0], &s) != nil {
		return d.used, 1 << 62, 1 << 62
	}
	return int64(s.Blocks-s.Bfree) * s.Bsize, int64(s.Bavail) * s.Bsize, int64(s.Blocks) * s.Bsize
}

// reserve is how much of a file system is left to everyone else.
func reserve(all int64) int64 { return min(1<<30, all/20) }

// full says which file system has been filled too much.
func (t *usage) full() (e limitExceeded, ok bool) {
	for _, d := range t.disks {
		used, free, all := d.now()
		d.used = min(d.used, used)
		grown := used - d.used
		switch left := reserve(all); {
		case free < left && grown > left:
			return limitExceeded{LimitDisk, fmt.Sprintf("less than %s is left on the disk of %s, which took %s while it ran",
				safetext.Bytes(left), d.dirs[0], safetext.Bytes(grown))}, true
		case grown > t.limits.Disk:
			if d.holds(t.limits.Disk) {
				return limitExceeded{LimitDisk, fmt.Sprintf("it wrote more than %s to the disk of %s", safetext.Bytes(t.limits.Disk),
					d.dirs[0])}, true
			}
			d.used = used // that was someone else
		}
	}
	return e, false
}

// holdsTime bounds the search of holds.
const holdsTime = 10 * time.Second

// holds reports whether the directories hold so many bytes, as far as that can be counted in time: the reserve of the
// file system is kept anyway.
func (d *disk) holds(most int64) bool {
	began, held := time.Now(), int64(0)
	for _, dir := range d.dirs {
		root, err := os.OpenRoot(dir)
		if err != nil {
			continue
		}
		_ = fs.WalkDir(root.FS(), ".", func(_ string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil
			}
			if info, err := e.Info(); err == nil {
				if s, ok := info.Sys().(*syscall.Stat_t); ok {
					held += s.Blocks * 512
				}
			}
			if held > most || time.Since(began) > holdsTime {
				return fs.SkipAll
			}
			return nil
		})
		_ = root.Close()
	}
	return held > most
}

type mount struct{ device, root, point, kind string }

// mounts reads a table of mounts. A name with a space in it is not found by what is made of it here.
func mounts(file string) (list []mount) {
	raw, _ := os.ReadFile(file)
	for line := range strings.Lines(string(raw)) {
		before, after, _ := strings.Cut(line, " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if len(fields) > 4 && len(kind) > 0 {
			list = append(list, mount{device: fields[2], root: fields[3], point: fields[4], kind: kind[0]})
		}
	}
	return list
}

// kernelTable reads lines such as "MemTotal:  24682496 kB", in bytes.
func kernelTable(file string) map[string]int64 {
	table := map[string]int64{}
	raw, _ := os.ReadFile(file)
	for line := range strings.Lines(string(raw)) {
		name, rest, _ := strings.Cut(line, ":")
		if fields := strings.Fields(rest); len(fields) == 2 && fields[1] == "kB" {
			n, _ := strconv.ParseInt(fields[0], 10, 64)
			table[name] = n << 10
		}
	}
	return table
}

// kernelCount reads a line such as "oom_kill 3".
func kernelCount(file, name string) int64 {
	raw, _ := os.ReadFile(file)
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
			return n
		}
	}
	return 0
}

// group is a control group (version 2): processes that the kernel counts together, and holds to limits. None of them
// can leave it but by rights over the groups above it, which a sandbox takes.
type group struct {
	dir string
	at  *os.File
}

var (
	groupsOf = sync.OnceValue(func() string { return findGroups("/proc/self/mountinfo", "/proc/self/cgroup") })
	groups   atomic.Int64 // that were made
)

// newGroup makes a group with limits; nil where that cannot be had.
func newGroup(parent string, l Limits) *group {
	if parent == "" || l.Processes == 0 && l.Memory == 0 {
		return nil
	}
	g := &group{dir: filepath.Join(parent, fmt.Sprintf("%s%d-%d", groupPrefix, os.Getpid(), groups.Add(1)))}
	if os.Mkdir(g.dir, 0o755) != nil {
		return nil
	}
	var err error
	if l.Processes > 0 {
		err = g.set("pids.max", strconv.Itoa(l.Processes))
	}
	if l.Memory > 0 && err == nil {
		_ = g.set("memory.oom.group", "1") // half of what it was is of no use
		err = g.set("memory.max", strconv.FormatInt(l.Memory, 10))
	}
	if err == nil {
		g.at, err = os.Open(g.dir)
	}
	if err != nil {
		_ = os.Remove(g.dir)
		return nil
	}
	return g
}

func (g *group) set(file, value string) error {
	return os.WriteFile(filepath.Join(g.dir, file), []byte(value), 0)
}

// enter has a process begin in the group.
func (g *group) enter(a *syscall.SysProcAttr) {
	if g != nil {
		a.UseCgroupFD, a.CgroupFD = true, int(g.at.Fd())
	}
}

// passed says which limit the kernel has held it to.
func (g *group) passed(l Limits) (e limitExceeded, ok bool) {
	switch {
	case g == nil:
	case kernelCount(filepath.Join(g.dir, "pids.events"), "max") > 0:
		return tooMany(l), true
	case kernelCount(filepath.Join(g.dir, "memory.events"), "oom_kill") > 0:
		return tooMuch(l), true
	}
	return e, false
}

// kill kills all of the group at once.
func (g *group) kill() {
	if g != nil {
		_ = g.set("cgroup.kill", "1") // since Linux 5.14; the tree is killed anyway
	}
}

// remove removes the group, if nothing is left in it.
func (g *group) remove() {
	if g == nil {
		return
	}
	_ = g.at.Close()
	for range 50 { // what has been killed is in it until it has quite ended
		if err := os.Remove(g.dir); !errors.Is(err, syscall.EBUSY) {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// groupPrefix begins the name of a group; our process number follows.
const groupPrefix = "ralph-"

// findGroups is a directory in which groups can be made that the kernel holds to limits of processes and memory; empty
// without one.
func findGroups(mountinfo, own string) string {
	at, top := ownGroup(mountinfo, own)
	for dir := at; dir != "" && within(top, dir); dir = filepath.Dir(dir) {
		if unix.Access(dir, unix.W_OK) != nil || unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK) != nil {
			return ""
		}
		if controlled(dir) || dir == at && control(dir) {
			removeDead(dir)
			return dir
		}
	}
	return ""
}

func within(top, dir string) bool { return dir == top || strings.HasPrefix(dir, top+"/") }

// ownGroup is the directory of our group, and that of the topmost one.
func ownGroup(mountinfo, own string) (at, top string) {
	raw, _ := os.ReadFile(own)
	for line := range strings.Lines(string(raw)) {
		path, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::")
		if !ok {
			continue
		}
		for _, m := range mounts(mountinfo) {
			if m.kind == "cgroup2" && within(strings.TrimSuffix(m.root, "/"), path) {
				return filepath.Join(m.point, strings.TrimPrefix(path, m.root)), m.point
			}
		}
	}
	return "", ""
}

// controlled reports whether groups below have limits.
func controlled(dir string) bool {
	raw, _ := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
	on := strings.Fields(string(raw))
	return slices.Contains(on, "pids") && slices.Contains(on, "memory")
}

// control lets groups below have limits. The kernel refuses that of a group with processes in it; to move them would be
// to meddle with what others have started.
func control(dir string) bool {
	_ = os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+pids +memory"), 0)
	return controlled(dir)
}

// removeDead removes empty groups of ours that have ended.
func removeDead(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), groupPrefix)
		number, _, _ := strings.Cut(rest, "-")
		pid, err := strconv.Atoi(number)
		if !ok || err != nil {
			continue
		}
		if _, alive := readStat(pid); !alive {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
