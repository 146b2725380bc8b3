//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// uncover takes all mounts away, or lets them be written, in a namespace in which it is root.
const uncover = `awk '{print $5}' /proc/self/mountinfo | sort -r | while read -r at; do
umount -l "$at" 2>/dev/null || mount -o remount,bind,rw "$at" 2>/dev/null; done
cat "$1/.ssh/id_ed25519"; { : >>"$0/outside.txt"; } 2>/dev/null && echo written`

// systemProbes reach for the kernel. None of them changes anything that is not put back.
var systemProbes = []probe{
	{system, "mount", forbidden, func(*attempt) string {
		dir, err := os.MkdirTemp("", "probe-mount")
		if err != nil {
			return ""
		}
		defer os.Remove(dir)
		if unix.Mount("none", dir, "tmpfs", 0, "") != nil {
			return ""
		}
		_ = unix.Unmount(dir, unix.MNT_DETACH)
		return "a tmpfs"
	}},
	{system, "mount, by the newer calls", forbidden, func(*attempt) string {
		fd, err := unix.Fsopen("tmpfs", 0)
		if err != nil {
			return ""
		}
		unix.Close(fd)
		return "fsopen"
	}},
	{system, "a copy of a mount", forbidden, func(a *attempt) string {
		fd, err := unix.OpenTree(unix.AT_FDCWD, a.Home, unix.OPEN_TREE_CLONE)
		if err != nil {
			return ""
		}
		unix.Close(fd)
		return "open_tree"
	}},
	{system, "take a mount away", forbidden, func(*attempt) string {
		if unix.Unmount("/tmp/no-such-mount", 0) == unix.ENOENT && unix.Mount("", "/", "", unix.MS_SLAVE, "") == nil {
			return "changed how / is shared"
		}
		return ""
	}},
	{system, "make a device", forbidden, func(*attempt) string {
		path := filepath.Join(os.TempDir(), fmt.Sprintf("probe-device-%d", os.Getpid()))
		if unix.Mknod(path, unix.S_IFBLK|0o600, 1<<8) != nil {
			return ""
		}
		os.Remove(path)
		return path
	}},
	{system, "disks", forbidden, func(*attempt) string {
		all, _ := filepath.Glob("/dev/[svn][dvm][abe]*")
		return opens(os.O_RDONLY, append(all, "/dev/loop-control", "/dev/mapper/control")...)
	}},
	{system, "other devices", forbidden, func(*attempt) string {
		return opens(os.O_RDWR, "/dev/kvm", "/dev/fuse", "/dev/net/tun", "/dev/kmsg", "/dev/vhost-vsock", "/dev/uinput")
	}},
	{system, "the program that cores are given to", forbidden, func(*attempt) string {
		return opens(os.O_WRONLY, "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe")
	}},
	{system, "settings of the network and of memory", forbidden, func(*attempt) string {
		return opens(os.O_WRONLY, "/proc/sys/net/ipv4/ip_forward", "/proc/sys/vm/overcommit_memory")
	}},
	{system, "the keys that reset a machine", forbidden, func(*attempt) string {
		return opens(os.O_WRONLY, "/proc/sysrq-trigger")
	}},
	{system, "what the kernel runs for devices", forbidden, func(*attempt) string {
		return opens(os.O_WRONLY, "/sys/kernel/uevent_helper", "/sys/power/state")
	}},
	{system, "groups of processes and their release agent", forbidden, func(*attempt) string {
		all, _ := filepath.Glob("/sys/fs/cgroup/*/release_agent")
		return opens(os.O_WRONLY, append(all, "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/unified/cgroup.procs")...)
	}},
	{system, "modules", forbidden, func(*attempt) string {
		if err := unix.FinitModule(-1, "", 0); err == unix.EBADF {
			return "finit_module"
		}
		return ""
	}},
	{system, "the log of the kernel", forbidden, func(*attempt) string {
		if n, err := unix.Klogctl(unix.SYSLOG_ACTION_READ_ALL, make([]byte, 4096)); err == nil && n > 0 {
			return "klogctl"
		}
		return ""
	}},
	{system, "the name of the machine", forbidden, func(*attempt) string {
		name, _ := os.Hostname()
		return done("sethostname", unix.Sethostname([]byte(name)))
	}},
	{system, "the clock", forbidden, func(*attempt) string {
		var now unix.Timex
		if _, err := unix.ClockAdjtime(unix.CLOCK_REALTIME, &now); err != nil {
			return ""
		}
		now.Modes = unix.ADJ_TICK // as it is
		_, err := unix.ClockAdjtime(unix.CLOCK_REALTIME, &now)
		return done("clock_adjtime", err)
	}},
	{privilege, "a setuid program", forbidden, func(a *attempt) string {
		if a.Setuid == "" || os.Getuid() == 0 {
			return ""
		}
		out, err := exec.Command(a.Setuid, "-u").Output()
		if err == nil && strings.TrimSpace(string(out)) == "0" {
			return "root, by " + a.Setuid
		}
		return ""
	}},
	{privilege, "sudo and su", forbidden, func(*attempt) string {
		if os.Getuid() == 0 {
			return ""
		}
		if exec.Command("sudo", "-n", "true").Run() == nil {
			return "sudo"
		}
		return ""
	}},
	{privilege, "capabilities", forbidden, func(*attempt) string {
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var has [2]unix.CapUserData
		if unix.Capget(&header, &has[0]) == nil && (has[0].Effective != 0 || has[1].Effective != 0) {
			return fmt.Sprintf("%x", has[0].Effective)
		}
		return ""
	}},
	{privilege, "another user", forbidden, func(*attempt) string {
		c := exec.Command("id", "-u")
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 12345, Gid: 12345, NoSetGroups: true}}
		return done("setuid", c.Run())
	}},
	{privilege, "what is hidden or read only, from a namespace of its own", forbidden, func(a *attempt) string {
		out, _ := exec.Command("unshare", "-Urm", "sh", "-c", uncover, a.Base, a.Home).Output()
		if bytes.Contains(veil(out), a.Secrets["ssh"]) || bytes.Contains(out, []byte("written")) {
			return "unshare"
		}
		return ""
	}},
	{privilege, "files by their handle", forbidden, func(a *attempt) string {
		handle, mount, err := unix.NameToHandleAt(unix.AT_FDCWD, a.Base, 0)
		if err != nil {
			return ""
		}
		_ = mount
		dir, err := unix.Open(a.Base, unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			return ""
		}
		defer unix.Close(dir)
		fd, err := unix.OpenByHandleAt(dir, handle, unix.O_RDONLY)
		if err != nil {
			return ""
		}
		unix.Close(fd)
		return "open_by_handle_at"
	}},
	{privilege, "another root", forbidden, func(*attempt) string {
		c := exec.Command("true")
		c.SysProcAttr = &syscall.SysProcAttr{Chroot: "/"}
		return done("chroot", c.Run())
	}},
	{privilege, "programs in the kernel", forbidden, func(*attempt) string {
		return bpf()
	}},
}
