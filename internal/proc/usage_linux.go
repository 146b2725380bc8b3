package proc

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// usage is what a process has taken of the machine, with all that came of it. What the whole machine has in use is
// asked first, which costs microseconds; the processes themselves are examined only where that is more than one of
// them may have.
type usage struct {
	limits Limits
	disks  []*disk
	ooms   int64  // how often the system had killed something for want of memory before it began
	group  *group // nil: there is none
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
