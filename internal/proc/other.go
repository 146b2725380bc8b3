//go:build !linux

package proc

import (
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"syscall"
	"time"
)

// tree is a process, with its group where the system has groups: what moves to a session of its own is out of reach
// here, and what is spared must have done so.
type tree struct{ list []*os.Process }

func newTree(string) (*tree, string, error) { return new(tree), markPrefix + "=1", nil }

func (t *tree) startRoot(cmd *exec.Cmd, from *starter) error {
	err := from.start(cmd)
	if err == nil {
		t.list = []*os.Process{cmd.Process}
	}
	return err
}

// take makes a tree of processes that were spared.
func take(pids []int) (*tree, error) {
	t := new(tree)
	for _, pid := range pids {
		if p, err := os.FindProcess(pid); err == nil && pid > 1 && pid != os.Getpid() {
			t.list = append(t.list, p)
		}
	}
	return t, nil
}

func (t *tree) each(do func(*os.Process)) {
	for _, p := range t.list {
		do(p)
	}
}

func (t *tree) waited()               {}
func (t *tree) close()                {}
func (t *tree) keep(int)              {}
func (t *tree) halt()                 {}
func (t *tree) spare(pids []int) bool { return len(pids) > 0 }
func (t *tree) terminate()            { t.each(askToEnd) }
func (t *tree) cut()                  { t.each(killAll) }
func (t *tree) gone() bool            { return !slices.ContainsFunc(t.list, lives) }

func (t *tree) kill() {
	t.cut()
	for i := 0; i < 50 && !t.gone(); i++ {
		t.cut()
		time.Sleep(10 * time.Millisecond)
	}
}

// innermost is the root: what keeps a box here passes signals on.
func (t *tree) innermost(root *os.Process) *os.Process { return root }

func thisThread() int { return 0 }

// HideSelf does nothing here: there is no /proc to hide from.
func HideSelf() error { return nil }

// anySpared is unknown here: no one keeps a list of what was spared.
func anySpared() bool { return false }

// Name is what the system calls a process; here no one asks it.
func Name(int) string { return "" }

// ForgetSecrets does nothing here: there is no /proc that shows them.
func ForgetSecrets() error { return nil }

// FreeMemory returns unused memory to the system.
func FreeMemory() { debug.FreeOSMemory() }

// EndLeft does nothing where the system does not show the environment of a process.
func EndLeft(...string) (ended int) { return 0 }

// At finds nothing here.
func At([]string, func([]string) bool) (pid int, args []string) { return 0, nil }

// usage is what a process uses of the machine, which is not measured here.
type usage struct{}

func newUsage(Spec, string) *usage                     { return nil }
func (t *usage) bind(int, Spec)                        {}
func (t *usage) watched() bool                         { return false }
func (t *usage) look(*tree) (e limitExceeded, ok bool) { return e, false }
func (t *usage) told(Result) limitExceeded             { return limitExceeded{} }
func (t *usage) enter(*syscall.SysProcAttr)            {}
func (t *usage) outside() bool                         { return false }
func (t *usage) kill()                                 {}
func (t *usage) close(bool)                            {}

// Memory is how many bytes of memory there are for us; 0 if unknown.
func Memory() int64 { return 0 }
