package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A harness that is killed ends nobody: what it started itself dies with it, and what came of that goes on. The mark in the environment of
// all of it says whose it was, by what the system tells no two processes of: the namespace of process numbers, the number, and the start.

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

// leftTime bounds the wait for the end of what was left.
const leftTime = 5 * time.Second

// EndLeft kills what harnesses that were killed have left running in some directories and below, with all that came of it, and says how many
// processes that were. What a living harness has started, or one that cannot be seen from here, is let be, and harnesses themselves.
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
		if worksIn(s.pid, dirs) && abandoned(s.pid) {
			in[s.pid] = true
		}
	}
	if len(in) == 0 {
		return nil
	}
	return below(all, in, true, func(s stat) bool { return !in[s.pid] && !abandoned(s.pid) })
}

// worksIn reports whether a process works in one of some directories or below.
func worksIn(pid int, dirs []string) bool {
	at, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
	if err != nil {
		return false
	}
	for _, dir := range dirs {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		if dir != "" && dir != "/" && (at == dir || strings.HasPrefix(at, dir+"/") || at == dir+" (deleted)") {
			return true
		}
	}
	return false
}

// abandoned reports whether every harness that a process is of is dead, and there was one. A harness of our own kind is none of that: it sees
// to itself.
func abandoned(pid int) bool {
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	marked := false
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if !bytes.HasPrefix(entry, []byte(markPrefix)) {
			continue
		}
		_, owner, _ := strings.Cut(string(entry), "=")
		if !dead(owner) {
			return false
		}
		marked = true
	}
	return marked && !ourKind(pid)
}

// dead reports whether the process that a mark names has ended, as far as it can be told from here.
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

// ourKind reports whether a process runs our own program.
func ourKind(pid int) bool {
	mine, err := os.Stat("/proc/self/exe")
	if err != nil {
		return false
	}
	its, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/exe")
	return err == nil && os.SameFile(mine, its)
}

// At finds a process that works in one of some directories or below and whose command line is wanted; 0 when there is none.
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
