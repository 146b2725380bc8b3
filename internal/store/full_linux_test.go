package store

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/need"
)

// TestTheDiskIsFull: on a file system of four megabytes, in a namespace of its own.
func TestTheDiskIsFull(t *testing.T) {
	need.Program(t, "mount")
	dir := t.TempDir()
	cmd := exec.Command("sh", "-c", `mount -t tmpfs -o size=4m none "$1" && exec "$2"`, "sh", dir, os.Args[0])
	cmd.Env = append(os.Environ(), "RALPH_TEST_FULL="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	need.That(t, "namespaces", !errors.Is(err, syscall.EPERM))
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if said := string(out); !strings.HasPrefix(said, "unavailable=true again=true kept=true listed=true") {
		t.Error(said)
	}
	t.Logf("%s", out)
}
