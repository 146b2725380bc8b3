// Package engine takes a run from its opening to its end, whoever asks for it and wherever it works: Open keeps others out, settles what is
// wanted and writes the first record; Drive prepares the workspace and runs the loop; Conclude keeps the work and records the outcome.
// Each corridor hands it one Spec.
package engine

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/lease"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/task"
)

// Run is a run that this process holds.
type Run struct {
	*Spec
	Dir       string // the run's own directory
	Reports   string // where reports go that outlive the job; empty: nowhere
	Journal   *Journal
	Prompts   prompt.Writer
	Heartbeat *lease.Heartbeat // of its lease; nil: nobody else can want it
	Cleanup   []func()

	judging *judgingTree // where the checks run; nil: where the agent works
	budget  *Budget      // what its turns are paid from; nil: there is no end of it
	boxes   boxes        // what agents and checks are kept in
	leftOut []string     // the soft checks that are passed over, since their tool is missing
}

func (o *Run) Close() {
	o.CloseSandbox()
	for i := len(o.Cleanup) - 1; i >= 0; i-- {
		o.Cleanup[i]()
	}
}

// Later is what is to be done when the run is closed.
func (o *Run) Later(do func()) { o.Cleanup = append(o.Cleanup, do) }

// Opener is what a way of asking brings to the beginning of a run.
type Opener interface {
	// keepOut keeps everybody else from where the run works, before anything there is read. The run goes on in the context that comes back.
	Hold(ctx context.Context, work *Run) (context.Context, error)
	// settle finds out what is wanted, what judges it, and what there was before. No record is written yet and no branch made, so that a mistake
	// costs nothing.
	Prepare(ctx context.Context, work *Run) (Beginning, error)
}

// Beginning is how a run begins, or goes on.
type Beginning struct {
	Mode        loop.Way
	Dir         string // the run's own directory; its name is the run's
	Reports     string // where reports go that outlive the job; empty: nowhere
	OpenJournal func(dir string) (*journal.Journal, error)
	Shared      []*Shared    // paths of the clone that its checks are given
	Start       *loop.Start  // of a run that begins
	Resume      *loop.Resume // of one that goes on
	// hold makes the first record where others see it, before anything of the run is changed; nil: there are no others.
	Claim func(ctx context.Context, r loop.Record) error
}

// Open opens a run, whoever asks for it and wherever it works: others are kept out before anything is read, and all is known to be right
// before anything is written. A run that could not be opened is closed.
func Open(ctx context.Context, o Opener) (running context.Context, work *Run, err error) {
	work = &Run{}
	running, err = o.Hold(ctx, work)
	if err == nil {
		var b Beginning
		if b, err = o.Prepare(running, work); err == nil {
			err = work.begin(running, b)
		}
	}
	return running, work, err
}

// begin opens the run's journal, records that the run begins or goes on, and puts its tree where it stands.
func (o *Run) begin(ctx context.Context, b Beginning) error {
	o.Dir, o.Reports = b.Dir, b.Reports
	if o.JudgeName != "" {
		o.judging = newJudgingTree(o, b.Shared)
	}
	book, err := b.OpenJournal(b.Dir)
	if err != nil {
		return err
	}
	o.Later(func() { _ = book.Close() })
	o.Journal.File, o.Journal.Tree = book, o.Tree
	record := loop.Record{Type: loop.Started, At: o.Clock(), Start: b.Start}
	if b.Mode != loop.Begin {
		record = loop.Record{Type: loop.Resumed, At: o.Clock(), Resume: b.Resume}
		if o.Tree != nil {
			if err := o.Tree.UseBase(ctx, book.State().Start.Base); err != nil {
				return invalid.Mark(err)
			}
			if s := book.State(); s.Start.Fresh && s.Tip == "" { // killed before its first commit: what is on its branch is not its own
				o.Tree.BeginAgain()
			}
		}
	}
	if b.Claim != nil {
		return b.Claim(ctx, record)
	}
	return o.beginHere(ctx, record)
}

// beginHere makes the first record of a run that nobody else can want. The branch comes before it: a run that cannot have that leaves nothing.
func (o *Run) beginHere(ctx context.Context, record loop.Record) error {
	if o.Tree != nil {
		if err := o.Tree.Start(ctx); err != nil {
			return invalid.Mark(err)
		}
	}
	if o.Plan != nil {
		return o.Plan.Begin(ctx, o.Journal, record)
	}
	_, err := o.Journal.Append(ctx, record)
	return err
}

// FirstRecord is the first record of a run.
func (w *Spec) FirstRecord(run string, t task.Task) *loop.Start {
	s := &loop.Start{
		Run: run, Task: t.ID, Title: t.Title, Issue: t.Issue, Asked: t.Asked, Spec: t.Spec, Hint: t.Hint,
		Base: w.Tree.Base(), Onto: w.Tree.BaseBranch(), Branch: w.Tree.Branch(), Agent: w.Settings.Agent.Command,
		Checks: CommandLines(w.Settings.Guardrails), Review: w.Settings.Review, Detected: w.Detected,
	}
	if w.Plan != nil {
		s.Plan = w.Plan.Recorded(w.Tree.BaseTree())
	}
	w.Goal.into(s)
	return s
}

// LayPlan puts the plan's files into the tree, once in a run: the lease is held by then, so that nobody else does.
func (w *Spec) LayPlan(ctx context.Context, l *Journal) error {
	if w.Plan == nil || l.State().Tip != "" {
		return nil
	}
	laid, err := w.Plan.Lay(ctx, w.Tree)
	if err != nil {
		return err
	}
	_, err = l.Append(ctx, loop.Record{Type: loop.Corrected, At: l.Clock(), Commit: &laid})
	return err
}

// NewRun names a run: when it began, to the millisecond in the first three digits of the end so that names sort by time, and four digits
// that nobody knew before.
func NewRun(at time.Time) string {
	var b [2]byte
	_, _ = rand.Read(b[:])
	return fmt.Sprintf("%s-%03x%x", at.UTC().Format("20060102-150405"), at.Nanosecond()/int(time.Millisecond), b)
}
