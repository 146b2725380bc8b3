package bot

import (
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/loop"
)

// TestDecideSaysWhatToReadAndWhatToDo: a row for each step that TestExplainSaysWhatAJobSays does not play. Nothing is read
// but the argument.
func TestDecideSaysWhatToReadAndWhatToDo(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
	labeled := func(r *Reads) {
		r.Event.Kind, r.Event.Name, r.Event.Label = event.Labeled, "issues.labeled", "ralph"
	}
	command := func(body string) func(*Reads) {
		return func(r *Reads) {
			r.Event.Kind, r.Event.Name = event.Commented, "issue_comment.created"
			r.Event.Comment = &event.Comment{Author: event.Actor{Login: "alice"}, Body: body, CreatedAt: now, UpdatedAt: now}
		}
	}
	gathered := func(r *Reads) {
		r.Gathered = true
		r.Facts = event.Facts{Self: "ralph[bot]", Labeler: "alice",
			Permissions: map[string]event.Permission{"alice": {Level: "write"}}}
	}
	located := func(r *Reads) { r.Located, r.Request = true, Decide(*r).Request }
	run := func(s loop.State) func(*Reads) { return func(r *Reads) { r.Run, r.Known = s, true } }
	const here = "https://ralph.example.com/runs/1"
	again := func(runs ...loop.State) func(*Reads) {
		return func(r *Reads) { r.Job.Attempt, r.Job.URL, r.Listed, r.Runs = 2, here, runs != nil, runs }
	}
	of := func(end *loop.End, finished bool) loop.State {
		return loop.State{Start: loop.Start{Task: "issue-1", Issue: 1}, RunURL: here, End: end,
			Post: loop.Post{Finished: finished}}
	}
	running := of(nil, false)
	running.Lease, running.Owner = now.Add(time.Minute), "somebody"
	done := &loop.End{Outcome: loop.Done}
	served := func(r *Reads) { r.Job.Served = true }
	elsewhere := of(done, true)
	elsewhere.RunURL = "http://10.0.0.2:8080/runs/1"
	for _, test := range []struct {
		name string
		with []func(*Reads)
		want Step
		do   event.Doing // of the table; empty: it was not asked
	}{
		{"a label", []func(*Reads){labeled}, ReadFacts, ""},
		{"by a writer", []func(*Reads){labeled, gathered}, ReadRun, ""},
		{"and nothing to look up", []func(*Reads){labeled, gathered, located}, Work, event.Begin},
		{"plan", []func(*Reads){command("/ralph plan"), gathered, located}, DerivePlan, event.Derive},
		{"stop of a run", []func(*Reads){command("/ralph stop"), gathered, located, run(running)}, Stop, event.Halt},
		{"a hint for a run", []func(*Reads){command("/ralph hint x"), gathered, located, run(running)}, PassHint, event.Pass},
		{"a hint for nobody", []func(*Reads){command("/ralph hint x"), gathered, located}, Decline, event.Drop},
		{"stop of a dead run", []func(*Reads){command("/ralph stop"), gathered, located, run(of(nil, false))}, Stop,
			event.Close},
		{"a job that is run again", []func(*Reads){labeled, gathered, located, again()}, ReadRuns, event.Begin},
		{"after it was cut off while it told", []func(*Reads){labeled, gathered, located, again(of(done, false))}, ReportEnd,
			event.Begin},
		{"after it was cut off while it worked", []func(*Reads){labeled, gathered, located, again(of(nil, false))}, TakeUp,
			event.Begin},
		{"after all was told", []func(*Reads){labeled, gathered, located, again(of(done, true))}, Work, event.Begin},
		{"of a server, where nobody asks for more", []func(*Reads){labeled, gathered, located, again(of(done, true)), served},
			Over, event.Begin},
		{"as another server shows it", []func(*Reads){labeled, gathered, located, again(elsewhere), served}, Over,
			event.Begin},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := Reads{Rules: event.Rules{TriggerLabel: "ralph", TriggerPhrase: "/ralph"},
				Job: Job{Attempt: 1, Owner: "we", Now: now}}
			r.Event = event.Event{Sender: event.Actor{Login: "alice"}, At: now,
				Issue: &event.Issue{Number: 1, Title: "t", Labels: []string{"ralph"}}}
			for _, with := range test.with {
				with(&r)
			}
			d := Decide(r)
			if d.Step != test.want || d.Row.Do != test.do {
				t.Errorf("%q (%s), table %q; want %q, table %q", d.Step, d.Why, d.Row.Do, test.want, test.do)
			}
		})
	}
}
