//go:build unix

package journal

import "os"

// keep has the system remember whose the lock is, for as long as the process lives or until release is called. Where the file system
// knows no locks it does nothing: then nobody can tell, and ralph cancel says so.
func keep(name string) (release func()) {
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return func() {}
	}
	lock(file)
	return func() { _ = file.Close() }
}

// has reports whether a process has the file, or one that cannot be seen from here.
func has(file *os.File, pid int) (holds, elsewhere bool) {
	owner := holder(file)
	return owner == pid, owner < 0
}
