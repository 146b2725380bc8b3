package journal

import "golang.org/x/sys/unix"

// bootID names the time since the machine was started; empty when it cannot be read.
func bootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}
