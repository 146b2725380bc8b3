package bot

import (
	"context"
	"errors"
	"fmt"
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

// holder is the process of a workflow run that has the lease of issue-1, and has begun its run there.
type holder struct {
	*Action
	running context.Context
	beats   chan time.Time // it looks at the lease only then
	*engine.Journal
}

func (w *world) holds(run string) holder {
	w.t.Helper()
	ctx := context.Background()
	w.env["GITHUB_RUN_ID"] = run
	h := holder{Action: w.ready("schedule", nil), beats: make(chan time.Time)}
	h.beat = h.beats
	h.prepare()
	var err error
	h.github, err = h.connect(ctx, event.Event{Repo: event.Repo{Owner: owner, Name: name}})
	noError(w.t, err)
	running, p, err := h.holdLease(ctx, "issue-1", w.dir)
	noError(w.t, err)
	w.t.Cleanup(func() { p.Close(ctx) })
	o, err := h.gitOptions(ctx, "issue-1")
	noError(w.t, err)
	o.Root = w.t.TempDir()
	tree, err := git.Checkout(ctx, o, "main", "ralph/issue-1")
	noError(w.t, err)
	book, err := journal.Open(w.t.TempDir())
	noError(w.t, err)
	w.t.Cleanup(func() { _ = book.Close() })
	h.running, h.Journal = running, &engine.Journal{File: book, Tree: tree, Clock: h.Action.Clock, Heartbeat: p, Remote: true,
		Token: h.github.Token, Redact: h.redact}
	start := &loop.Start{Run: "run-1", Task: "issue-1", Issue: 1, Base: tree.Base(), BaseBranch: "main", Branch: "ralph/issue-1",
		Owner: h.owner()}
	noError(w.t, h.Claim(ctx, loop.Record{Type: loop.Started, At: h.Action.Clock(), Start: start}))
	return h
}

// refs are what the remote has of ralph's own.
func (w *world) refs() string {
	return safetext.OneLine(w.git("for-each-ref", "--format=%(refname)", "refs/ralph"))
}

// TestStopArrivesWithTheOutcome: a wish that moves the lease under the last push does not keep the outcome from the
// remote.
func TestStopArrivesWithTheOutcome(t *testing.T) {
	t.Parallel()
	w, ctx := newWorld(t), context.Background()
	h := w.holds("77")
	h.EndWithNextPush()
	if heard, err := h.askStop(ctx, "issue-1", "alice", ""); !heard || err != nil {
		t.Fatal(heard, err)
	}
	if _, err := h.Append(ctx, loop.Record{Type: loop.Ended, At: time.Now(), End: &loop.End{Outcome: loop.Done}}); err != nil ||
		w.refs() != "refs/ralph/runs/issue-1" {
		t.Fatal(err, w.refs())
	}
	noError(t, h.Finish(ctx))
}

// TestLostLease: a job that was away for too long does not touch what is somebody else's now, whether it knows it
// already or not.
func TestLostLease(t *testing.T) {
	t.Parallel()
	for _, knows := range []bool{true, false} {
		t.Run(fmt.Sprint("knows: ", knows), func(t *testing.T) {
			t.Parallel()
			w, ctx := newWorld(t), context.Background()
			h := w.holds("77")
			watched := 0
			h.Watch = func(context.Context, loop.Record, loop.State) *loop.Post { watched++; return nil }
			w.late = lease.Time + lease.Slack
			w.holds("78")
			before := w.git("for-each-ref")
			if knows {
				h.beats <- time.Now()
				<-h.running.Done()
			}
			for _, r := range []loop.Record{{Type: loop.Ended, End: &loop.End{Outcome: loop.Done}},
				{Type: loop.Paused, Pause: &loop.Pause{Until: time.Now()}}, {Type: loop.Judged, Iteration: 1}} {
				_, err := h.Append(ctx, r)
				var lost *lease.LostError
				if !errors.As(err, &lost) || lost.Now.Owner != "workflow run 78, attempt 1" || h.Lost() == nil {
					t.Fatal(err)
				}
			}
			if err := h.Finish(ctx); !errors.Is(err, h.Lost()) || watched != 0 || w.git("for-each-ref") != before {
				t.Fatalf("%v, %d told, the remote has\n%s, before\n%s", err, watched, w.git("for-each-ref"), before)
			}
		})
	}
}
