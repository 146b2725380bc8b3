package proc

import (
	"bufio"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Rest gives back the memory that a process which only waits does not need: what has been freed, and the pages of its own program,
// which the system reads again where they are used. It costs a collection, a few milliseconds.
func Rest() {
	debug.FreeOSMemory()
	self, err := os.Executable()
	if err != nil {
		return
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return
	}
	defer maps.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		// 00400000-00a65000 r-xp 00000000 fe:00 10011970   /usr/local/bin/ralph
		fields := strings.Fields(lines.Text())
		if len(fields) != 6 || fields[5] != self || fields[1][1] == 'w' {
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		begin, err1 := strconv.ParseUint(from, 16, 64)
		end, err2 := strconv.ParseUint(to, 16, 64)
		if err1 == nil && err2 == nil {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(begin), uintptr(end-begin), unix.MADV_DONTNEED)
		}
	}
}
