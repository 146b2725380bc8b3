package supervise

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
)

// What a message on the bus may ask of a supervisor, by its type.
const (
	waitMessage  = "wait_without_restart"
	fatalMessage = "fatal_error" // no attempt will make a difference: an invalid key, an invalid configuration
)

// signals are what the command, or a person, says to the supervisor beside the exit code: messages on the bus since the
// attempt began, and a marker in the task directory.
type signals struct {
	dir     string
	at      int64 // how far the bus has been read
	waiting string
	fatal   string
}

// begin forgets what was said before.
func (s *signals) begin() (err error) {
	s.waiting, s.fatal = "", ""
	s.at, err = journal.BusEnd(s.dir)
	return err
}

// look says how someone asked to wait, and why it makes no sense to continue; both empty when no one did.
func (s *signals) look() (waiting, fatal string, err error) {
	s.at, err = journal.ReadBus(s.dir, s.at, func(m journal.Message, _ []byte) error {
		switch m.Type {
		case waitMessage:
			s.waiting = "a message on the bus"
			if m.Text != "" {
				s.waiting = fmt.Sprintf("a message on the bus: %.200s", m.Text)
			}
		case fatalMessage:
			s.fatal = fmt.Sprintf("a message on the bus: %.200s", m.Text)
		}
		return nil
	})
	if err != nil {
		return "", "", err
	}
	_, err = os.Stat(filepath.Join(s.dir, waitMarker))
	switch {
	case err == nil:
		return "the marker " + waitMarker, s.fatal, nil
	case errors.Is(err, os.ErrNotExist):
		return s.waiting, s.fatal, nil
	}
	return "", "", invalid.Errorf("looking for the marker %s: %w", waitMarker, err)
}
