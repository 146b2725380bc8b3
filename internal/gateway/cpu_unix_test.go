//go:build unix

package gateway

import (
	"syscall"
	"time"
)

// cpuTime is what this process has used of its processors: beside other work it says more than a clock.
func cpuTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // of ourselves, which cannot fail
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
