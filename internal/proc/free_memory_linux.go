package proc

import (
	"bufio"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// FreeMemory gives back the memory that a process which only waits does not need: what has been freed, and the pages of our
// own program, which the system reads again where they are used. It costs a collection, a few milliseconds.
func FreeMemory() {
	debug.FreeOSMemory()
	self, err := os.Executable()
	if err != nil {
		return
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer maps.Close()
	var begin, end uint64 // of what may be given back; 0: nothing
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 0:
		case !strings.HasSuffix(fields[0], ":"): // 00400000-00a65000 r-xp 00000000 fe:00 10011970   /usr/local/bin/ralph
			begin, end = 0, 0
			from, to, _ := strings.Cut(fields[0], "-")
			if len(fields) == 6 && fields[5] == self && fields[1][1] != 'w' {
				begin, _ = strconv.ParseUint(from, 16, 64)
				end, _ = strconv.ParseUint(to, 16, 64)
			}
		case fields[0] == "Anonymous:" && begin > 0 && end > begin && len(fields) > 1 && fields[1] == "0":
			// What was written into its pages before they were made read-only, as the addresses of a C library's functions, is
			// in no file: it would be gone.
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(begin), uintptr(end-begin), unix.MADV_DONTNEED)
		}
	}
}
