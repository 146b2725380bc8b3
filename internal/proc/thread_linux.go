package proc

import "golang.org/x/sys/unix"

func thisThread() int { return unix.Gettid() }

// renouncePrivileges makes sure that what this thread starts never becomes more than it is, by sudo or a setuid file.
func renouncePrivileges() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }
