package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/proc"
)

// app shows ralph serve to someone with a browser: they create the App on the double's pages and install it, and a
// labeled issue becomes a pull request while its page shows the progress. It ends with ctx.
func (s *stage) app(ctx context.Context) error {
	coder, reviewer := s.agent("coder.sh"), s.agent("reviewer.sh")
	settings := fmt.Sprintf(`{"agent": {"command": %q}, "reviewer": {"command": %q}, "maximumIterations": 5}`,
		coder, reviewer)
	if _, err := s.hub.CommitFiles(owner, name, "main", "Name the agents of this repository",
		map[string]string{".ralph/settings.json": settings}); err != nil {
		return err
	}
	allow := filepath.Join(s.dir, "allow.json") // the agents are scripts, and no sandbox may be there
	if err := os.WriteFile(allow, fmt.Appendf(nil, `{"*": {"agents": [%q, %q], "sandbox": "off"}}`,
		coder, reviewer), 0o600); err != nil {
		return err
	}
	s.watch.look()
	serving, end := context.WithCancel(ctx)
	ended := make(chan error, 1)
	printed, output := io.Pipe()
	go func() {
		_, err := proc.Run(serving, proc.Spec{Argv: []string{s.ralph, "serve", "--listen", "127.0.0.1:0", "--data",
			filepath.Join(s.dir, "data"), "--log-text", "--drain", "1s", "--allow", allow}, Dir: s.dir, Env: s.environ(s.dir), Stdout: output, Stderr: io.Discard, Ending: proc.Ending{Interrupt: jobGrace}})
		_ = output.CloseWithError(errors.New("ralph serve has ended"))
		ended <- err
	}()
	err := s.guide(ctx, printed)
	end()
	return errors.Join(err, <-ended)
}

// guide prints what to do, and does what the double has no page for.
func (s *stage) guide(ctx context.Context, printed io.Reader) error {
	setup, err := setupAddress(printed)
	if err != nil {
		return err
	}
	go func() { _, _ = io.Copy(io.Discard, printed) }()
	address, _, _ := strings.Cut(setup, "/setup/")
	s.screen.print("\n1. Open this page, send the code, and create the App; GitHub is a stand-in on this machine:\n\n   " +
		setup + "\n\n2. Press “Choose repositories on GitHub” on the page that you come back to, and install the App on " + owner + ".")
	for !s.installed() {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(200 * time.Millisecond):
		}
	}
	s.screen.print("\n3. " + owner + " labels issue #1. Sign in as " + owner + " and see it work. Press Ctrl-C to end.\n\n   " + address +
		"/\n")
	s.hub.Label(owner, name, solvable, "ralph", owner)
	s.watch.look()
	<-ctx.Done()
	return nil
}

// setupAddress is what ralph serve prints for a server without an App.
func setupAddress(printed io.Reader) (string, error) {
	lines := bufio.NewScanner(printed)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); strings.HasPrefix(line, "http://") {
			return line, nil
		}
	}
	return "", errors.Join(errors.New("ralph serve named no address"), lines.Err())
}

// installed reports whether an App received the event of its installation.
func (s *stage) installed() bool {
	for _, app := range s.hub.Apps() {
		for _, d := range s.hub.Deliveries(app) {
			if d.Event == "installation" {
				return true
			}
		}
	}
	return false
}
