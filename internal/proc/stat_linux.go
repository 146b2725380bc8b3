package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// stat is what /proc/PID/stat tells.
type stat struct {
	pid, parent, group, session int
	state                       byte
	threads                     int
	resident                    int64 // bytes
	start                       ticks
	bare                        bool // its environment is empty: not even there yet is another thing
}

// ticks are hundredths of a second since the machine was started. With the id they tell a process from a later one of
// the same id.
type ticks uint64

// clock is the time in the unit of processes' start times.
func clock() ticks {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) // known since Linux 2.6.39
	return ticks(now.Nano() / int64(10*time.Millisecond))
}

// dead reports whether nothing of a process is running. One whose first thread has ended looks dead and is not.
func (s stat) dead() bool { return (s.state == 'Z' || s.state == 'X') && s.threads < 2 }

// readStat reads without the runtime's poller, which has no use here and costs as much as the rest.
func readStat(pid int) (s stat, ok bool) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return s, false
	}
	defer unix.Close(fd)
	var buffer [2 << 10]byte // the kernel's own bound of a line is below 1.2 KiB
	n, err := unix.Read(fd, buffer[:])
	if err != nil || n <= 0 {
		return s, false
	}
	return parseStat(pid, buffer[:n])
}

func parseStat(pid int, raw []byte) (s stat, ok bool) {
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:]) // the name before may hold anything
	if len(fields) < 49 {
		return s, false
	}
	number := func(i int) int { n, _ := strconv.Atoi(string(fields[i])); return n }
	s = stat{pid: pid, state: fields[0][0], parent: number(1), group: number(2), session: number(3), threads: number(17)}
	s.resident = int64(number(21)) * int64(os.Getpagesize())
	s.bare = string(fields[47]) != "0" && bytes.Equal(fields[47], fields[48])
	start, err := strconv.ParseUint(string(fields[19]), 10, 64)
	s.start = ticks(start)
	return s, err == nil
}

// living lists the machine's processes that are not dead, ourselves excepted.
func living() (list []stat) {
	self := os.Getpid()
	for _, pid := range pids() {
		if pid == self {
			continue
		}
		if s, ok := readStat(pid); ok && !s.dead() {
			list = append(list, s)
		}
	}
	return list
}

func pids() (list []int) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			list = append(list, pid)
		}
	}
	return list
}

// hasMark reports whether a process has one of the marks in its environment. It is not sure of one that is becoming
// another program, which has no environment until it has become it.
func (s stat) hasMark(marks [][]byte) (yes, sure bool) {
	for range 2 { // what is without environment on purpose is so at the second look, too
		environ, err := os.ReadFile("/proc/" + strconv.Itoa(s.pid) + "/environ")
		if len(environ) > 0 {
			return slices.ContainsFunc(marks, func(mark []byte) bool { return bytes.Contains(environ, mark) }), true
		}
		if now, ok := readStat(s.pid); err != nil || !ok || !now.bare {
			return false, !readable(s.pid)
		}
	}
	return false, true
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

// child is a child of ours that may be an orphan.
type child struct {
	pid    int
	unsure bool // it may also be a root that is just being started
}

// adopted lists our children that may be orphans. Linux gives orphans to our first thread, which never ends. With the
// threads that start roots are these and what a root made its own sibling. With other threads is what others in this
// process started. Kernels without these lists make us look through the machine.
func adopted() (list []child) {
	self := os.Getpid()
	orphans, err := childrenOf(self)
	if err != nil {
		return everyChild(self)
	}
	for _, pid := range orphans {
		list = append(list, child{pid, false})
	}
	for _, s := range []*starter{ours, renounced} {
		siblings, _ := childrenOf(int(s.thread.Load())) // there is no thread 0
		for _, pid := range siblings {
			list = append(list, child{pid, true})
		}
	}
	return list
}

// childrenOf lists the children of a thread of ours.
func childrenOf(thread int) (list []int, err error) {
	raw, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(thread) + "/children")
	for field := range strings.FieldsSeq(string(raw)) {
		if pid, err := strconv.Atoi(field); err == nil {
			list = append(list, pid)
		}
	}
	return list, err
}

func everyChild(parent int) (list []child) {
	for _, pid := range pids() {
		if s, ok := readStat(pid); ok && s.parent == parent {
			list = append(list, child{pid, true})
		}
	}
	return list
}

// childless reports whether we have no child at all, dead or alive.
func childless() bool {
	err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL, nil)
	return errors.Is(err, syscall.ECHILD)
}

// exited reports whether a child has ended and not been reaped. It leaves it as it is.
func exited(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL, nil)
	return err == nil && info.Signo != 0
}

// reap takes away a child that has ended, and reports whether it had. It never waits.
func reap(pid int) bool {
	got, err := syscall.Wait4(pid, nil, syscall.WNOHANG|unix.WALL, nil)
	return err == nil && got == pid
}

// Name is what the system calls a process: the first 15 bytes of its program's name; empty when that cannot be read.
func Name(pid int) string {
	name, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(name), "\n")
}

// us is this process in marks.
var us = sync.OnceValue(func() string {
	s, _ := readStat(os.Getpid())
	return fmt.Sprintf("%s.%d.%d", numbers(), os.Getpid(), s.start)
})

// numbers is the namespace in which process numbers mean what they mean here.
func numbers() string {
	name, _ := os.Readlink("/proc/self/ns/pid") // pid:[4026531836]
	return strings.Trim(strings.TrimPrefix(name, "pid:"), "[]")
}
