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
	"runtime"
	"strings"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/session"
)

// Hint says something to the run at work in this directory: its next turn reads it.
type Hint struct {
	session.Session
	Text string
	Task string // to the run of this task; empty: to the one that something was written of last
}

// saidHere is a hint as it waits for the next turn, a line each.
type saidHere struct {
	Run string `json:"run"`
	engine.Hint
}

// Run leaves the hint where the run looks before each turn. An error says why nobody would read it.
func (h *Hint) Run(ctx context.Context) error {
	h.Begin()
	text := strings.TrimSpace(h.Text)
	switch {
	case text == "":
		return invalid.Errorf("the hint is empty; say what the next turn is to know: ralph hint 'leave the parser alone'")
	case len(text) > engine.MaxHint:
		return invalid.Errorf("the hint has %d bytes; allowed are %d: put more into a file of the repository, and name "+
			"that", len(text), engine.MaxHint)
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
		return invalid.Errorf("no run is at work in %s, so nobody would read the hint; ralph status says how the newest "+
			"stands", found.Dir)
	}
	at := found.Session
	at.Dir = found.Dir
	file, err := hintsFile(at, filepath.Base(found.Run))
	if err != nil {
		return invalid.Errorf("nothing was said: %w; set XDG_STATE_HOME to a directory elsewhere, for the run too", err)
	}
	line, err := json.Marshal(saidHere{filepath.Base(found.Run), engine.Hint{ID: engine.NewRunID(h.Clock()),
		By: "somebody at this machine", Text: text}})
	if err != nil {
		return err
	}
	if err := appendLine(file, line); err != nil {
		return files.Advise(fmt.Errorf("leaving the hint for the run: %w", err))
	}
	h.Log("the next turn of %s reads it", st.Task)
	return nil
}

// hintsFile is where hints for a run of a directory wait. Whoever can write it speaks to the reviewer as a person
// does, so it is outside of where an agent works, or nowhere.
func hintsFile(s *session.Session, run string) (string, error) {
	if _, err := session.SealFile(runtime.GOOS, s.Parent, s.Dir, ""); err != nil {
		return "", err
	}
	return filepath.Join(s.Places().State, "said", run), nil
}

// appendLine adds a line at once: two that speak at the same time take nothing from each other.
func appendLine(file string, line []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	to, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = to.Write(append(line, '\n'))
	return errors.Join(err, to.Close())
}

// hearing are a run's prompts, before each of which it takes in what was said to it here.
func hearing(s *session.Session, work *engine.Run, words engine.Prompts) engine.Prompts {
	begun := work.Journal.State()
	if begun.Start.Run == "" {
		return words
	}
	file, err := hintsFile(s, begun.Start.Run)
	if err != nil { // the journal has said so
		return words
	}
	work.OnClose(func() { _ = os.Remove(file) }) // what is left was said to a run that is over
	return engine.HintPrompts{Prompts: words, Run: work, As: loop.Resume{Owner: begun.Owner},
		Said: func(loop.State) []engine.Hint {
			said, err := saidTo(file, begun.Start.Run)
			if err != nil {
				s.Log("looking for hints: %v", err)
			}
			return said
		}}
}

// saidTo is what was said to a run. A line that is none of ours is skipped.
func saidTo(file, run string) (said []engine.Hint, err error) {
	text, err := files.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 16*engine.MaxHint)
	for lines.Scan() {
		var s saidHere
		if json.Unmarshal(lines.Bytes(), &s) == nil && s.Run == run {
			said = append(said, s.Hint)
		}
	}
	return said, errors.Join(err, lines.Err())
}
