//go:build !unix

package agenthook

import (
	"fmt"
	"os"
)

// sessionsDir is where sessions are remembered: each user has a directory for temporary files of one's own here.
func sessionsDir() string { return os.TempDir() }

// openSession opens the file in which a session is remembered.
func openSession(name string) (*os.File, error) {
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file; remove it", name)
	}
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
}
