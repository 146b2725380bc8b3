//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// keepOutput makes a broken standard output an error of the write instead of the end of this process, which would leave
// what it had started behind. What we start is not touched by it. The returned function takes it back.
func keepOutput() (stop func()) {
	ignored := make(chan os.Signal, 1)
	signal.Notify(ignored, syscall.SIGPIPE)
	return func() { signal.Stop(ignored) }
}
