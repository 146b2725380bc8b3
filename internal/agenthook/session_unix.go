//go:build unix

package agenthook

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// sessionsDir is where the files of sessions lie.
func sessionsDir() string { return "/tmp" }

// openSession opens the file in which a session is remembered, and holds it. Everyone may write in that directory: a
// link, a pipe or another's file that exists under the name is not taken.
func openSession(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	var stat unix.Stat_t
	err = unix.Fstat(int(file.Fd()), &stat)
	switch {
	case err != nil:
	case stat.Mode&unix.S_IFMT != unix.S_IFREG || int(stat.Uid) != os.Geteuid() || stat.Nlink != 1:
		err = fmt.Errorf("%s is not a file of our own; remove it", name)
	default:
		if err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			err = fmt.Errorf("another hook writes %s", name)
		}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
