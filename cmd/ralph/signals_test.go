//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// heard is a writer that several goroutines may use.
type heard struct {
	mu   sync.Mutex
	text strings.Builder
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// TestListen has a row for each step of C11.
func TestListen(t *testing.T) {
	signal := func() {
		if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	within := func(ctx context.Context, d time.Duration) bool {
		select {
		case <-ctx.Done():
			return true
		case <-time.After(d):
			return false
		}
	}
	const long, short = 20 * time.Second, 300 * time.Millisecond
	for name, c := range map[string]struct {
		grace  time.Duration
		itself bool // hard is done without a second signal
	}{
		"at a terminal the step goes on until the second signal": {untilSecond, false},
		"elsewhere it has its grace":                             {100 * time.Millisecond, true},
		"in a job of GitHub's it is stopped at once":             {noGrace, true},
	} {
		t.Run(name, func(t *testing.T) {
			said := &heard{}
			ctx, hard, stop := listen(said, c.grace)
			defer stop()
			if ctx.Err() != nil || hard.Err() != nil {
				t.Fatal("done before any signal")
			}
			signal()
			if !within(ctx, long) {
				t.Fatal("the first signal does not end ctx")
			}
			if c.itself {
				if !within(hard, long) {
					t.Error("the grace does not end")
				}
			} else {
				if within(hard, short) {
					t.Error("hard is done after one signal")
				}
				signal()
				if !within(hard, long) {
					t.Error("the second signal does not end hard")
				}
			}
			if got := said.String(); got != "Received signal, shutting down...\n" {
				t.Errorf("said %q", got)
			}
		})
	}
	if jobGrace != 30*time.Second {
		t.Errorf("the grace in a job is %s", jobGrace)
	}
}

// TestSignalsAtATerminal presses Ctrl-C: once, and the step goes on as long as the person lets it; twice, and it is stopped.
func TestSignalsAtATerminal(t *testing.T) {
	agent := `#!/bin/sh
trap '' INT
echo working
until [ -e go ]; do sleep 0.05; done
echo finished
`
	begin := func(t *testing.T) *person {
		p := &person{T: t, dir: t.TempDir(), args: []string{"run", "-p", "x", "--agent", "./agent"}}
		if err := os.WriteFile(filepath.Join(p.dir, "agent"), []byte(agent), 0o755); err != nil { // a program
			t.Fatal(err)
		}
		p.start()
		p.shows("working")
		p.types("\x03")
		p.shows("Received signal, shutting down...")
		return p
	}
	t.Run("once", func(t *testing.T) {
		p := begin(t)
		if err := os.WriteFile(filepath.Join(p.dir, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if code := p.leaves(); code != 130 || !strings.Contains(p.screen.String(), "finished") {
			t.Errorf("exit code %d; the screen is:\n%s", code, p.screen.String())
		}
	})
	t.Run("twice", func(t *testing.T) {
		p := begin(t)
		p.types("\x03")
		if code := p.leaves(); code != 130 || strings.Contains(p.screen.String(), "finished") {
			t.Errorf("exit code %d; the screen is:\n%s", code, p.screen.String())
		}
	})
	t.Run("and is asked whether to go on", func(t *testing.T) {
		p := begin(t)
		p.types("\x03")
		p.leaves()
		p.start()
		p.sees("is unfinished after 0 iterations. Resume or fresh? (R/f): ")
		p.types("f\n")
		p.shows("working")
		p.types("\x03")
		p.shows("Received signal, shutting down...")
		p.types("\x03")
		if code := p.leaves(); code != 130 {
			t.Errorf("exit code %d", code)
		}
	})
}

// shows waits until a text is on the screen.
func (p *person) shows(text string) {
	p.Helper()
	for !strings.Contains(p.screen.String(), text) {
		if err := p.look(); err != nil {
			p.Fatalf("waiting for %q: %v; the screen is:\n%s", text, err, p.screen.String())
		}
	}
}
