//go:build linux

package main

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ofRalph tries something with the numbers of ralph's processes.
func (a *attempt) ofRalph(try func(pid int) error) string {
	for _, dir := range a.ralph() {
		if try(number(dir)) == nil {
			return dir
		}
	}
	return ""
}

// victim tries something with a process of the same user, if its number is that process here.
func (a *attempt) victim(try func(pid int) error) string {
	dir := fmt.Sprintf("/proc/%d", a.Victim)
	if !a.ofRun(dir) || try(a.Victim) != nil {
		return ""
	}
	return dir
}

// processProbes reach for other processes without looking into them.
var processProbes = []probe{
	{signals, "a signal to ralph", forbidden, func(a *attempt) string {
		return a.ofRalph(func(pid int) error { return syscall.Kill(pid, syscall.SIGCONT) })
	}},
	{signals, "a signal to ralph, by its pidfd", forbidden, func(a *attempt) string {
		return a.ofRalph(func(pid int) error {
			fd, err := unix.PidfdOpen(pid, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return unix.PidfdSendSignal(fd, unix.SIGCONT, nil, 0)
		})
	}},
	{signals, "a signal to a process of the same user", forbidden, func(a *attempt) string {
		return a.victim(func(pid int) error { return syscall.Kill(pid, syscall.SIGCONT) })
	}},
	{signals, "ralph's priority", forbidden, func(a *attempt) string {
		return a.ofRalph(func(pid int) error {
			was, err := unix.Getpriority(unix.PRIO_PROCESS, pid)
			if err != nil {
				return err
			}
			return unix.Setpriority(unix.PRIO_PROCESS, pid, 20-was)
		})
	}},
	{signals, "ralph's limits", forbidden, func(a *attempt) string {
		return a.ofRalph(func(pid int) error {
			var was unix.Rlimit
			if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &was); err != nil {
				return err
			}
			return unix.Prlimit(pid, unix.RLIMIT_NOFILE, &was, nil)
		})
	}},
	{signals, "the processors that ralph may use", forbidden, func(a *attempt) string {
		return a.ofRalph(func(pid int) error {
			var was unix.CPUSet
			if err := unix.SchedGetaffinity(pid, &was); err != nil {
				return err
			}
			return unix.SchedSetaffinity(pid, &was)
		})
	}},
	{signals, "whether ralph dies first when memory is short", forbidden, func(a *attempt) string {
		return a.ofRalph(func(pid int) error {
			f, err := os.OpenFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), os.O_WRONLY, 0)
			if err == nil {
				f.Close()
			}
			return err
		})
	}},
	{signals, "every process at once", forbidden, func(a *attempt) string {
		dir := fmt.Sprintf("/proc/%d", a.Victim)
		if !a.ofRun(dir) { // it is not here, so neither is anyone else's
			return ""
		}
		if pgid, err := unix.Getpgid(a.Victim); err == nil && syscall.Kill(-pgid, syscall.SIGCONT) == nil {
			return "the victim's group"
		}
		return ""
	}},
	{seeing, "ralph", forbidden, func(a *attempt) string { return a.ofRalph(func(int) error { return nil }) }},
	{seeing, "a process of the same user", forbidden, func(a *attempt) string {
		return a.victim(func(int) error { return nil })
	}},
	{terminal, "type on it", forbidden, func(*attempt) string {
		fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
		if err != nil {
			return ""
		}
		defer unix.Close(fd)
		if unix.IoctlSetPointerInt(fd, unix.TIOCSTI, ' ') == nil {
			return "TIOCSTI"
		}
		return ""
	}},
	{terminal, "write to it", forbidden, func(a *attempt) string {
		fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
		if err != nil {
			return ""
		}
		unix.Close(fd)
		return "/dev/tty"
	}},
}
