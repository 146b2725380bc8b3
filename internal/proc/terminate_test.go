//go:build unix

package proc

import (
	"errors"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// A process is asked to end only when it is the right one.
func TestAsk(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wrong := errors.New("not this one")
	if err := Ask(cmd.Process.Pid, func(string) error { return wrong }); !errors.Is(err, wrong) {
		t.Errorf("asked the wrong one: %v", err)
	}
	name := ""
	if err := Ask(cmd.Process.Pid, func(n string) error { name = n; return nil }); err != nil {
		t.Error(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("it ended: %v", err)
	}
	if runtime.GOOS == "linux" && name != "sleep" {
		t.Errorf("it was called %q", name)
	}
	for _, pid := range []int{-1, 0, 1} {
		if err := Ask(pid, func(string) error { return nil }); err == nil {
			t.Errorf("asked %d", pid)
		}
	}
	if err := Ask(cmd.Process.Pid, func(string) error { return nil }); err == nil ||
		!strings.Contains(err.Error(), "process") {
		t.Errorf("asked a dead one: %v", err)
	}
}
