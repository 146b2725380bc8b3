package queue

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// machine says where this process lives, so that another one on the same machine can see whether it has died: the
// boot of the kernel, the process's namespace, number and time of start. It is "" where the system does not tell.
func machine() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	start, _ := started(os.Getpid())
	if start == "" {
		return ""
	}
	return fmt.Sprintf("%s %s %d %s", strings.TrimSpace(string(boot)), space, os.Getpid(), start)
}

// gone reports whether the process at another place has certainly ended. It says no wherever it cannot know.
func gone(there string) bool {
	here, other := strings.Fields(machine()), strings.Fields(there)
	if len(here) != 4 || len(other) != 4 || here[0] != other[0] || here[1] != other[1] {
		return false
	}
	var pid int
	if _, err := fmt.Sscan(other[2], &pid); err != nil || pid <= 0 {
		return false
	}
	start, known := started(pid)
	return known && start != other[3]
}

// started is when a process began, in ticks since the boot: "" if it has ended, even if its parent has not asked yet.
// known is false where the system did not tell.
func started(pid int) (start string, known bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if os.IsNotExist(err) {
		return "", vanished(pid) // the files of other users may be hidden, their processes are not
	}
	if err != nil {
		return "", false
	}
	// The name of the program is in parentheses and may hold anything; the state follows, and the start 19 words
	// later.
	words := strings.Fields(string(stat[bytes.LastIndex(stat, []byte(") "))+1:]))
	if len(words) < 20 {
		return "", false
	}
	if words[0] == "Z" || words[0] == "X" {
		return "", true
	}
	return words[19], true
}

// vanished reports whether no process has this number.
func vanished(pid int) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	return errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
