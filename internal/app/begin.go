package app

import (
	"context"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/task"
)

// opened is a run that this process holds.
type opened struct {
	shop    *workshop
	ledger  *ledger
	words   prompt.Writer
	pulse   *pulse // of its lease; nil: nobody else can want it
	cleanup []func()
}

func (o *opened) close() {
	o.shop.unbox()
	for i := len(o.cleanup) - 1; i >= 0; i-- {
		o.cleanup[i]()
	}
}

// later is what is to be done when the run is closed.
func (o *opened) later(do func()) { o.cleanup = append(o.cleanup, do) }

// opener is what a way of asking brings to the beginning of a run.
type opener interface {
	// keepOut keeps everybody else from where the run works, before anything there is read. The run goes on in the context that comes back.
	keepOut(ctx context.Context, work *opened) (context.Context, error)
	// settle finds out what is wanted, what judges it, and what there was before. No record is written yet and no branch made, so that a mistake
	// costs nothing.
	settle(ctx context.Context, work *opened) (beginning, error)
}

// beginning is how a run begins, or goes on.
type beginning struct {
	way    loop.Way
	dir    string // the run's own directory; its name is the run's
	book   func(dir string) (*journal.Journal, error)
	start  *loop.Start  // of a run that begins
	resume *loop.Resume // of one that goes on
	// hold makes the first record where others see it, before anything of the run is changed; nil: there are no others.
	hold func(ctx context.Context, r loop.Record) error
}

// openRun opens a run, whoever asks for it and wherever it works: others are kept out before anything is read, and all is known to be right
// before anything is written. A run that could not be opened is closed.
func openRun(ctx context.Context, o opener) (running context.Context, work *opened, err error) {
	work = &opened{}
	running, err = o.keepOut(ctx, work)
	if err == nil {
		var b beginning
		if b, err = o.settle(running, work); err == nil {
			err = work.begin(running, b)
		}
	}
	return running, work, err
}

// begin opens the run's journal, records that the run begins or goes on, and puts its tree where it stands.
func (o *opened) begin(ctx context.Context, b beginning) error {
	o.shop.dir = b.dir
	book, err := b.book(b.dir)
	if err != nil {
		return err
	}
	o.later(func() { _ = book.Close() })
	o.ledger.journal, o.ledger.tree = book, o.shop.tree
	record := loop.Record{Type: loop.Started, At: o.shop.clock(), Start: b.start}
	if b.way != loop.Begin {
		record = loop.Record{Type: loop.Resumed, At: o.shop.clock(), Resume: b.resume}
		if o.shop.tree != nil {
			if err := o.shop.tree.UseBase(ctx, book.State().Start.Base); err != nil {
				return invalid.Mark(err)
			}
			if s := book.State(); s.Start.Fresh && s.Tip == "" { // killed before its first commit: what is on its branch is not its own
				o.shop.tree.BeginAgain()
			}
		}
	}
	if b.hold != nil {
		return b.hold(ctx, record)
	}
	return o.beginHere(ctx, record)
}

// beginHere makes the first record of a run that nobody else can want. The branch comes before it: a run that cannot have that leaves nothing.
func (o *opened) beginHere(ctx context.Context, record loop.Record) error {
	if o.shop.tree != nil {
		if err := o.shop.tree.Start(ctx); err != nil {
			return invalid.Mark(err)
		}
	}
	if o.shop.plan != nil {
		return o.shop.plan.Begin(ctx, o.ledger, record)
	}
	_, err := o.ledger.Append(ctx, record)
	return err
}

// runDir is the directory of a run on a laptop, by its name.
func (s *Seat) runDir(run string) string { return filepath.Join(s.Dir, ".ralph", "runs", run) }

// start is the first record of a run.
func (w *workshop) start(run string, t task.Task) *loop.Start {
	s := &loop.Start{
		Run: run, Task: t.ID, Title: t.Title, Issue: t.Issue, Asked: t.Asked, Spec: t.Spec, Hint: t.Hint,
		Base: w.tree.Base(), Onto: w.tree.BaseBranch(), Branch: w.tree.Branch(), Agent: w.settings.Agent.Command,
		Checks: commandLines(w.settings.Guardrails), Review: w.settings.Review, Detected: w.detected,
	}
	if w.plan != nil {
		s.Plan = w.plan.Recorded(w.tree.BaseTree())
	}
	w.goal.into(s)
	return s
}

// lay puts the plan's files into the tree, once in a run: the lease is held by then, so that nobody else does.
func (w *workshop) lay(ctx context.Context, l *ledger) error {
	if w.plan == nil || l.State().Tip != "" {
		return nil
	}
	laid, err := w.plan.Lay(ctx, w.tree)
	if err != nil {
		return err
	}
	_, err = l.Append(ctx, loop.Record{Type: loop.Corrected, At: l.clock(), Commit: &laid})
	return err
}
