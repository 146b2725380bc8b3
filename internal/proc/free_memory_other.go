//go:build !linux

package proc

import "runtime/debug"

// FreeMemory returns unused memory to the system.
func FreeMemory() { debug.FreeOSMemory() }
