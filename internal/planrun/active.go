package planrun

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
)

// active keeps .ralph-active in the worktree: written before each turn, held against what was written after it, removed
// at the end. Hooks believe it; the harness does not.
type active struct {
	dir     string
	boxed   bool // the agent is kept in a sandbox
	clock   func() time.Time
	written []byte // nil: nothing was written by this process
}

// activeJSON is what the file says.
type activeJSON struct {
	Timestamp     time.Time     `json:"timestamp"`
	PID           int           `json:"pid"`
	MaxIterations int           `json:"max_iterations"`
	Mode          string        `json:"mode"` // "sandbox" or "direct"
	SkipReview    bool          `json:"skipReview"`
	ReviewCap     int           `json:"reviewCap"`
	FailAtCap     bool          `json:"failAtCap,omitempty"`
	IterationMode loop.Mode     `json:"iterationMode"`
	Snapshot      plan.Snapshot `json:"preIterationSnapshot"`
	Iteration     int           `json:"iteration"`
	Story         string        `json:"story"`
	RalphDir      string        `json:"ralphDir"`
	PlanFile      string        `json:"planFile"`
}

// write tells of the turn that begins.
func (a *active) write(s loop.State) error {
	mode := "direct"
	if a.boxed {
		mode = "sandbox"
	}
	rules := s.Rules()
	text, err := json.MarshalIndent(activeJSON{
		Timestamp: a.clock().UTC(), PID: os.Getpid(), MaxIterations: s.MaxIterations, Mode: mode,
		SkipReview: rules.SkipReview, ReviewCap: rules.ReviewCap, FailAtCap: rules.FailAtCap,
		IterationMode: s.Turning.Mode, Snapshot: s.Plan.Snapshot(), Iteration: s.Turning.Iteration,
		Story: s.Turning.Story, RalphDir: s.Start.Plan.Dir, PlanFile: s.Start.Plan.File,
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", engine.ActiveFile, err)
	}
	a.written = append(text, '\n')
	// in its place, by the agent: nothing of ours is in it
	if info, err := os.Lstat(a.path()); err == nil && info.IsDir() {
		_ = os.RemoveAll(a.path())
	}
	if err := files.Replace(a.path(), a.written); err != nil {
		return fmt.Errorf("writing %s: %w", engine.ActiveFile, err)
	}
	return nil
}

func (a *active) path() string { return filepath.Join(a.dir, engine.ActiveFile) }

// forged reports whether somebody else has changed the file since it was written.
func (a *active) forged() bool {
	if a.written == nil {
		return false
	}
	info, err := os.Lstat(a.path())
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(a.written)) {
		return true
	}
	now, err := os.ReadFile(a.path())
	return err != nil || !bytes.Equal(now, a.written)
}

// remove takes the file away, if it is this process's.
func (a *active) remove() {
	text, err := os.ReadFile(a.path())
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var said activeJSON
	if err == nil && json.Unmarshal(text, &said) == nil && said.PID != os.Getpid() {
		return
	}
	_ = os.Remove(a.path())
}
