package inside

import (
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	"github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

const (
	llRead  = syscall.AccessFSExecute | syscall.AccessFSReadFile | syscall.AccessFSReadDir
	llFile  = syscall.AccessFSExecute | syscall.AccessFSReadFile | syscall.AccessFSWriteFile | syscall.AccessFSTruncate
	llWrite = llRead | llFile | syscall.AccessFSRemoveDir | syscall.AccessFSRemoveFile | syscall.AccessFSMakeDir |
		syscall.AccessFSMakeReg | syscall.AccessFSMakeSock | syscall.AccessFSMakeFifo | syscall.AccessFSMakeSym | syscall.AccessFSRefer
)

// restrict gives up what the box is not to have, for this thread and what it becomes.
func restrict(in Steps) error {
	if err := powerless(); err != nil {
		return err
	}
	c := landlock.V11
	c.HandledAccessNet = 0
	if in.From > 0 {
		c.HandledAccessNet = syscall.AccessNetConnectTCP | syscall.AccessNetConnectSendUDP
	}
	rules := []landlock.Rule{}
	add := func(paths []string, dir, file landlock.AccessFSSet) {
		for _, path := range paths {
			info, err := os.Stat(path)
			if err != nil {
				continue
			}
			rights := file
			if info.IsDir() {
				rights = dir
			}
			rules = append(rules, landlock.PathAccess(rights, path).IgnoreIfMissing())
		}
	}
	const ioctl = syscall.AccessFSIoctlDev
	add(in.Read, llRead, llRead&llFile)
	add(in.Write, llWrite, llFile)
	add(in.Devices, llWrite|ioctl, llFile|ioctl)
	for _, port := range in.Connect {
		rules = append(rules, landlock.ConnectTCP(port))
	}
	// Linux gives servers every other port, beginning at the second, and clients the rest. Each port is a rule, and costs
	// time.
	for port := in.From + 1; in.From > 0 && port <= min(in.To, 1<<16-1); port += 2 {
		rules = append(rules, landlock.ConnectTCP(uint16(port)))
	}
	if err := c.BestEffort().Restrict(rules...); err != nil {
		return fmt.Errorf("giving up rights: %w", err)
	}
	return nil
}

// powerless gives up every capability for good: root is then a user who owns root's files. Without it, root reads its
// parent's environment through Landlock.
func powerless() error {
	for c := range uintptr(64) {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			break // above the last one, or not ours to drop: no privilege can be gained below anyway
		}
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("giving up capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("renouncing privileges: %w", err)
	}
	return nil
}
