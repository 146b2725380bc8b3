//go:build linux

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// kernelProbes look for what the kernel keeps for others.
var kernelProbes = []probe{
	{filesKey, "the core of a child of its own", forbidden, (*attempt).core},
	{kernelKey, "keyrings", forbidden, (*attempt).keyrings},
	{kernelKey, "a segment of shared memory", forbidden, (*attempt).sharedMemory},
}

// core lets a child of its own end with a core, if it may write one, and looks into it.
func (a *attempt) core() string {
	dir, err := os.MkdirTemp("", "probe-core")
	if err != nil {
		return ""
	}
	defer os.RemoveAll(dir)
	run("sh", "-c", `cd "$0" && ulimit -c unlimited && kill -ABRT $$`, dir)
	return a.among(keys, dir)
}

// keyrings looks through the keys that the kernel keeps for a user and a session.
func (a *attempt) keyrings() string {
	for _, ring := range []int{unix.KEY_SPEC_USER_KEYRING, unix.KEY_SPEC_USER_SESSION_KEYRING,
		unix.KEY_SPEC_SESSION_KEYRING} {
		id, err := unix.KeyctlSearch(ring, "user", "ralph-probe", 0)
		if err != nil {
			continue
		}
		b := make([]byte, 4096)
		if n, err := unix.KeyctlBuffer(unix.KEYCTL_READ, id, b, 0); err == nil && n <= len(b) {
			if name := a.seek(b[:n], "keyring"); name != "" {
				return "a key of the kernel's"
			}
		}
	}
	return ""
}

func (a *attempt) sharedMemory() string {
	if a.Memory <= 0 {
		return ""
	}
	b, err := unix.SysvShmAttach(a.Memory, 0, unix.SHM_RDONLY)
	if err != nil {
		return ""
	}
	defer func() { _ = unix.SysvShmDetach(b) }()
	if a.seek(append([]byte{}, b...), "memory") != "" {
		return "segment of another"
	}
	return ""
}
