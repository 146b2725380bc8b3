package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/lease"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// leaseTime is a clock that tests set.
type leaseTime struct {
	mu sync.Mutex
	at time.Time
}

func (c *leaseTime) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *leaseTime) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func leaseClock() *leaseTime { return &leaseTime{at: time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)} }

// job is the process of a workflow run, as far as it has come when it takes a lease.
func (w *world) job(run int, clock *leaseTime) *Action {
	w.t.Helper()
	env := w.environ("schedule", nil)
	env["GITHUB_RUN_ID"] = fmt.Sprint(run)
	a, err := newAction(env, &w.out)
	if err != nil {
		w.t.Fatal(err)
	}
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
	if err != nil {
		w.t.Fatal(err)
	}
	held, err := door.Take(context.Background(), lease.Lease{Task: "issue-1", Owner: a.owner(), RunURL: a.Env.RunURL()})
	if err != nil {
		w.t.Fatal(err)
	}
	running, p := lease.NewHeartbeat(context.Background(), door, held, a.Clock, a.github.Token, a.log)
	beats := make(chan time.Time)
	p.Listen(context.Background(), beats)
	w.t.Cleanup(func() { p.StopRenewing(); _ = door.Close() })
	return running, p, beats
}

// ledgerOf is a run's ledger, with its first record on the remote.
func (w *world) ledgerOf(a *Action, p *lease.Heartbeat) *engine.Journal {
	w.t.Helper()
	ctx := context.Background()
	o, err := a.gitOptions(ctx, "issue-1")
	if err != nil {
		w.t.Fatal(err)
	}
	o.Root = w.t.TempDir()
	tree, err := git.Checkout(ctx, o, "main", "ralph/issue-1")
	if err != nil {
		w.t.Fatal(err)
	}
	book, err := journal.Open(w.t.TempDir())
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = book.Close() })
	l := &engine.Journal{File: book, Tree: tree, Clock: a.Clock, Heartbeat: p, Remote: true, Token: a.github.Token,
		Redact: a.redact}
	start := &loop.Start{Run: "run-1", Task: "issue-1", Issue: 1, Base: tree.Base(), BaseBranch: "main", Branch: "ralph/issue-1",
		Owner: a.owner()}
	if err := l.Claim(ctx, loop.Record{Type: loop.Started, At: a.Clock(), Start: start}); err != nil {
		w.t.Fatal(err)
	}
	return l
}

// refs are what the remote has of ralph's own.
func (w *world) refs() string {
	return safetext.OneLine(w.git("for-each-ref", "--format=%(refname)", "refs/ralph"))
}

const (
	onlyRecord = "refs/ralph/runs/issue-1"
	both       = "refs/ralph/leases/issue-1 " + onlyRecord
)

// TestHoldLease: one of two jobs has the run; the other one says whose it is, and gets it when its holder has died.
func TestHoldLease(t *testing.T) {
	t.Parallel()
	w, clock, ctx := newWorld(t), leaseClock(), context.Background()
	one, two := w.job(77, clock), w.job(78, clock)
	running, p, err := one.holdLease(ctx, "issue-1", w.dir)
	if err != nil || running.Err() != nil {
		t.Fatal(err)
	}
	var held *heldError
	if _, _, err := two.holdLease(ctx, "issue-1", w.dir); !errors.As(err, &held) ||
		held.reason != "issue-1 is already running (workflow run 77, attempt 1). This request was dropped; ask again when "+
			"it has ended" {
		t.Fatal(err)
	}
	w.inputs["dry_run"] = "true"
	if _, none, err := w.job(79, clock).holdLease(ctx, "issue-2", w.dir); none != nil || err != nil ||
		w.refs() != "refs/ralph/leases/issue-1" {
		t.Fatal("a dry run", none, err, w.refs())
	}
	if _, _, err := w.job(79, clock).holdLease(ctx, "issue-1", w.dir); !errors.As(err, &held) {
		t.Fatal("a dry run looks:", err)
	}
	p.StopRenewing() // as if it were dead
	clock.pass(lease.Time + lease.Slack)
	_, q, err := two.holdLease(ctx, "issue-1", w.dir)
	if err != nil {
		t.Fatal(err)
	}
	p.Close(ctx) // it was not, and leaves what is not its own alone
	if w.refs() != "refs/ralph/leases/issue-1" {
		t.Fatal(w.refs())
	}
	q.Close(ctx)
	if w.refs() != "" {
		t.Fatal(w.refs())
	}
}

