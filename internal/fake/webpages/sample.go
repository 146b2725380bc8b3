package webpages

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/html"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// Repositories of the sample: alice writes in Demo and reads Docs, sam sees the runs of Demo from outside, and no one
// but mallory reads Secret.
const (
	Demo   = "acme/demo"
	Docs   = "acme/docs"
	Secret = "evil/secret"
)

// Now is the time at which the sample is examined.
var Now = sample.Began.Add(12 * time.Minute)

// Sample is a server in the middle of a day. Lists show the newest first, which is added last.
func Sample(t testing.TB) *World {
	w := New(t)
	for login, may := range map[string]web.Permission{"alice": web.MayWrite, "bob": web.MayRead, "olga": web.MayRead} {
		w.Let(login, Demo, may)
		w.Let(login, Docs, web.MayRead)
	}
	w.Let("mallory", Secret, web.MayWrite)
	w.Let("sam", Demo, web.MaySeeRuns)
	w.Operate("olga")
	secret := run("run-9", Secret, 99, web.Running, "")
	secret.Doing = "secretly works"
	w.tell(secret, sample.RunningFirst())
	hostile := run("run-6", Demo, 45, web.Running, sample.Nasty)
	hostile.Title, hostile.Person, hostile.Agent, hostile.Doing = sample.Nasty, sample.Nasty, sample.Nasty, sample.Nasty
	w.tell(hostile, sample.Hostile())
	w.Print("run-6", sample.Nasty+"\u202e</pre><script>alert(1)</script><hx-partial hx-target=\"body\">x</hx-partial>\n")
	waiting := run("run-5", Demo, 44, web.Waiting, "The agent's usage limit is used up.")
	waiting.Times.Resume = Now.Add(3 * time.Hour)
	w.tell(waiting, sample.Waiting())
	w.Put(run("run-4", Docs, 8, web.Queued, "One run of this repository goes before it."))
	capped := run("run-2", Docs, 7, "capped", "5 of 5 iterations are used up")
	capped.Times.Ended = Now.Add(-2 * time.Hour)
	w.tell(capped, sample.Capped())
	done := run("run-1", Demo, 40, "done", "")
	done.Times.Ended, done.Pull, done.Dollars, done.Tokens = Now.Add(-time.Hour), 57, 0.42, 81_000
	w.tell(done, sample.Done())
	running := run("run-3", Demo, 42, web.Running, "")
	running.Doing, running.Iteration, running.Of = "the coder implements since 05:34 UTC", 3, 5
	w.tell(running, sample.RunningThird())
	w.Shown("run-3", web.ShownBody{Iteration: 1, Prompt: "Add Greet to hello.\n"})
	w.Shown("run-3", web.ShownBody{Iteration: 3, Prompt: "Answer the review.\n"})
	w.Shown("run-3", web.ShownBody{Iteration: 1, Diff: &html.Diff{Text: diff}})
	w.Print("run-3", "I read hello.go and its test.\n$ go test ./...\nok  \tdemo\t0.004s\n")
	w.Print("run-3", "\x1b[32mAll tests pass.\x1b[0m Next I answer the review.\n")
	w.Hint("run-3", "alice", "Greet in French, too.")
	w.Hint("run-9", "mallory", "the secret plan")
	w.books()
	return w
}

func run(id, repository string, issue int, state, reason string) web.Run {
	title := "Add `Greet(name)` to hello"
	if repository == Secret {
		title = "The secret plan"
	}
	return web.Run{Shown: web.Shown{Issue: issue, Agent: "claude"},
		Run: store.Run{ID: id, Repository: repository, Title: title, Person: "alice", State: state, Reason: reason,
			Times: store.Times{Created: sample.Began.Add(-time.Minute), Started: sample.Began}}}
}

// tell adds a run with the records of a script.
func (w *World) tell(run web.Run, s *sample.Script) {
	w.Put(run)
	w.Facts(run.ID, s.Records...)
}

