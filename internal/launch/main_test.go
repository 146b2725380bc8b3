//go:build unix

package launch

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/work"
)

// TestMain lets the test's binary stand for ralph work.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "work" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		conn, err := net.FileConn(os.NewFile(3, "socket"))
		if err == nil {
			err = work.Run(ctx, conn, os.Environ(), func() time.Time { return time.Now().UTC() })
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
