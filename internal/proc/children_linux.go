package proc

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// adopted lists our children that can be orphans. Linux gives orphans to our first thread, which never ends, and lists what a thread
// has started itself with that thread. Kernels without these lists make us look through the machine, and exact is false: a process
// that is just being started by us may be among them.
func adopted() (list []int, exact bool) {
	self := strconv.Itoa(os.Getpid())
	raw, err := os.ReadFile("/proc/" + self + "/task/" + self + "/children")
	if err != nil {
		return childrenOf(os.Getpid()), false
	}
	for field := range strings.FieldsSeq(string(raw)) {
		if pid, err := strconv.Atoi(field); err == nil {
			list = append(list, pid)
		}
	}
	return list, true
}

func childrenOf(parent int) (list []int) {
	for _, pid := range pids() {
		if s, ok := readStat(pid); ok && s.parent == parent {
			list = append(list, pid)
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
