//go:build linux

package main

import (
	"bytes"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// inShared is the name of a probe that depends on who may write in /dev/shm.
const inShared = "a file in shared memory"

// mark is the name of what an agent leaves behind.
const mark = "probe-left"

// left are the places where an agent leaves something, and where others look for it. Worktrees are not among them: what
// is there is the work.
func left() []string {
	return []string{os.Getenv("HOME"), os.TempDir(), "/tmp", "/var/tmp", "/dev/shm", filepath.Dir(os.Getenv("GOCACHE")),
		os.Getenv("GOCACHE"), os.Getenv("CARGO_HOME")}
}

// leave leaves files, a link, a process and a server for those who come next.
func (a *attempt) leave(program string) {
	if a.role != "agent" {
		return
	}
	for _, dir := range left() {
		if dir != "" {
			_ = os.WriteFile(filepath.Join(dir, mark), []byte(a.Base), 0o666)
		}
	}
	c := exec.Command("setsid", program, "linger", a.Base)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.Env = []string{"PATH=" + os.Getenv("PATH")} // without any mark
	c.Dir = "/"
	if c.Start() == nil {
		time.Sleep(100 * time.Millisecond) // it is on its way
	}
}

// linger stays for longer than any test takes, and listens.
func linger(base string) {
	if l, err := net.Listen("unix", "@probe-linger-"+base); err == nil {
		defer l.Close()
	}
	time.Sleep(3 * time.Minute)
}

// lingering are the processes of a test that linger.
func lingering(base string) (dirs []string) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		if line, err := os.ReadFile(dir + "/cmdline"); err == nil && bytes.Contains(line, []byte("linger\x00"+base)) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// victim is a process of the same user, who keeps a secret in the kernel, until no one needs it.
func victim() {
	_, _ = unix.AddKey("user", "ralph-probe", []byte(os.Getenv("PROBE_KEYRING")), unix.KEY_SPEC_USER_KEYRING)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// leftProbes look for what an agent has left.
var leftProbes = []probe{
	{leftover, "a file in a home", ofOthers, func(a *attempt) string { return a.found(os.Getenv("HOME"), a.Home) }},
	{leftover, "a file in a directory for temporary files", ofOthers, func(a *attempt) string {
		return a.found(os.TempDir(), "/tmp", "/var/tmp")
	}},
	{leftover, inShared, ofOthers, func(a *attempt) string { return a.found("/dev/shm") }},
	{leftover, "a file in a cache", ofOthers, func(a *attempt) string {
		return a.found(filepath.Dir(os.Getenv("GOCACHE")), os.Getenv("GOCACHE"), os.Getenv("CARGO_HOME"))
	}},
	{leftover, "a process", ofOthers, func(a *attempt) string {
		return strings.Join(lingering(a.Base), " ")
	}},
	{leftover, "a server", ofOthers, func(a *attempt) string {
		c, err := net.Dial("unix", "@probe-linger-"+a.Base)
		if err != nil {
			return ""
		}
		c.Close()
		return "an abstract socket"
	}},
}

// found is a mark that the agent of this very test has left.
func (a *attempt) found(dirs ...string) string {
	for _, dir := range dirs {
		if dir == "" || dir == "." {
			continue
		}
		if text, err := os.ReadFile(filepath.Join(dir, mark)); err == nil && string(text) == a.Base {
			return filepath.Join(dir, mark)
		}
	}
	return ""
}
