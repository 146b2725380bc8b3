//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// memoryProbes read what other processes have in their memory, and go by what only a tracer may.
var memoryProbes = []probe{
	{memoryKey, "the memory file of ralph", forbidden, func(a *attempt) string {
		for _, dir := range a.ralph() {
			f, err := os.Open(dir + "/mem")
			if err != nil {
				continue
			}
			defer f.Close()
			if seen := a.memory(dir, func(at uint64, b []byte) (int, error) { return f.ReadAt(b, int64(at)) }); seen != "" {
				return seen
			}
		}
		return ""
	}},
	{memoryKey, "process_vm_readv of ralph", forbidden, func(a *attempt) string {
		for _, dir := range a.ralph() {
			if seen := a.memory(dir, vmRead(number(dir))); seen != "" {
				return seen
			}
		}
		return ""
	}},
	{memoryKey, "ptrace of ralph", forbidden, func(a *attempt) string { return a.traced(a.ralph()) }},
	{memoryKey, "open files of ralph, by pidfd_getfd", forbidden, func(a *attempt) string {
		for _, dir := range a.ralph() {
			if fd, err := unix.PidfdOpen(number(dir), 0); err == nil {
				defer unix.Close(fd)
				if got, err := unix.PidfdGetfd(fd, 2, 0); err == nil {
					unix.Close(got)
					return "standard error of " + dir
				}
			}
		}
		return ""
	}},
	{memoryKey, "the files that ralph has mapped", forbidden, func(a *attempt) string {
		for _, dir := range a.ralph() {
			if entries, err := os.ReadDir(dir + "/map_files"); err == nil && len(entries) > 0 {
				return dir + "/map_files"
			}
		}
		return ""
	}},
	{memoryKey, "counters of the processor in ralph", forbidden, func(a *attempt) string {
		attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
			Config: unix.PERF_COUNT_SW_CPU_CLOCK, Bits: unix.PerfBitExcludeKernel}
		for _, dir := range a.ralph() {
			if fd, err := unix.PerfEventOpen(&attr, number(dir), -1, -1, 0); err == nil {
				unix.Close(fd)
				return "perf_event_open"
			}
		}
		return ""
	}},
	{memoryKey, "the memory of the machine", forbidden, func(*attempt) string {
		return opens(os.O_RDONLY, "/dev/mem", "/dev/kmem", "/proc/kcore", "/dev/port")
	}},
	{tracing, "ptrace of a process of the same user", forbidden, func(a *attempt) string {
		return a.traced([]string{"/proc/" + strconv.Itoa(a.Victim)})
	}},
	{tracing, "the environment of a process of the same user", forbidden, func(a *attempt) string {
		return a.look(fmt.Sprintf("/proc/%d/environ", a.Victim), "victim")
	}},
	{tracing, "process_vm_readv of a process of the same user", forbidden, func(a *attempt) string {
		dir := fmt.Sprintf("/proc/%d", a.Victim)
		if _, err := os.Stat(dir); err != nil {
			return ""
		}
		return a.memoryOf("victim", dir, vmRead(a.Victim))
	}},
	{tracing, "open files of ralph", forbidden, func(a *attempt) string {
		for _, dir := range a.ralph() {
			if to, err := os.Readlink(dir + "/fd/2"); err == nil {
				return to
			}
		}
		return ""
	}},
	{tracing, "namespaces of ralph", forbidden, func(a *attempt) string {
		for _, dir := range a.ralph() {
			if f, err := os.Open(dir + "/ns/mnt"); err == nil {
				f.Close()
				return dir + "/ns/mnt"
			}
		}
		return ""
	}},
	{tracing, "files by the root of ralph", forbidden, func(a *attempt) string {
		for _, dir := range a.ralph() {
			if entries, err := os.ReadDir(dir + "/root/"); err == nil && len(entries) > 0 {
				return dir + "/root"
			}
		}
		return ""
	}},
}

func number(dir string) int {
	n, _ := strconv.Atoi(filepath.Base(dir))
	return n
}

// vmRead reads another process's memory without a file.
func vmRead(pid int) func(uint64, []byte) (int, error) {
	return func(at uint64, b []byte) (int, error) {
		return unix.ProcessVMReadv(pid, []unix.Iovec{{Base: &b[0], Len: uint64(len(b))}},
			[]unix.RemoteIovec{{Base: uintptr(at), Len: len(b)}}, 0)
	}
}

// memory seeks the keys in what a process may write of its memory.
func (a *attempt) memory(dir string, read func(uint64, []byte) (int, error)) string {
	for _, key := range keys {
		if seen := a.memoryOf(key, dir, read); seen != "" {
			return seen
		}
	}
	return ""
}

func (a *attempt) memoryOf(key, dir string, read func(uint64, []byte) (int, error)) string {
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
			if err == nil && a.seek(b[:n], key) != "" {
				return key + " in the memory of " + dir
			}
		}
	}
	return ""
}

// traced is whether one of the processes can be traced. A child tries it, whose end lets the process continue.
func (a *attempt) traced(dirs []string) string {
	for _, dir := range dirs {
		if _, err := os.Stat(dir); err != nil || number(dir) <= 0 {
			continue
		}
		if exec.Command(a.program, "trace", filepath.Base(dir)).Run() == nil {
			return "traced " + dir
		}
	}
	return ""
}

// trace traces a process, and ends.
func trace(pid string) {
	if err := unix.PtraceSeize(number(pid)); err != nil {
		fail(err)
	}
}
