package proc

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ForgetSecrets overwrites what others read of our own environment in /proc, which shows what we were started with,
// where a name looks like that of a secret. Our own copies stay. It has to come before HideSelf.
func ForgetSecrets() error {
	text, err := os.ReadFile("/proc/self/environ")
	if err != nil {
		return fmt.Errorf("reading our own environment: %w", err)
	}
	begin, err := environBegins()
	if err != nil {
		return err
	}
	var memory *os.File
	for at := 0; at < len(text); {
		entry, _, _ := bytes.Cut(text[at:], []byte{0})
		name, value, _ := bytes.Cut(entry, []byte{'='})
		if len(value) > 0 && (NamesSecret(string(name)) || strings.HasSuffix(string(name), "_CUSTOM_HEADERS")) {
			if memory == nil {
				if memory, err = os.OpenFile("/proc/self/mem", os.O_WRONLY, 0); err != nil {
					return fmt.Errorf("overwriting our own environment: %w", err)
				}
				defer memory.Close()
			}
			from := begin + int64(at+len(entry)-len(value))
			if _, err := memory.WriteAt(bytes.Repeat([]byte{'x'}, len(value)), from); err != nil {
				return fmt.Errorf("overwriting our own environment: %w", err)
			}
		}
		at += len(entry) + 1
	}
	return nil
}

// environField is the number of the field in /proc/PID/stat that says where the environment begins, from the field
// behind the program's name.
const environField = 50 - 3

// environBegins is where our environment begins in our memory.
func environBegins() (int64, error) {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, fmt.Errorf("finding our own environment: %w", err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) <= environField {
		return 0, fmt.Errorf("finding our own environment: %d fields", len(fields))
	}
	begin, err := strconv.ParseInt(fields[environField], 10, 64)
	if err != nil || begin <= 0 {
		return 0, fmt.Errorf("finding our own environment: it begins at %q", fields[environField])
	}
	return begin, nil
}

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

func thisThread() int { return unix.Gettid() }

// renouncePrivileges makes sure that what this thread starts never becomes more than it is, by sudo or a setuid file.
func renouncePrivileges() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }

// HideSelf keeps processes of our own user from reading our memory and environment through /proc. It does not hide us
// from root.
func HideSelf() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// bytesThere asks a pipe how much is in it.
const bytesThere = unix.TIOCINQ
