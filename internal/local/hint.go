package local

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/session"
)

// Hint says something to the active run in this directory.
type Hint struct {
	session.Session
	Text string
	Task string // the run's task; empty: the most recent
}

// Run leaves the hint where the run looks before each turn and each review. An error says why no turn reads it.
func (h *Hint) Run(ctx context.Context) error {
	h.Begin()
	text := strings.TrimSpace(h.Text)
	switch {
	case text == "":
		return invalid.Errorf("the hint is empty; write it after the command: ralph hint 'leave the parser alone'")
	case len(text) > engine.MaxHint:
		return invalid.Errorf("the hint has %d bytes, the limit is %d; put the text into a file of the repository and name the "+
			"file in the hint", len(text), engine.MaxHint)
	}
	look := &Status{Session: h.Session, Task: h.Task}
	found, err := look.find(ctx)
	if err != nil {
		return err
	}
	st, err := found.Status()
	if err != nil {
		return err
	}
	if !st.LockIsRun {
		return invalid.Errorf("no run is active in %s, so nothing reads the hint; ralph status shows the latest run", found.Dir)
	}
	at := found.Session
	at.Dir = found.Dir
	file, err := hintsFile(at, filepath.Base(found.Run))
	if err != nil {
		return invalid.Errorf("the hint was not sent: %w; set XDG_STATE_HOME to another directory, also for the run", err)
	}
	line, err := json.Marshal(loop.Hint{ID: engine.NewRunID(h.Clock()), By: "someone at this machine", Text: text})
	if err != nil {
		return err
	}
	err = appendLine(file, line)
	if errors.Is(err, fs.ErrNotExist) {
		return invalid.Errorf("no turn reads the hint: the run is still starting or has just ended; ralph status shows which")
	}
	if err != nil {
		return files.Advise(fmt.Errorf("leaving the hint for the run: %w", err))
	}
	h.Log("hint sent to %s; its end names every hint that was not read", st.Task)
	return nil
}

// hintsFile is where hints for a run of a directory wait. A text in it reaches the reviewer as a person's, so it is
// outside of where an agent works, or nowhere.
func hintsFile(s *session.Session, run string) (string, error) {
	if _, err := s.Seal(""); err != nil {
		return "", err
	}
	return filepath.Join(s.Places().State, "said", run), nil
}

// appendLine adds a line at once: two that speak at the same time take nothing from each other. The error is
// fs.ErrNotExist when the run has stopped looking, perhaps before it could read the line.
func appendLine(file string, line []byte) error {
	to, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = to.Write(append(line, '\n'))
	_, gone := os.Lstat(file)
	return errors.Join(err, to.Close(), gone)
}

// takeHints lets people say something to a run, until its end is recorded.
func takeHints(s *session.Session, work *engine.Run) {
	file, err := hintsFile(s, work.Journal.State().Start.Run)
	if err != nil { // the journal has said so
		return
	}
	made := os.MkdirAll(filepath.Dir(file), 0o700)
	open, err := os.OpenFile(file, os.O_CREATE, 0o600)
	if err := errors.Join(made, err, open.Close()); err != nil {
		s.Log("warning: ralph hint does not reach this run: %v", err)
		return
	}
	over := file + ".ended"
	work.OnClose(func() { _, _ = os.Remove(file), os.Remove(over) })
	var last []loop.Hint // said until the end
	ended := false
	work.Hints = func(_ context.Context, now loop.State) []loop.Hint {
		if ended {
			return last
		}
		from := file
		// from here on ralph hint says that the run has ended
		if ended = now.End != nil && os.Rename(file, over) == nil; ended {
			from = over
		}
		said, err := readHints(from)
		if err != nil {
			s.Log("looking for hints: %v", err)
		}
		if ended {
			last = said
			_ = os.Remove(over) // no one would, if this process were killed
		}
		return said
	}
}

// readHints returns the hints in a file. It skips lines that ralph hint has not written.
func readHints(file string) (said []loop.Hint, err error) {
	text, err := files.Read(file)
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 16*engine.MaxHint)
	for lines.Scan() {
		var h loop.Hint
		if json.Unmarshal(lines.Bytes(), &h) == nil {
			said = append(said, h)
		}
	}
	return said, errors.Join(err, lines.Err())
}