// TestAskedToStop: the wish of another job ends the run with its sentence, and the outcome gives the lease back.
func TestAskedToStop(t *testing.T) {
	t.Parallel()
	for _, hurried := range []bool{false, true} {
		t.Run(fmt.Sprint("hurried: ", hurried), func(t *testing.T) {
			t.Parallel()
			w, clock, ctx := newWorld(t), leaseClock(), context.Background()
			runner, asker := w.job(77, clock), w.job(78, clock)
			if heard, err := asker.askStop(ctx, "issue-1", "alice", ""); heard || err != nil {
				t.Fatal("nobody is there", heard, err)
			}
			running, p, beats := w.takes(runner)
			l := w.ledgerOf(runner, p)
			if heard, err := asker.askStop(ctx, "issue-1", "alice", "issue closed with "+token); !heard || err != nil {
				t.Fatal(heard, err)
			}
			beats <- clock.now()
			<-running.Done()
			result, err := loop.Run(running, running, loop.Limits{}, loop.Ports{Journal: l, Clock: clock.now, Log: t.Logf})
			if err != nil || result.Outcome != loop.Interrupted || result.Reason != "issue closed with [redacted] by alice" {
				t.Fatal(result.Outcome, result.Reason, err)
			}
			want := both
			if hurried {
				l.EndWithNextPush()
				want = onlyRecord
			}
			if _, err := l.Append(ctx, loop.Record{Type: loop.Ended, At: clock.now(),
				End: &loop.End{Outcome: result.Outcome, Reason: result.Reason}}); err != nil || w.refs() != want {
				t.Fatal(err, w.refs())
			}
			if _, err := l.Store(loop.Record{Type: loop.Posted, At: clock.now(),
				Post: &loop.Post{IssueComment: 1}}); err != nil {
				t.Fatal(err)
			}
			if err := l.Finish(ctx); err != nil || w.refs() != onlyRecord {
				t.Fatal(err, w.refs())
			}
			if !strings.Contains(w.git("show", onlyRecord+":journal.jsonl"), `"posted"`) {
				t.Error("the last record is not on the remote")
			}
			if heard, err := asker.askStop(ctx, "issue-1", "alice", ""); heard || err != nil {
				t.Fatal("nobody is there any more", heard, err)
			}
		})
	}
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
		End: &loop.End{Outcome: loop.Done}}); err != nil || w.refs() != onlyRecord {
		t.Fatal(err, w.refs())
	}
	if err := l.Finish(ctx); err != nil {
		t.Fatal(err)
	}
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
			if err != nil {
				t.Fatal(err)
			}
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

// TestRemoteAwayAndBack: the run goes on while the remote does not answer, and is still ours when nobody took it
// meanwhile.
func TestRemoteAwayAndBack(t *testing.T) {
	t.Parallel()
	w, clock := newWorld(t).overHTTP(), leaseClock()
	running, p, beats := w.takes(w.job(77, clock))
	w.gh.Fail(fake.Fault{Match: "GET /.../refs", Status: 403, Times: -1})
	for range 3 { // two have been answered when the third is taken
		clock.pass(3 * time.Minute)
		beats <- clock.now()
	}
	if running.Err() != nil {
		t.Fatal(context.Cause(running))
	}
	p.StopRenewing() // whatever the third is at
	w.gh.ClearFaults()
	if !p.Beat(context.Background()) || p.Lost() != nil || running.Err() != nil {
		t.Fatal(p.Lost(), context.Cause(running))
	}
	held, _ := p.Lease()
	if !held.Until.Equal(clock.now().Add(lease.Time)) {
		t.Errorf("the lease was not renewed: until %s, at %s", held.Until, clock.now())
	}
	if n := strings.Count(w.out.String(), "the run continues, and the remote is read again"); n != 1 {
		t.Errorf("it was said %d times", n)
	}
}

// TestWithLease: what others make of a record and its lease.
func TestWithLease(t *testing.T) {
	t.Parallel()
	clock, w := leaseClock(), newWorld(t)
	a, b := w.job(77, clock), w.job(78, clock)
	_, p, _ := w.takes(a)
	living, _ := p.Lease()
	started := clock.now().Add(-time.Hour)
	running := loop.State{Start: loop.Start{Run: "r", Task: "issue-1"}, Owner: "workflow run 60, attempt 1", At: started,
		StartedAt: started}
	ended := running
	ended.End = &loop.End{Outcome: loop.Capped}
	old := running
	old.Lease = clock.now().Add(20 * time.Minute) // as records told once
	for _, tt := range []struct {
		name   string
		state  loop.State
		held   lease.Lease
		later  time.Duration
		way    loop.ResumeMode
		alive  bool
		silent bool
	}{
		{"somebody works on it", running, living, 0, loop.Held, true, false},
		{"its process died, and its lease is over", running, living, 6 * time.Minute, loop.Continue, false, true},
		{"nobody holds it", running, lease.Lease{}, 0, loop.Continue, false, true},
		{"an older ralph works on it", old, lease.Lease{}, 0, loop.Held, true, false},
		{"it has ended", ended, lease.Lease{}, 0, loop.Again, false, false},
		{"it has ended, and its job still reports", ended, living, 0, loop.Again, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := withLease(tt.state, tt.held)
			now := clock.now().Add(tt.later)
			way, why := loop.TakeUp(s, true, loop.Request{Retry: true, Owner: b.owner()}, now)
			if way != tt.way || way == loop.Held && tt.held.Task != "" &&
				!strings.Contains(why, "(workflow run 77, attempt 1)") {
				t.Errorf("%s: %s", way, why)
			}
			b.Clock = func() time.Time { return now }
			if alive(s, b.Clock()) != tt.alive {
				t.Errorf("alive: %v", alive(s, b.Clock()))
			}
			if text := report.Status(b.view(s)); strings.Contains(text, "No sign of life") != tt.silent {
				t.Errorf("the status says\n%s", text)
			}
		})
	}
}

// TestOwnRunIsNotSilent: whatever an older record says of a lease, the run that this process works on is alive.
func TestOwnRunIsNotSilent(t *testing.T) {
	t.Parallel()
	w, clock := newWorld(t), leaseClock()
	a := w.job(77, clock)
	_, p, _ := w.takes(a)
	l := w.ledgerOf(a, p)
	past := clock.now().Add(-time.Minute)
	s, err := l.Append(context.Background(), loop.Record{Type: loop.Baselined, At: clock.now(), Lease: &past})
	if err != nil || !s.Lease.IsZero() || !l.State().Lease.IsZero() ||
		strings.Contains(report.Status(a.view(s)), "No sign of life") {
		t.Error(s.Lease, err)
	}
	if strings.Contains(w.git("show", onlyRecord+":journal.jsonl"), `"lease"`) {
		t.Error("the records still tell of leases")
	}
}
