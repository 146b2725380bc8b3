package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/launch"
	"github.com/ralph-loop/ralph/internal/loop"
	jobs "github.com/ralph-loop/ralph/internal/work"
)

// oneToken gives a job its only token; hearing counts what it tells.
type (
	oneToken struct{ hub *fake.GitHub }
	hearing  struct {
		records int
		output  strings.Builder
	}
)

func (oneToken) Make(context.Context) (jobs.Token, error) {
	return jobs.Token{Value: writerToken, Ends: time.Now().Add(time.Hour)}, nil
}

func (o oneToken) Revoke(_ context.Context, token string) error {
	o.hub.RevokeToken(token)
	return nil
}

func (h *hearing) Hear(_ context.Context, _ *launch.Running, told []jobs.ToServer, _ int64) ([]jobs.Word, error) {
	for _, m := range told {
		if h.output.WriteString(m.Output); m.Record != nil {
			h.records++
		}
	}
	return nil, nil
}

// TestWork: the command that a server starts takes a label to a pull request.
func TestWork(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for at := dir; at != os.TempDir() && at != "/"; at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil { // the agent may be another user
			t.Fatal(err)
		}
	}
	hub, err := fake.New(fake.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer hub.Close()
	hub.AddUser("ralph[bot]", true)
	if err := hub.AddRepo("alice", "demo", "main"); err != nil {
		t.Fatal(err)
	}
	hub.SetPermission("alice", "demo", "ralph[bot]", "write")
	hub.AddToken(writerToken, "ralph[bot]", fake.Installation)
	if _, err := hub.CommitFiles("alice", "demo", "main", "begin", map[string]string{"Makefile": "test:\n\ttest -e new.txt\n",
		".ralph/settings.json": `{"guardrails": [{"command": "make test"}], "review": false}`}); err != nil {
		t.Fatal(err)
	}
	issue := hub.AddIssue("alice", "demo", fake.Issue{Title: "Add new.txt", Body: "It is missing.", Author: "alice"})
	hub.Label("alice", "demo", issue, "ralph", "alice")
	agent := filepath.Join(dir, "agent")
	if err := os.WriteFile(agent, []byte("#!/bin/sh\ncat >/dev/null; echo x > new.txt; echo '<response>DONE</response>'\n"),
		0o755); err != nil { // said above
		t.Fatal(err)
	}
	program, err := exec.LookPath("ralph")
	if err != nil {
		t.Fatal(err)
	}
	by := &launch.Process{Clock: now, Program: program, Environ: os.Environ(), Log: t.Logf}
	heard := &hearing{}
	running, err := by.Start(t.Context(), launch.Job{Tokens: oneToken{hub}, Hear: heard, Order: jobs.Order{Job: "one",
		Attempt: 1, Page: "https://ralph.example/jobs/one", Event: "issues",
		Payload:    json.RawMessage(hub.LabeledPayload("alice", "demo", issue, "ralph", "alice")),
		Repository: "alice/demo", GitHub: jobs.GitHub{Server: hub.URL(), API: hub.APIURL(), GraphQL: hub.GraphQLURL(),
			Login: "ralph[bot]"},
		Inputs: map[string]string{"agent": agent}, Environ: []string{"RALPH_SANDBOX=off"},
		Allow:   config.Allowance{Agents: []string{agent}, Sandbox: config.Off},
		Machine: jobs.Machine{Workspace: filepath.Join(dir, "work")}}})
	if err != nil {
		t.Fatal(err)
	}
	end, err := running.Wait()
	if err != nil || end.Outcome != loop.Done || end.Problem != "" || len(hub.Pulls("alice", "demo")) != 1 ||
		heard.records < 5 {
		t.Errorf("the job ended %+v, %v, with %d records and the pull requests %v\n%s", end, err, heard.records,
			hub.Pulls("alice", "demo"), heard.output.String())
	}
}

// TestWorkByHand: nobody but a server gets anything of the command.
func TestWorkByHand(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("ralph", "work").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "only ralph serve starts this command") {
		t.Errorf("%v: %s", err, out)
	}
}
