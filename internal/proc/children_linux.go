package proc

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

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