func (w *World) books() {
	ctx := context.Background()
	for i, d := range slices.Backward([]store.Delivery{
		{Event: "issues", Action: "labeled", Repository: Demo, Sender: "alice",
			Decision: store.Decision{Subject: "issue 42", Step: "work", Run: "run-3", Why: "alice put the label ralph on it"}},
		{Event: "issue_comment", Action: "created", Repository: Demo, Sender: "eve",
			Decision: store.Decision{Subject: "issue 42", Step: "refused", Why: "eve may not write in acme/demo"}},
		{Event: "push", Repository: Docs, Sender: "bob",
			Decision: store.Decision{Step: "not ours", Why: "ralph does nothing about it"}},
		{Event: "installation", Action: "created", Sender: "olga",
			Decision: store.Decision{Step: "noted", Why: "the App was installed"}},
		{Event: "issues", Action: "labeled", Repository: Secret, Sender: "mallory",
			Decision: store.Decision{Subject: "the secret issue", Step: "work", Run: "run-9"}},
	}) {
		d.ID, d.Received = fmt.Sprintf("delivery-%d", i+1), Now.Add(-time.Duration(i)*time.Minute)
		_, err := w.Deliver(ctx, d)
		must(err)
		must(w.Decide(ctx, store.Decided{ID: d.ID, Decision: d.Decision}))
	}
	for _, e := range slices.Backward([]store.Entry{
		{Person: "alice", Action: "delivery.redeliver", Repository: Demo, Subject: "delivery-2", Result: "done"},
		{Person: "alice", Action: "run.stop", Repository: Demo, Subject: "run-3", Result: "it has ended"},
		{Person: "olga", Action: "app.create", Subject: "ralph-of-acme", Result: "done"},
		{Person: "mallory", Action: "read the secret plan", Repository: Secret, Subject: "run-9", Result: "done"},
	}) {
		must(w.Audit(ctx, e))
	}
	found := []web.Finding{{Level: "ok", What: "contents: write is granted"},
		{Level: "warning", What: "no checks are set, and none were found", Advice: "Set guardrails in ralph.json."},
		{Level: "error", What: "pull_requests: write is missing", Advice: "Grant it.", URL: "https://github.com/apps/ralph"}}
	for _, name := range []string{Demo, Docs, Secret} {
		w.Repos[name] = web.Repository{Name: name, Doctor: found, Checked: Now, Ended: 12, Done: 9,
			Took: web.Took{Dollars: 4.2, Tokens: 910_000}, Settings: []web.Setting{
				{Key: "agent.command", Value: "claude", From: "ralph.json of acme/.github"},
				{Key: "guardrails", Value: `["go vet ./...","go test ./..."]`, From: "ralph.json of " + name},
				{Key: "review", Value: "true", From: "default"}}}
	}
	w.App = web.SetupStanding{App: "ralph of acme", AppURL: "https://github.com/apps/ralph-of-acme",
		InstallURL:  "https://github.com/apps/ralph-of-acme/installations/new",
		OwnSecret:   true,
		Credentials: []web.Finding{{Level: "ok", What: "the private key signs"}},
		Doctor:      []web.RepositoryDoctor{{Repository: Demo, Findings: found}}}
}

var diff = strings.Join([]string{"diff --git a/hello.go b/hello.go", "--- a/hello.go", "+++ b/hello.go",
	"@@ -1,3 +1,6 @@", " package hello", "+", "+// Greet greets.",
	"+func Greet(name string) string { return \"Hello, \" + name }",
	"-func old() {}", ""}, "\n")

// Long is a run of n records, of which every tenth is a fact.
func Long(w *World, id string, n int) {
	w.Put(run(id, Demo, 46, web.Running, ""))
	s := sample.Begin(nil)
	for i := 1; len(s.Records) < n/10; i++ {
		s.Iterate(i, loop.Implement, "I am sure that it works now.", sample.Pass("claim"), sample.TestFailure)
	}
	var all []store.Record
	for i, r := range s.Records[:n/10] {
		all = append(all, store.Record{At: r.At, Kind: web.FactRecord, Body: text(r)})
		for j := range 9 {
			all = append(all, store.Record{Kind: web.OutputRecord,
				Body: fmt.Appendf(nil, "line %d of what the agent prints while it works\n", i*9+j)})
		}
	}
	w.add(id, all...)
}
