package webpages

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/html"
	"github.com/ralph-loop/ralph/internal/web"
)

// Repositories of the sample: alice writes in Demo and reads Docs, sam sees the runs of Demo from outside, and nobody
// but mallory reads Secret.
const (
	Demo   = "acme/demo"
	Docs   = "acme/docs"
	Secret = "evil/secret"
)

// Now is the time at which the sample is looked at.
var Now = sample.Began.Add(12 * time.Minute)

// Sample is a server in the middle of a day.
func Sample() *World {
	w := New()
	for login, may := range map[string]web.Permission{"alice": web.MayWrite, "bob": web.MayRead, "olga": web.MayRead} {
		w.Let(login, Demo, may)
		w.Let(login, Docs, web.MayRead)
	}
	w.Let("mallory", Secret, web.MayWrite)
	w.Let("sam", Demo, web.MaySeeRuns)
	w.Operate("olga")
	running := run("run-3", Demo, 42, web.Standing{State: web.Running, Doing: "the coder implements since 05:34 UTC",
		Iteration: 3, Of: 5})
	w.Put(running)
	tell(w, "run-3", sample.RunningThird())
	w.Shown("run-3", web.ShownBody{Iteration: 1, Prompt: "Add Greet to hello.\n"})
	w.Shown("run-3", web.ShownBody{Iteration: 3, Prompt: "Answer the review.\n"})
	w.Hint("run-3", web.HintGiven{ID: "word-1", By: "alice", At: Now.Add(-time.Minute), Text: "Greet in French, too."})
	w.Shown("run-3", web.ShownBody{Iteration: 1, Diff: &html.Diff{Text: diff}})
	w.Print("run-3", "I read hello.go and its test.\n$ go test ./...\nok  \tdemo\t0.004s\n")
	w.Print("run-3", "\x1b[32mAll tests pass.\x1b[0m Next I answer the review.\n")
	done := run("run-1", Demo, 40, web.Standing{State: "done"})
	done.Ended, done.Pull, done.Spent = Now.Add(-time.Hour), 57, web.Amount{Dollars: 0.42, Tokens: 81_000}
	w.Put(done)
	tell(w, "run-1", sample.Done())
	capped := run("run-2", Docs, 7, web.Standing{State: "capped", Reason: "5 of 5 iterations are used up"})
	capped.Ended = Now.Add(-2 * time.Hour)
	w.Put(capped)
	tell(w, "run-2", sample.Capped())
	w.Put(run("run-4", Docs, 8, web.Standing{State: web.Queued, Reason: "One run of this repository goes before it."}))
	waiting := run("run-5", Demo, 44, web.Standing{State: web.Waiting, Reason: "The agent's usage limit is used up.",
		Until: Now.Add(3 * time.Hour)})
	w.Put(waiting)
	tell(w, "run-5", sample.Waiting())
	hostile := run("run-6", Demo, 45, web.Standing{State: web.Running, Doing: sample.Nasty, Reason: sample.Nasty})
	hostile.Title, hostile.By, hostile.Agent = sample.Nasty, sample.Nasty, sample.Nasty
	w.Put(hostile)
	tell(w, "run-6", sample.Hostile())
	w.Print("run-6", sample.Nasty+"\u202e</pre><script>alert(1)</script><hx-partial hx-target=\"body\">x</hx-partial>\n")
	w.Hint("run-9", web.HintGiven{ID: "word-2", By: "mallory", At: Now, Text: "the secret plan"})
	w.Put(run("run-9", Secret, 99, web.Standing{State: web.Running, Doing: "secretly works"}))
	tell(w, "run-9", sample.RunningFirst())
	w.books()
	return w
}

func run(id, repository string, issue int, s web.Standing) web.Run {
	title := "Add `Greet(name)` to hello"
	if repository == Secret {
		title = "The secret plan"
	}
	return web.Run{ID: id, Repository: repository, Issue: issue, Title: title, By: "alice", Agent: "claude", Standing: s,
		Queued: sample.Began.Add(-time.Minute), Began: sample.Began}
}

// tell adds the records of a script.
func tell(w *World, id string, s *sample.Script) { w.Facts(id, s.Records...) }

