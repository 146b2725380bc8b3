//go:build !linux

package proc

import "runtime/debug"

// Rest gives back the memory that a process which only waits does not need: what has been freed.
func Rest() { debug.FreeOSMemory() }
