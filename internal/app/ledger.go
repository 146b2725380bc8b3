package app

import (
	"context"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
)

// ledger is the journal of a run as the loop sees it: what is appended is stored, a commit is pushed together with the run record
// before anything can say no to it, and the views hear of every record.
type ledger struct {
	journal *journal.Journal
	tree    *git.Tree
	clock   func() time.Time
	// lease is how long each record holds the run for this process; 0 on the CLI, where a lock file does.
	lease time.Duration
	// remote says that commits and the run record are pushed.
	remote bool
	// watch hears of a record after it is stored and says what it published, if anything. It cannot stop the run.
	watch func(ctx context.Context, r loop.Record, s loop.State) *loop.Post
}

// State is what the records add up to.
func (l *ledger) State() loop.State { return l.journal.State() }

// Append implements loop.Journal.
func (l *ledger) Append(ctx context.Context, r loop.Record) (loop.State, error) {
	if l.lease > 0 && r.Type != loop.Ended {
		until := l.clock().Add(l.lease)
		r.Lease = &until
	}
	s, err := l.journal.Append(r)
	if err != nil {
		return s, err
	}
	if l.remote && r.Type == loop.Committed {
		if err := l.push(ctx); err != nil {
			return l.State(), err
		}
	}
	if l.watch == nil {
		return l.State(), nil
	}
	if post := l.watch(ctx, r, l.State()); post != nil {
		return l.journal.Append(loop.Record{Type: loop.Posted, At: l.clock(), Post: post})
	}
	return l.State(), nil
}

// push saves the run record and pushes it with the branch. When somebody else pushed to the branch meanwhile, our commits were put on
// top of theirs: that is another tree, so it is recorded as this iteration's commit, and pushed (B-18).
func (l *ledger) push(ctx context.Context) error {
	for range 2 {
		if err := l.save(ctx); err != nil {
			return err
		}
		moved, err := l.tree.Push(ctx)
		if err != nil {
			return fmt.Errorf("pushing %s: %w", l.tree.Branch(), err)
		}
		if moved == nil {
			return nil
		}
		commit := moved.Commit
		commit.Note = fmt.Sprintf("the branch had moved to %.12s; the run's commits were put on top of it", moved.Onto)
		if _, err := l.journal.Append(loop.Record{Type: loop.Committed, At: l.clock(), Iteration: l.iteration(), Commit: &commit}); err != nil {
			return err
		}
	}
	return nil
}

func (l *ledger) iteration() int {
	if last := l.State().Last(); last != nil {
		return last.N
	}
	return 0
}

// save makes the run record hold the journal as it stands.
func (l *ledger) save(ctx context.Context) error {
	s := l.State()
	message := fmt.Sprintf("ralph: %s, run %s, record %d", s.Start.Task, s.Start.Run, s.Records)
	if _, err := l.tree.SaveRecord(ctx, map[string][]byte{journal.File: l.journal.Bytes()}, message); err != nil {
		return fmt.Errorf("saving the run record: %w", err)
	}
	return nil
}

// hold takes the lease: the record with it reaches the remote in one compare-and-swap, or the run belongs to somebody else (B-26).
func (l *ledger) hold(ctx context.Context, r loop.Record) error {
	if _, err := l.Append(ctx, r); err != nil {
		return err
	}
	if !l.remote {
		return nil
	}
	if err := l.save(ctx); err != nil {
		return err
	}
	return l.tree.PushRecord(ctx)
}
