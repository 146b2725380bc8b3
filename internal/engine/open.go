// Package engine takes a run from its beginning to its end, for every entry point and in every place: Open keeps others
// out, finds out what is needed and writes the first record; Drive prepares the workspace and runs the loop; Conclude
// keeps the work and records the outcome. An entry point hands it one Spec.
package engine

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// Close throws away what the run has used, and does what OnClose has remembered.
func (run *Run) Close() {
	run.closeSandbox()
	for _, do := range slices.Backward(run.Cleanup) {
		do()
	}
}

// OnClose adds a function that Close calls; the last one is called first.
func (run *Run) OnClose(do func()) { run.Cleanup = append(run.Cleanup, do) }

// Opener is an entry point's part of the beginning of a run.
type Opener interface {
	// Hold keeps everyone else from where the run works, before anything there is read. The run continues in the context
	// that comes back.
	Hold(ctx context.Context, run *Run) (context.Context, error)
	// Prepare finds out what is needed, what judges it, and what there was before. No record is written yet and no
	// branch made, so that a mistake costs nothing.
	Prepare(ctx context.Context, run *Run) (Beginning, error)
}

// Beginning is how a run begins, or continues.
type Beginning struct {
	Mode        loop.ResumeMode
	Dir         string // the run's own directory; its name is the run's
	Reports     string // where reports go that outlive the job; empty: nowhere
	OpenJournal func(dir string) (*journal.Journal, error)
	Shared      []*Shared    // paths of the clone that its checks are given
	Start       *loop.Start  // of a run that begins
	Resume      *loop.Resume // of one that continues
	// Claim makes the first record where others see it, before anything of the run is changed; nil: there are no
	// others.
	Claim func(ctx context.Context, r loop.Record) error
}

// Open opens a run: others are kept out before anything is read, and all is known to be right before anything is
// written. Close closes the run, also one that could not be opened.
func Open(ctx context.Context, o Opener) (running context.Context, run *Run, err error) {
	run = &Run{}
	running, err = o.Hold(ctx, run)
	if err == nil {
		var b Beginning
		if b, err = o.Prepare(running, run); err == nil {
			err = run.begin(running, b)
		}
	}
	return running, run, err
}

// begin opens the run's journal, records that the run begins or continues, and puts its tree where it stands.
func (run *Run) begin(ctx context.Context, b Beginning) error {
	run.Dir, run.Reports = b.Dir, b.Reports
	if run.JudgeName != "" {
		run.judging = newJudgingTree(run, b.Shared)
	}
	file, err := b.OpenJournal(b.Dir)
	if err != nil {
		return err
	}
	run.OnClose(func() { _ = file.Close() })
	run.Journal.File, run.Journal.Tree = file, run.Tree
	record := loop.Record{Type: loop.Started, At: run.Clock(), Start: b.Start}
	if b.Mode != loop.Begin {
		record = loop.Record{Type: loop.Resumed, At: run.Clock(), Resume: b.Resume}
		if run.Tree != nil {
			if err := run.Tree.UseBase(ctx, file.State().Start.Base); err != nil {
				return invalid.Mark(err)
			}
			// killed before its first commit: what is on its branch is not its own
			if s := file.State(); s.Start.Fresh && s.Tip == "" {
				run.Tree.BeginAgain()
			}
		}
	}
	if b.Claim != nil {
		return b.Claim(ctx, record)
	}
	return run.beginHere(ctx, record)
}

// beginHere makes the first record of a run that no one else can want. The branch comes before it: a run that cannot
// have that leaves nothing.
func (run *Run) beginHere(ctx context.Context, record loop.Record) error {
	if run.Tree != nil {
		if err := run.Tree.Start(ctx); err != nil {
			return invalid.Mark(err)
		}
	}
	if run.Plan != nil {
		return run.Plan.Begin(ctx, run.Journal, record)
	}
	_, err := run.Journal.Append(ctx, record)
	return err
}

// FirstRecord is the first record of a run.
func (spec *Spec) FirstRecord(run string, t task.Task) *loop.Start {
	s := &loop.Start{
		Run: run, Task: t.ID, Assignment: loop.Assignment{Title: t.Title, Spec: t.Spec}, Issue: t.Issue, Asked: t.Asked, Hint: t.Hint,
		Base: spec.Tree.Base(), BaseBranch: spec.Tree.BaseBranch(), Branch: spec.Tree.Branch(),
		Agent: spec.Settings.Agent.Command, Checks: CommandLines(spec.Settings.Guardrails),
		NoSandbox: spec.switchedOff(),
		Review:    spec.Settings.Review, Detected: spec.Detected, MustPass: spec.Settings.Baseline == config.BaselinePass,
	}
	if spec.Plan != nil {
		s.Plan = spec.Plan.Recorded(spec.Tree.BaseTree())
	}
	spec.Goal.into(s)
	return s
}

// WritePlan puts the plan's files into the tree, once in a run: the lease is held by then, so that no one else does.
func (spec *Spec) WritePlan(ctx context.Context, l *Journal) error {
	if spec.Plan == nil || l.State().Tip != "" {
		return nil
	}
	laid, err := spec.Plan.WriteFiles(ctx, spec.Tree)
	if err != nil {
		return err
	}
	_, err = l.Append(ctx, loop.Record{Type: loop.Corrected, At: l.Clock(), Commit: &laid})
	return err
}

// NewRunID names a run: when it began, to the millisecond in the first three digits of the end so that names sort by
// time, and four digits that no one knew before.
func NewRunID(at time.Time) string {
	var b [2]byte
	_, _ = rand.Read(b[:])
	return fmt.Sprintf("%s-%03x%x", at.UTC().Format("20060102-150405"), at.Nanosecond()/int(time.Millisecond), b)
}
