package proc

import (
	"errors"
	"fmt"
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
)

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
// when there is none.
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
	err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+pids +memory"), 0)
	return err == nil && controlled(dir)
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
