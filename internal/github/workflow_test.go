package github

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
)

const audience = "https://ralph.example"

// TestWorkflowKnowsItsJobs: only a job of that workflow, started on the default branch of a repository that is not
// public, is known, and only by a token that GitHub has made for this server and that has not ended.
func TestWorkflowKnowsItsJobs(t *testing.T) {
	s := newStage(t)
	a := s.opened()
	runner := s.repo("runner", true)
	other := s.repo("other", true)
	job := fake.RunnerJob{Owner: owner, Name: runner.Name, Workflow: "runner.yml", Run: 4711}
	with := func(name string, value any) fake.RunnerJob {
		j := job
		j.Claims = map[string]any{name: value}
		return j
	}
	branch, elsewhere, another, pushed := job, job, job, job
	branch.Ref, elsewhere.Name, another.Workflow, pushed.Event = "refs/heads/mine", other.Name, "mine.yml", "push"
	token := s.JobToken(job, audience)
	forged := token[:len(token)-8] + "AAAAAAAA"
	for _, row := range []struct{ what, token, want string }{
		{"the job itself", token, ""},
		{"another branch", s.JobToken(branch, audience), "not of the workflow runner.yml on the branch main"},
		{"another workflow", s.JobToken(another, audience), "not of the workflow runner.yml on the branch main"},
		{"a workflow that is called by another branch's", s.JobToken(with("ref", "refs/heads/mine"), audience), "not of the workflow"},
		{"another repository", s.JobToken(elsewhere, audience), "of another repository"},
		{"a repository that has the name now", s.JobToken(with("repository_id", "1"), audience), "of another repository"},
		{"another event", s.JobToken(pushed, audience), "started by the event push"},
		{"a public repository", s.JobToken(with("repository_visibility", "public"), audience), "is public"},
		{"no visibility", s.JobToken(with("repository_visibility", ""), audience), "is public"},
		{"a token for somebody else", s.JobToken(job, "https://other.example"), "expected audience"},
		{"a token of another issuer", s.JobToken(with("iss", "https://evil.example"), audience), "issued by a different provider"},
		{"an old token", s.JobToken(with("exp", time.Now().Add(-time.Hour).Unix()), audience), "expired"},
		{"a forged token", forged, "failed to verify signature"},
		{"none", "", "malformed jwt"},
	} {
		w := (Server{APIURL: s.APIURL(), WebURL: s.URL()}).Workflow(runner, "runner.yml", audience, time.Now)
		name, err := w.Job(t.Context(), a, row.token)
		switch {
		case row.want == "" && (err != nil || name != "4711/1"):
			t.Errorf("%s: %q, %v", row.what, name, err)
		case row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want) || name != ""):
			t.Errorf("%s: %q, %v; want %q", row.what, name, err, row.want)
		}
	}
}

// TestWorkflowStarts: it is started as the default branch has it, with a token for that alone, and what is missing is
// named, here and for whoever sets the server up.
func TestWorkflowStarts(t *testing.T) {
	s := newStage(t)
	a := s.opened()
	runner := s.repo("runner", true)
	w := (Server{APIURL: s.APIURL(), WebURL: s.URL()}).Workflow(runner, "runner.yml", audience, time.Now)
	fact := func() Fact {
		t.Helper()
		facts := w.Examine(t.Context(), a, must[Self](t)(a.Self(t.Context())))
		if len(facts) != 1 {
			t.Fatalf("%+v", facts)
		}
		return facts[0]
	}
	start := func(want string) {
		t.Helper()
		err := w.Start(t.Context(), a, map[string]any{"request": "x"})
		refused := (*DispatchError)(nil)
		if want == "" && err != nil || want != "" && (!errors.As(err, &refused) || !strings.Contains(refused.Why, want)) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	if f := fact(); f.Grade != Problem || !strings.Contains(f.Says, "has no file .github/workflows/runner.yml") {
		t.Errorf("%+v", f)
	}
	start("has no such file")
	commit := func(text string) {
		t.Helper()
		must[string](t)(s.CommitFiles(owner, runner.Name, "main", "x", map[string]string{".github/workflows/runner.yml": text}))
	}
	commit("on: push\n")
	if f := fact(); f.Grade != Problem || !strings.Contains(f.Advice, "Add the trigger workflow_dispatch") {
		t.Errorf("%+v", f)
	}
	start("cannot be started")
	commit("on: {workflow_dispatch: {}}\n")
	start("Unexpected inputs provided")
	commit("on: {workflow_dispatch: {inputs: {request: {type: string}}}}\n")
	if f := fact(); f.Grade != OK {
		t.Errorf("%+v", f)
	}
	start("")
	got := s.Dispatches(owner, runner.Name)
	if open, _ := s.AppTokens(); len(got) != 1 || got[0].Ref != "main" || got[0].Inputs["request"] != "x" || open > 1 {
		t.Errorf("%+v, %d tokens", got, open)
	}
	s.Grant(installationID, fake.Permissions{"actions": "read", "contents": "write", "issues": "write"})
	if f := fact(); f.Grade != Problem || !strings.Contains(f.Says, "actions: write") {
		t.Errorf("%+v", f)
	}
	start("Actions: write")
	s.Grant(installationID, nil)
	s.SetPrivate(owner, runner.Name, false)
	if f := fact(); f.Grade != Problem || !strings.Contains(f.Says, "is public") {
		t.Errorf("%+v", f)
	}
	start("is public")
}
