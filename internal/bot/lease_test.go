package bot

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/lease"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// leaseTime is a clock that tests set.
type leaseTime struct{ passed atomic.Int64 }

func (c *leaseTime) now() time.Time {
	return time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC).Add(time.Duration(c.passed.Load()))
}

func (c *leaseTime) pass(d time.Duration) { c.passed.Add(int64(d)) }

func leaseClock() *leaseTime { return &leaseTime{} }

// job is the process of a workflow run, as far as it has come when it takes a lease.
func (w *world) job(run int, clock *leaseTime) *Action {
	w.t.Helper()
	env := w.environ("schedule", nil)
	env["GITHUB_RUN_ID"] = fmt.Sprint(run)
	a, err := newAction(env, &w.out)
	noError(w.t, err)
	a.Clock = clock.now
	a.prepare()
	if a.github, err = a.connect(context.Background(),
		event.Event{Repo: event.Repo{Owner: owner, Name: name}}); err != nil {
		w.t.Fatal(err)
	}
	return a
}

// takes takes the lease of issue-1 and lets nothing but the test's beats keep it.
func (w *world) takes(a *Action) (context.Context, *lease.Heartbeat, chan time.Time) {
	w.t.Helper()
	door, err := a.leaseDoor(context.Background(), w.dir)
	noError(w.t, err)
	held, err := door.Take(context.Background(), lease.Lease{Task: "issue-1", Owner: a.owner(), RunURL: a.Env.RunURL()})
	noError(w.t, err)
	running, p := lease.NewHeartbeat(context.Background(), door, held, a.Clock, a.github.Token, a.log)
	beats := make(chan time.Time)
	p.Listen(context.Background(), beats)
	w.t.Cleanup(func() { p.StopRenewing(); door.Close() })
	return running, p, beats
}

// ledgerOf is a run's ledger, with its first record on the remote.
func (w *world) ledgerOf(a *Action, p *lease.Heartbeat) *engine.Journal {
	w.t.Helper()
	ctx := context.Background()
	o, err := a.gitOptions(ctx, "issue-1")
	noError(w.t, err)
	o.Root = w.t.TempDir()
	tree, err := git.Checkout(ctx, o, "main", "ralph/issue-1")
	noError(w.t, err)
	book, err := journal.Open(w.t.TempDir())
	noError(w.t, err)
	w.t.Cleanup(func() { _ = book.Close() })
	l := &engine.Journal{File: book, Tree: tree, Clock: a.Clock, Heartbeat: p, Remote: true, Token: a.github.Token,
		Redact: a.redact}
	start := &loop.Start{Run: "run-1", Task: "issue-1", Issue: 1, Base: tree.Base(), BaseBranch: "main", Branch: "ralph/issue-1",
		Owner: a.owner()}
	noError(w.t, l.Claim(ctx, loop.Record{Type: loop.Started, At: a.Clock(), Start: start}))
	return l
}

// refs are what the remote has of ralph's own.
func (w *world) refs() string {
	return safetext.OneLine(w.git("for-each-ref", "--format=%(refname)", "refs/ralph"))
}

// TestStopArrivesWithTheOutcome: a wish that moves the lease under the last push does not keep the outcome from the
// remote.
func TestStopArrivesWithTheOutcome(t *testing.T) {
	t.Parallel()
	w, clock, ctx := newWorld(t), leaseClock(), context.Background()
	runner, asker := w.job(77, clock), w.job(78, clock)
	_, p, _ := w.takes(runner)
	l := w.ledgerOf(runner, p)
	l.EndWithNextPush()
	if heard, err := asker.askStop(ctx, "issue-1", "alice", ""); !heard || err != nil {
		t.Fatal(heard, err)
	}
	if _, err := l.Append(ctx, loop.Record{Type: loop.Ended, At: clock.now(),
		End: &loop.End{Outcome: loop.Done}}); err != nil || w.refs() != "refs/ralph/runs/issue-1" {
		t.Fatal(err, w.refs())
	}
	noError(t, l.Finish(ctx))
}

// TestLostLease: a job that was away for too long does not touch what is somebody else's now, whether it knows it
// already or not.
func TestLostLease(t *testing.T) {
	t.Parallel()
	for _, knows := range []bool{true, false} {
		t.Run(fmt.Sprint("knows: ", knows), func(t *testing.T) {
			t.Parallel()
			w, clock, ctx := newWorld(t), leaseClock(), context.Background()
			running, p, beats := w.takes(w.job(77, clock))
			l := w.ledgerOf(w.job(77, clock), p)
			watched := 0
			l.Watch = func(context.Context, loop.Record, loop.State) *loop.Post { watched++; return nil }
			clock.pass(lease.Time + lease.Slack)
			two := w.job(78, clock)
			_, q, err := two.holdLease(ctx, "issue-1", w.dir)
			noError(t, err)
			defer q.Close(ctx)
			w.ledgerOf(two, q)
			before := w.git("for-each-ref")
			if knows {
				beats <- clock.now()
				<-running.Done()
			}
			_, err = l.Append(ctx, loop.Record{Type: loop.Ended, At: clock.now(), End: &loop.End{Outcome: loop.Done}})
			var lost *lease.LostError
			if !errors.As(err, &lost) || lost.Now.Owner != "workflow run 78, attempt 1" || l.Lost() == nil {
				t.Fatal(err)
			}
			if _, err := l.Append(ctx, loop.Record{Type: loop.Paused, At: clock.now(),
				Pause: &loop.Pause{Until: clock.now()}}); !errors.As(err, &lost) {
				t.Fatal(err)
			}
			if err := l.Finish(ctx); !errors.As(err, &lost) || watched != 0 || w.git("for-each-ref") != before {
				t.Fatalf("%v, %d told, the remote has\n%s, before\n%s", err, watched, w.git("for-each-ref"), before)
			}
		})
	}
}
