package proc

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A harness that is killed ends no one: what it started itself dies with it, and what resulted from that continues. The mark in
// the environment of all of it says whose it was, by what the system tells no two processes of: the namespace of
// process numbers, the number, and the start. It says, too, where the first process of the tree was started: a box that
// is just being made works nowhere.

// leftTime bounds the wait for the end of what was left.
const leftTime = 5 * time.Second

// EndLeft kills what harnesses that were killed have left running in some directories and below, with everything that
// it started, and says how many processes that were. What a living harness has started, or one that cannot be seen from
// here, is left running, and so are harnesses themselves.
func EndLeft(dirs ...string) (ended int) {
	struck := map[int]ticks{}
	for began := time.Now(); time.Since(began) < leftTime; time.Sleep(2 * time.Millisecond) {
		left := leftIn(dirs)
		if len(left) == 0 {
			break
		}
		for _, s := range left {
			if syscall.Kill(s.pid, syscall.SIGKILL) == nil {
				struck[s.pid] = s.start
			}
		}
	}
	return len(struck)
}

func leftIn(dirs []string) []stat {
	all, in := living(), map[int]bool{}
	for _, s := range all {
		if gone, begun := abandoned(s.pid); gone &&
			(worksIn(s.pid, dirs) || slices.ContainsFunc(begun, func(dir string) bool { return isUnder(dir, dirs) })) {
			in[s.pid] = true
		}
	}
	if len(in) == 0 {
		return nil
	}
	return descendants(all, in, true, func(s stat) bool {
		gone, _ := abandoned(s.pid)
		return !in[s.pid] && !gone
	})
}

// worksIn reports whether a process works in one of some directories or below.
func worksIn(pid int, dirs []string) bool {
	at, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
	if err != nil {
		return false
	}
	return isUnder(strings.TrimSuffix(at, " (deleted)"), dirs)
}

// isUnder reports whether a path is one of some directories or below.
func isUnder(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			real = dir
		}
		return dir != "" && real != "/" &&
			(path == real || strings.HasPrefix(path, real+"/") || path == dir || strings.HasPrefix(path, dir+"/"))
	})
}

// abandoned reports whether every harness that a process is of is dead, and there was one, and where the trees that it
// is of began. A harness of our own kind does not count: it cleans up itself.
func abandoned(pid int) (yes bool, begun []string) {
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false, nil
	}
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if !bytes.HasPrefix(entry, []byte(markPrefix)) {
			continue
		}
		_, value, _ := strings.Cut(string(entry), "=")
		owner, dir, _ := strings.Cut(value, ":")
		if !dead(owner) {
			return false, nil
		}
		begun = append(begun, dir)
	}
	return len(begun) > 0 && !ourKind(pid), begun
}

// dead reports whether the process that a mark names has ended, as far as can be seen from here.
func dead(owner string) bool {
	part := strings.Split(owner, ".")
	if len(part) != 3 || part[0] == "" || part[0] != numbers() {
		return false
	}
	pid, err := strconv.Atoi(part[1])
	if err != nil {
		return false
	}
	s, ok := readStat(pid)
	return !ok || s.dead() || strconv.FormatUint(uint64(s.start), 10) != part[2]
}

// ourKind reports whether a process runs our own program, or one of its name: another version of it.
func ourKind(pid int) bool {
	program := func(pid string) string {
		path, _ := os.Readlink("/proc/" + pid + "/exe")
		return filepath.Base(strings.TrimSuffix(path, " (deleted)"))
	}
	return program(strconv.Itoa(pid)) == program("self")
}

// At finds a process that works in one of some directories or below and whose command line is needed; 0 without one.
func At(dirs []string, wanted func(args []string) bool) (pid int, args []string) {
	for _, s := range living() {
		raw, _ := os.ReadFile("/proc/" + strconv.Itoa(s.pid) + "/cmdline")
		args := strings.Split(strings.TrimRight(string(raw), "\x00"), "\x00")
		if wanted(args) && worksIn(s.pid, dirs) {
			return s.pid, args
		}
	}
	return 0, nil
}