func (w *World) books() {
	for i, d := range []web.Delivery{
		{Event: "issues.labeled", Repository: Demo, Subject: "issue 42", By: "alice", Step: "work", Run: "run-3",
			Why: "alice put the label ralph on it"},
		{Event: "issue_comment.created", Repository: Demo, Subject: "issue 42", By: "eve", Step: "refused",
			Why: "eve may not write in acme/demo"},
		{Event: "push", Repository: Docs, By: "bob", Step: "not ours", Why: "ralph does nothing about it"},
		{Event: "installation.created", By: "olga", Step: "noted", Why: "the App was installed"},
		{Event: "issues.labeled", Repository: Secret, Subject: "the secret issue", By: "mallory", Step: "work", Run: "run-9"},
	} {
		d.ID, d.At = fmt.Sprintf("delivery-%d", i+1), Now.Add(-time.Duration(i)*time.Minute)
		w.Hooks = append(w.Hooks, d)
	}
	for i, row := range []web.Spend{
		{Repository: Demo, Person: "alice", Model: "claude-opus", Requests: 3, Amount: web.Amount{Dollars: 4.2, Tokens: 910_000}},
		{Repository: Docs, Person: "bob", Model: "gpt-5", Requests: 1, Amount: web.Amount{Dollars: 1.1, Tokens: 120_000}},
		{Repository: Secret, Person: "mallory", Model: "secret-model", Requests: 9, Amount: web.Amount{Dollars: 77, Tokens: 1}},
	} {
		row.Day = Now.AddDate(0, 0, -i).Format("2006-01-02")
		w.Spends = append(w.Spends, row)
	}
	w.Audits = []web.Audit{
		{At: Now, By: "alice", Did: "had a delivery decided again", Repository: Demo, Delivery: "delivery-2"},
		{At: Now, By: "alice", Did: "stopped the run", Repository: Demo, Run: "run-3", Detail: "on the page"},
		{At: Now, By: "olga", Did: "created the App"},
		{At: Now, By: "mallory", Did: "read the secret plan", Repository: Secret, Run: "run-9"},
	}
	for i := range w.Audits {
		w.Audits[i].Number = int64(len(w.Audits) - i)
	}
	found := []web.Finding{{Level: "ok", What: "contents: write is granted"},
		{Level: "warning", What: "no checks are set, and none were found", Advice: "Set guardrails in ralph.json."},
		{Level: "error", What: "pull_requests: write is missing", Advice: "Grant it.", URL: "https://github.com/apps/ralph"}}
	for _, name := range []string{Demo, Docs, Secret} {
		w.Repos[name] = web.Repository{Name: name, Doctor: found, Checked: Now, Ended: 12, Done: 9,
			Spent: web.Amount{Dollars: 4.2, Tokens: 910_000}, Settings: []web.Setting{
				{Key: "agent.command", Value: "claude", From: "ralph.json of acme/.github"},
				{Key: "guardrails", Value: `["go vet ./...","go test ./..."]`, From: "ralph.json of " + name},
				{Key: "review", Value: "true", From: "default"}},
			Limits: []web.Limit{{What: "cost of a run", Value: "$20", From: "allowed by this installation"}}}
	}
	w.App = web.SetupStanding{App: "ralph of acme", AppURL: "https://github.com/apps/ralph-of-acme",
		InstallURL:  "https://github.com/apps/ralph-of-acme/installations/new",
		Secret:      web.SecretStanding{Ours: true, Made: Now, Several: true, Until: Now.Add(time.Hour)},
		Credentials: []web.Finding{{Level: "ok", What: "the private key signs"}},
		Doctor:      []web.RepositoryDoctor{{Repository: Demo, Findings: found}}}
}

var diff = strings.Join([]string{"diff --git a/hello.go b/hello.go", "--- a/hello.go", "+++ b/hello.go",
	"@@ -1,3 +1,6 @@", " package hello", "+", "+// Greet greets.",
	"+func Greet(name string) string { return \"Hello, \" + name }",
	"-func old() {}", ""}, "\n")

// Long is a run of n records, of which every tenth is a fact.
func Long(w *World, id string, n int) {
	w.Put(run(id, Demo, 46, web.Standing{State: web.Running}))
	s := sample.Begin(nil)
	for i := 1; len(s.Records) < n/10; i++ {
		s.Iterate(i, loop.Implement, "I am sure that it works now.", sample.Pass("claim"), sample.TestFailure)
	}
	for i, r := range s.Records[:n/10] {
		w.Facts(id, r)
		for j := range 9 {
			w.Print(id, fmt.Sprintf("line %d of what the agent prints while it works\n", i*9+j))
		}
	}
}
