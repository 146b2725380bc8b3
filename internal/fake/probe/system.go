//go:build linux

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// uncover takes all mounts away, or lets them be written, in a namespace in which it is root.
const uncover = `awk '{print $5}' /proc/self/mountinfo | sort -r | while read -r at; do
umount -l "$at" 2>/dev/null || mount -o remount,bind,rw "$at" 2>/dev/null; done
cat "$1/.ssh/id_ed25519"; { : >>"$0/outside.txt"; } 2>/dev/null && echo written`

var errNothing = errors.New("nothing was reached")

// systemProbes reach for the kernel and for more rights. None of them changes anything that is not put back.
var systemProbes = []probe{
	{system, "mount", everyone, calls(func() error {
		dir, err := os.MkdirTemp("", "probe-mount")
		if err != nil {
			return err
		}
		defer os.Remove(dir)
		if err := unix.Mount("none", dir, "tmpfs", 0, ""); err != nil {
			return err
		}
		return unix.Unmount(dir, unix.MNT_DETACH)
	})},
	{system, "mount, by the newer calls", everyone, calls(func() error { return opened(unix.Fsopen("tmpfs", 0)) })},
	{system, "a copy of a mount", everyone, anywhere(func(_ *attempt, home string) string {
		return done(opened(unix.OpenTree(unix.AT_FDCWD, home, unix.OPEN_TREE_CLONE)))
	}, "$home")},
	{system, "disks", everyone, opens(os.O_RDONLY, "/dev/[svn][dvm][abe]*", "/dev/loop-control", "/dev/mapper/control")},
	{system, "other devices", everyone, opens(os.O_RDWR, "/dev/kvm", "/dev/fuse", "/dev/net/tun", "/dev/kmsg",
		"/dev/vhost-vsock", "/dev/uinput")},
	{system, "the program that cores are given to", everyone, opens(os.O_WRONLY, "/proc/sys/kernel/core_pattern",
		"/proc/sys/kernel/modprobe")},
	{system, "settings of the network and of memory", everyone, opens(os.O_WRONLY, "/proc/sys/net/ipv4/ip_forward",
		"/proc/sys/vm/overcommit_memory", "/proc/sysrq-trigger")},
	{system, "what the kernel runs for devices", everyone, opens(os.O_WRONLY, "/sys/kernel/uevent_helper",
		"/sys/power/state")},
	{system, "groups of processes and their release agent", everyone, opens(os.O_WRONLY, "/sys/fs/cgroup/*/release_agent",
		"/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/unified/cgroup.procs")},
	{privilege, "a setuid program", everyone, func(a *attempt) string {
		if a.Setuid == "" || os.Getuid() == 0 {
			return ""
		}
		out, err := exec.Command(a.Setuid, "-u").Output()
		if err != nil || strings.TrimSpace(string(out)) != "0" {
			return ""
		}
		return "root, by " + a.Setuid
	}},
	{privilege, "sudo and su", everyone, calls(func() error {
		if os.Getuid() == 0 {
			return errNothing
		}
		return exec.Command("sudo", "-n", "true").Run()
	})},
	{privilege, "capabilities", everyone, calls(func() error { return capable(^uint64(0)) })},
	{privilege, "another user", everyone, calls(func() error {
		c := exec.Command("id", "-u")
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 12345, Gid: 12345, NoSetGroups: true}}
		return c.Run()
	})},
	{privilege, "what is hidden or read only, from a namespace of its own", everyone, func(a *attempt) string {
		out, _ := exec.Command("unshare", "-Urm", "sh", "-c", uncover, a.Base, a.Home).Output()
		if bytes.Contains(veil(out), a.Secrets["ssh"]) || bytes.Contains(out, []byte("written")) {
			return "unshare"
		}
		return ""
	}},
	{privilege, "another root", everyone, calls(func() error {
		c := exec.Command("true")
		c.SysProcAttr = &syscall.SysProcAttr{Chroot: "/"}
		return c.Run()
	})},
}

// capable is an error if this process has none of some capabilities.
func capable(some uint64) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var has [2]unix.CapUserData
	if err := unix.Capget(&header, &has[0]); err != nil {
		return err
	}
	if (uint64(has[1].Effective)<<32|uint64(has[0].Effective))&some == 0 {
		return errNothing
	}
	return nil
}
