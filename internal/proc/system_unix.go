//go:build unix

package proc

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// credential drops every supplementary group with the user.
func (u *User) credential() *syscall.Credential {
	return &syscall.Credential{Uid: u.UID, Gid: u.GID}
}

func signalName(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return ""
	}
	return unix.SignalName(status.Signal())
}

func signalOf(number int) string { return unix.SignalName(syscall.Signal(number)) }

// interrupt asks one process to end by itself, also when it is stopped.
func interrupt(p *os.Process) {
	_ = p.Signal(syscall.SIGINT)
	_ = p.Signal(syscall.SIGCONT)
}

// holdDir locks a directory of our user. got is false when another process has it, and when it has been removed
// meanwhile. The error says that the file system keeps no locks.
func holdDir(dir string) (held *os.File, got bool, err error) {
	held, err = os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, false, nil //nolint:nilerr // it is gone
	}
	if got, err = lockDir(dir, held); !got {
		_ = held.Close()
		return nil, false, err
	}
	return held, true, nil
}

func lockDir(dir string, held *os.File) (got bool, err error) {
	var stat unix.Stat_t
	if err := unix.Fstat(int(held.Fd()), &stat); err != nil || int(stat.Uid) != os.Geteuid() {
		return false, nil //nolint:nilerr // it is no directory of ours
	}
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Flock(int(held.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	if err != nil { // a network's, as a rule
		return false, err
	}
	there, err := os.Lstat(dir)
	if err != nil {
		return false, nil //nolint:nilerr // it has been removed meanwhile
	}
	open, err := held.Stat()
	return err == nil && os.SameFile(there, open), nil
}

// letGo gives a directory's lock back, after it has been removed.
func letGo(held *os.File, removed bool) {
	if held != nil && removed {
		_ = held.Close()
	}
}

// pending is how many bytes are in a pipe now.
func pending(pipe *os.File) (n int) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), bytesThere) })
	return n
}
