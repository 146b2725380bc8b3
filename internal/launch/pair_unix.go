//go:build unix

package launch

import (
	"os"
	"syscall"
)

// pair makes both ends of a connection. Nobody inherits either by chance.
func pair() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock() // no process is started between the two calls
	defer syscall.ForkLock.RUnlock()
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, err
	}
	for _, end := range ends {
		syscall.CloseOnExec(end)
	}
	return os.NewFile(uintptr(ends[0]), "the job's socket"), os.NewFile(uintptr(ends[1]), "the job's socket"), nil
}
