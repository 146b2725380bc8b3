package planrun

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/files"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/report/status"
	"github.com/ralph-loop/ralph/internal/session"
)

// Look says where the plan stands, and the newest run of it. It writes nothing.
func (p *Plans) Look(ctx context.Context) (status.PlanStanding, error) {
	root, err := p.Open(ctx)
	if err != nil {
		return status.PlanStanding{}, err
	}
	defer root.Close()
	src, err := ReadPlanIn(p.Dir, p.PlanDir)
	if err != nil {
		return status.PlanStanding{}, err
	}
	of, _, err := readPlan(src.File, src.Content)
	if err != nil {
		return status.PlanStanding{}, err
	}
	v := status.PlanView{Plan: of, Rules: p.Rules(), File: src.File, Redact: p.Redact}
	if err := p.ran(ctx, &v, src); err != nil {
		return status.PlanStanding{}, err
	}
	p.onRecord(&v)
	return status.StandPlan(v), nil
}

// ran adds what the newest run of the plan tells: its state, its rules, the story that it works on, the plan on its
// branch.
func (p *Plans) ran(ctx context.Context, v *status.PlanView, src Source) error {
	on, err := FindOnBranch(ctx, &p.Session, src)
	if err != nil {
		return err
	}
	if v.Note = on.Note(); on.Branch != "" {
		v.Plan = on.Plan
	}
	_, dir, err := p.NewestRun(planID(v.Plan))
	if dir == "" || err != nil {
		return err
	}
	found := &session.Found{Session: &p.Session, Dir: p.Dir, Run: dir, Follower: journal.Follow(dir)}
	st, err := found.Status()
	if err != nil {
		return err
	}
	v.Run, v.Rules = st.Line(), found.State.Rules()
	if st.State == "running" && found.State.Plan != nil {
		v.Plan = *found.State.Plan
	}
	if st.State == "running" && found.State.Turning != nil {
		v.Working, v.Mode = found.State.Turning.Story, found.State.Turning.Mode
	}
	return nil
}

// onRecord holds what the file says of reviews against what is on record here.
func (p *Plans) onRecord(v *status.PlanView) {
	id := planID(v.Plan)
	sealed, _ := sealedReviews(&p.Session, id)
	bound, _, claims := v.Plan.Bound(v.Rules, approvedByHand(&p.Session, id), sealed)
	v.Plan = bound
	for _, c := range claims {
		v.Unrecorded = append(v.Unrecorded, c.Story)
	}
}

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

// write reports the turn that begins.
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

// forged reports whether someone else has changed the file since it was written.
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
