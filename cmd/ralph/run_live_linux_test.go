package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

const slowAgent = `#!/bin/sh
cat > /dev/null
trap '' INT
echo "a line of the agent"
touch ready
while :; do sleep 0.1; done
`

// TestLive: at a terminal the first words come at once, a block below the log moves every second, and however often
// somebody presses Ctrl-C, the terminal is what it was.
func TestLive(t *testing.T) {
	t.Parallel()
	w := begin(t, "run", "-p", "fix the test", "--agent", "./agent", "--timeout", "30m")
	w.write("agent", slowAgent)
	for i, pair := range w.env {
		if pair == "TERM=dumb" {
			w.env[i] = "TERM=xterm-256color"
		}
	}
	began := time.Now()
	w.atSize(24, 60)
	w.says("Preparing the run: fix the test")
	t.Logf("first words after %s", time.Since(began).Round(time.Millisecond))
	w.waitFor("the agent", func() bool { return w.exists("ready") })
	w.says("iteration 1/10")
	w.says("of 30m")
	w.says("a line of the agent")
	for range 2 {
		seen := len(w.stderr.String())
		w.waitFor("something moves", func() bool { return len(w.stderr.String()) > seen })
	}
	if err := pty.Setsize(w.terminal, &pty.Winsize{Rows: 20, Cols: 40}); err != nil {
		t.Fatal(err)
	}
	if echoes(t, w.terminal) {
		t.Error("keys are shown, which draws them into the block")
	}
	for _, says := range []string{"Received signal", "what is left of it", ""} {
		w.types("\x03")
		if says != "" {
			w.says(says)
		}
	}
	w.waitFor("keys are shown again", func() bool { return echoes(t, w.terminal) })
	w.ends(130)
	said := w.stderr.String()
	if !strings.Contains(said, "interrupted:") {
		t.Errorf("it does not say how it ended: %q", said)
	}
	if strings.LastIndex(said, "\x1b[?25l") > strings.LastIndex(said, "\x1b[?25h") {
		t.Errorf("the cursor is left hidden: %q", said)
	}
}

// atSize starts ralph at a terminal of a size.
func (w *work) atSize(rows, columns uint16) {
	w.Helper()
	w.run(true, "ralph", w.args...)
	if err := pty.Setsize(w.terminal, &pty.Winsize{Rows: rows, Cols: columns}); err != nil {
		w.Fatal(err)
	}
}

// echoes reports whether a terminal shows the keys that are pressed.
func echoes(t *testing.T, terminal *os.File) bool {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		return true // it has been closed
	}
	return state.Lflag&unix.ECHO != 0
}
