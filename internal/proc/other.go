//go:build !linux

package proc

import (
	"runtime/debug"
	"syscall"
)

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
