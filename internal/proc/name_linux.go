package proc

import (
	"os"
	"strconv"
	"strings"
)

// Name is what the system calls a process: the first 15 bytes of its program's name; empty when that cannot be told.
func Name(pid int) string {
	name, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(name), "\n")
}
