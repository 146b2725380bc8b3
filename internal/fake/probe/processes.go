//go:build linux

package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// processProbes reach for other processes, and look into them.
var processProbes = []probe{
	{memoryKey, "the memory file of ralph", everyone, anywhere(func(a *attempt, dir string) string {
		f, err := os.Open(dir + "/mem")
		if err != nil {
			return ""
		}
		defer f.Close()
		return a.memory(keys, dir, func(at uint64, b []byte) (int, error) { return f.ReadAt(b, int64(at)) })
	}, "$ralph")},
	{memoryKey, "process_vm_readv of ralph", everyone, memoryOf(keys, "$ralph")},
	{memoryKey, "ptrace of ralph", everyone, traced("$ralph")},
	{memoryKey, "the files that ralph has mapped", everyone, reads("$ralph/map_files")},
	{memoryKey, "the memory of the machine", everyone, opens(os.O_RDONLY, "/dev/mem", "/dev/kmem", "/proc/kcore", "/dev/port")},
	{tracing, "ptrace of a process of the same user", everyone, traced("$victim")},
	{tracing, "the environment of a process of the same user", everyone, finds("victim", "$victim/environ")},
	{tracing, "process_vm_readv of a process of the same user", everyone, memoryOf("victim", "$victim")},
	{tracing, "open files of ralph", everyone, anywhere(func(_ *attempt, path string) string {
		to, _ := os.Readlink(path)
		return to
	}, "$ralph/fd/2")},
	{tracing, "namespaces of ralph", everyone, opens(os.O_RDONLY, "$ralph/ns/mnt")},
	{tracing, "files by the root of ralph", everyone, reads("$ralph/root/")},

	{signals, "a signal to ralph", everyone, onRalph(func(pid int) error { return syscall.Kill(pid, syscall.SIGCONT) })},
	{signals, "a signal to a process of the same user", everyone, onVictim(func(pid int) error {
		return syscall.Kill(pid, syscall.SIGCONT)
	})},
	{signals, "ralph's priority", everyone, onRalph(func(pid int) error {
		was, err := unix.Getpriority(unix.PRIO_PROCESS, pid)
		if err != nil {
			return err
		}
		return unix.Setpriority(unix.PRIO_PROCESS, pid, 20-was)
	})},
	{signals, "ralph's limits", everyone, onRalph(func(pid int) error {
		var was unix.Rlimit
		if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &was); err != nil {
			return err
		}
		return unix.Prlimit(pid, unix.RLIMIT_NOFILE, &was, nil)
	})},
	{signals, "the processors that ralph may use", everyone, onRalph(func(pid int) error {
		var was unix.CPUSet
		if err := unix.SchedGetaffinity(pid, &was); err != nil {
			return err
		}
		return unix.SchedSetaffinity(pid, &was)
	})},
	{signals, "whether ralph dies first when memory is short", everyone, opens(os.O_WRONLY, "$ralph/oom_score_adj")},
	{signals, "every process at once", everyone, onVictim(func(pid int) error {
		group, err := unix.Getpgid(pid)
		if err != nil {
			return err
		}
		return syscall.Kill(-group, syscall.SIGCONT)
	})},
	{seeing, "ralph", everyone, onRalph(func(int) error { return nil })},
	{seeing, "a process of the same user", everyone, onVictim(func(int) error { return nil })},
	{terminal, "type on it", everyone, calls(func() error {
		fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.IoctlSetPointerInt(fd, unix.TIOCSTI, ' ')
	})},
	{terminal, "write to it", everyone, opens(os.O_RDWR, "/dev/tty")},
}

func number(dir string) int {
	n, _ := strconv.Atoi(filepath.Base(dir))
	return n
}

// memoryOf reads the memory of processes without a file.
func memoryOf(which, processes string) try {
	return anywhere(func(a *attempt, dir string) string {
		return a.memory(which, dir, func(at uint64, b []byte) (int, error) {
			return unix.ProcessVMReadv(number(dir), []unix.Iovec{{Base: &b[0], Len: uint64(len(b))}},
				[]unix.RemoteIovec{{Base: uintptr(at), Len: len(b)}}, 0)
		})
	}, processes)
}

// memory seeks secrets in what a process can write of its memory.
func (a *attempt) memory(which, dir string, read func(uint64, []byte) (int, error)) string {
	maps, err := os.ReadFile(dir + "/maps")
	if err != nil {
		return ""
	}
	total := uint64(0)
	for lines := bufio.NewScanner(bytes.NewReader(maps)); lines.Scan(); {
		span, rest, _ := strings.Cut(lines.Text(), " ")
		from, to, _ := strings.Cut(span, "-")
		begin, _ := strconv.ParseUint(from, 16, 64)
		end, _ := strconv.ParseUint(to, 16, 64)
		if !strings.HasPrefix(rest, "rw") {
			continue
		}
		for at := begin; at < end && total < 256<<20; at += 1 << 20 {
			b := make([]byte, min(end-at, 1<<20))
			n, err := read(at, b)
			total += uint64(len(b))
			if err != nil {
				continue
			}
			if name := a.seek(b[:n], strings.Split(which, ",")...); name != "" {
				return name + " in the memory of " + dir
			}
		}
	}
	return ""
}

// traced traces one of some processes, by a child whose end lets the process continue.
func traced(processes string) try {
	return anywhere(func(a *attempt, dir string) string {
		if number(dir) <= 0 || exec.Command(a.program, "trace", filepath.Base(dir)).Run() != nil {
			return ""
		}
		return "traced " + dir
	}, processes)
}

// trace traces a process, and ends.
func trace(pid string) {
	if err := unix.PtraceSeize(number(pid)); err != nil {
		fail(err)
	}
}
