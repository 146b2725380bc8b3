package bot

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
)

// told is a publisher whose time stands still, and what it has put off.
func (w *world) told(each bool) (p *publisher, pass func(time.Duration)) {
	w.t.Helper()
	hub, err := github.New(context.Background(), github.Options{
		Server: github.Server{APIURL: w.gh.APIURL(), Log: w.t.Logf}, GraphQLURL: w.gh.GraphQLURL(),
		Repo: event.Repo{Owner: owner, Name: name}, Token: token,
	})
	noError(w.t, err)
	now := time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
	var put func()
	var due time.Time
	p = &publisher{
		github: hub, rules: event.Rules{TriggerLabel: "ralph", TriggerPhrase: "/ralph"}, onto: "main", each: each,
		log: w.t.Logf,
		view: func(s loop.State) report.View {
			return report.View{State: s, Now: now, Site: report.Site{ServerURL: w.gh.URL(), Repo: owner + "/" + name}}
		},
		sticky: sticky{clock: func() time.Time { return now }, after: func(d time.Duration, f func()) func() bool {
			put, due = f, now.Add(d)
			return func() bool { put = nil; return true }
		}},
	}
	return p, func(d time.Duration) {
		now = now.Add(d)
		if f := put; f != nil && !now.Before(due) {
			put = nil
			f()
		}
	}
}

// TestStickyCommentKeepsQuiet: while a step runs the comment is written at most once in fifteen seconds; what was held
// back is shown then, and the end shows at once, whatever is still held back (B-16).
func TestStickyCommentKeepsQuiet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, pass := w.told(false)
	s := loop.Fold([]loop.Record{{Type: loop.Started,
		Start: &loop.Start{Run: "20261121-093000-7f3a", Task: "issue-1", Issue: w.issue, Assignment: loop.Assignment{Title: "T"}, Branch: "ralph/issue-1",
			MaxIterations: 5}}})
	take := func(r loop.Record) {
		s = s.With(r)
		if post := p.watch(context.Background(), r, s); post != nil {
			s = s.With(loop.Record{Type: loop.Posted, Post: post})
		}
	}
	s = s.With(loop.Record{Type: loop.Posted, Post: p.begin(context.Background(), s)})
	writes := func() int {
		n := 0
		for _, c := range w.gh.Calls() {
			if c.Method == "PATCH" {
				n++
			}
		}
		return n
	}
	turn := loop.Record{Type: loop.TurnBegun, Iteration: 1, Mode: loop.Implement, At: p.sticky.clock()}
	take(turn)
	if n := writes(); n != 0 || strings.Contains(w.bodies(w.issue)[0], "iteration 1 of 5") {
		t.Fatalf("%d writes within the quiet time: %s", n, w.bodies(w.issue)[0])
	}
	pass(14 * time.Second)
	if n := writes(); n != 0 {
		t.Errorf("%d writes after 14 seconds", n)
	}
	pass(time.Second)
	if n := writes(); n != 1 || !strings.Contains(w.bodies(w.issue)[0], "iteration 1 of 5") {
		t.Fatalf("%d writes after 15 seconds: %s", n, w.bodies(w.issue)[0])
	}
	pass(time.Minute)
	take(loop.Record{Type: loop.Turned, Iteration: 1, Turn: &loop.Turn{Class: loop.OK}, At: p.sticky.clock()})
	take(loop.Record{Type: loop.Committed, Iteration: 1, Commit: &loop.Commit{SHA: "a", NoDiff: true, Empty: true},
		At: p.sticky.clock()})
	if n := writes(); n != 2 || !strings.Contains(w.bodies(w.issue)[0], "checks run") {
		t.Errorf("%d writes when the checks begin: %s", n, w.bodies(w.issue)[0])
	}
	take(loop.Record{Type: loop.Paused, Iteration: 1, Pause: &loop.Pause{Until: p.sticky.clock().Add(time.Hour), Reason: "r"},
		At: p.sticky.clock()})
	if n := writes(); n != 2 {
		t.Errorf("%d writes in an iteration, at most two", n)
	}
	take(loop.Record{Type: loop.TurnBegun, Iteration: 2, Mode: loop.Implement, At: p.sticky.clock()}) // held back
	s = s.With(loop.Record{Type: loop.Ended, End: &loop.End{Outcome: loop.Capped, Reason: "r"}, At: p.sticky.clock()})
	post := p.finish(context.Background(), s)
	if post == nil || !post.Finished || !strings.Contains(w.bodies(w.issue)[0], "Stopped after 1 of ") {
		t.Errorf("the end is not shown at once: %+v\n%s", post, w.bodies(w.issue)[0])
	}
	if bodies := w.bodies(w.issue); len(bodies) != 2 || !strings.Contains(bodies[1], "### ❌ Stopped after ") {
		t.Errorf("without a pull request the failure report goes to the issue: %q", bodies)
	}
	n := writes()
	pass(time.Minute)
	if writes() != n {
		t.Error("a write that was held back came after the end")
	}
}
