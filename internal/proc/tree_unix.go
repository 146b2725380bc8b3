//go:build unix && !linux

package proc

import (
	"os"
	"syscall"
)

// askToEnd and killAll are for a process and its group, which lives as long as anything in it.
func askToEnd(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGTERM)
	_ = syscall.Kill(-p.Pid, syscall.SIGCONT)
}

func killAll(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

func lives(p *os.Process) bool { return syscall.Kill(-p.Pid, 0) != syscall.ESRCH }

// bytesThere asks a pipe how much is in it: FIONREAD.
const bytesThere = 0x4004667f

func attributes(as *User) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if as != nil {
		a.Credential = as.credential()
	}
	return a
}

func renouncePrivileges() error { return nil }
