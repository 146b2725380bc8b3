package proc

import (
	"fmt"
	"os"
	"syscall"
)

// Ask asks a process to end (TERM). right is asked first whether it is the one that is meant, and gets its name; the
// number cannot become another process's in between on systems that hand out handles of processes.
func Ask(pid int, right func(name string) error) error {
	if pid <= 1 {
		return fmt.Errorf("process %d is not to be asked to end", pid)
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return fmt.Errorf("finding process %d: %w", pid, err)
	}
	defer func() { _ = p.Release() }()
	if err := right(Name(pid)); err != nil {
		return err
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("asking process %d to end: %w", pid, err)
	}
	return nil
}
