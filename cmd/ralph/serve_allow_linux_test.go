package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake"
)

// allow makes the file of what accounts may have.
func (s *serving) allow(text string) string {
	s.Helper()
	return s.write("allow.json", text, 0o600)
}

// settings changes the settings of the repository.
func (s *serving) settings(text string) {
	s.Helper()
	if _, err := s.hub.CommitFiles("alice", "demo", "main", "settings",
		map[string]string{".ralph/settings.json": text}); err != nil {
		s.Fatal(err)
	}
}

// TestServeAllows: a repository that asks for what is not allowed is told so, and no turn is paid; one that asks for
// more iterations than are allowed gets what is allowed, and its page says so.
func TestServeAllows(t *testing.T) {
	t.Parallel()
	s := newServing(t)
	agent := filepath.Join(s.dir, "agent")
	own := `{"agent": {"command": "` + agent + `"}, "sandbox": "off", "guardrails": [{"command": "make test"}], ` +
		`"review": false, "maximumIterations": 90}`
	s.settings(own)
	s.environ = append(s.environ, "RALPH_ALLOW="+s.allow(`{"alice": {"agents": ["claude"], "sandbox": "off", "maximumIterations": 4}}`))
	s.start()
	issue := s.label("Add new.txt")
	want := `.ralph/settings.json: agent.command is "` + agent + `"; this server allows claude.`
	s.until("an answer", func() bool { return len(s.hub.Comments("alice", "demo", issue)) > 0 })
	if got := s.hub.Comments("alice", "demo", issue); len(got) != 1 || !strings.Contains(got[0].Body, want) {
		t.Errorf("the issue is told %+v, want %s", got, want)
	}
	if s.turns() > 0 || len(s.hub.Pulls("alice", "demo")) > 0 {
		t.Error("it was worked on")
	}
	s.kill()
	s.allow(`{"alice": {"agents": ["` + agent + `"], "sandbox": "off", "maximumIterations": 4}}`)
	s.start()
	s.hub.AddComment("alice", "demo", issue, fake.Comment{Author: "alice", Body: "/ralph run"})
	s.delivers()
	alice := signedIn(t, s, "alice", "/repositories/alice/demo")
	alice.sees(200, []string{"allowed by this installation", "maximumIterations is 90; this server allows 4."})
}

// job runs the job of a workflow that was dispatched, as a runner does.
func (s *serving) job(d fake.Dispatched) (string, error) {
	s.Helper()
	s.hub.AddToken("ghs_of.the-job0123456789", "", fake.Actions)
	payload := s.write("event.json", string(s.hub.DispatchPayload("alice", "demo", d.Sender, d.Inputs)), 0o600)
	job := exec.Command("ralph", "action")
	job.Env = append(addresses(s.hub), "GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME=workflow_dispatch", "GITHUB_EVENT_PATH="+payload,
		"GITHUB_REPOSITORY=alice/demo", "GITHUB_OUTPUT="+filepath.Join(s.dir, "output"),
		"GITHUB_STEP_SUMMARY="+filepath.Join(s.dir, "summary"), "GITHUB_RUN_ID=77", "GITHUB_RUN_ATTEMPT=1",
		"GITHUB_WORKSPACE="+s.dir, "GITHUB_TRIGGERING_ACTOR="+d.Sender, "RALPH_WORKSPACE="+s.dir,
		"INPUT_GITHUB_TOKEN=ghs_of.the-job0123456789", "INPUT_REQUEST="+d.Inputs["request"],
		"PATH="+os.Getenv("PATH"), "HOME="+s.dir)
	out, err := job.CombinedOutput()
	return string(out), err
}

// TestServeDispatches: where the installation allows nothing but the repositories' own workflows, a label starts one, and
// the server does not work. What nobody asks for is dispatched as well.
func TestServeDispatches(t *testing.T) {
	t.Parallel()
	s := newServing(t)
	s.environ = append(s.environ, "RALPH_ALLOW="+s.allow(`{"*": {"launchers": ["workflow"]}}`))
	s.start()
	early := s.label("Nobody works on this")
	s.until("somebody is told that there is no workflow", func() bool {
		told := s.hub.Comments("alice", "demo", early)
		return len(told) > 0 && strings.Contains(told[0].Body, "The workflow ralph.yml does not exist")
	})
	workflow, err := os.ReadFile("../../examples/app/ralph.yml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.hub.CommitFiles("alice", "demo", "main", "a workflow",
		map[string]string{".github/workflows/ralph.yml": string(workflow)}); err != nil {
		t.Fatal(err)
	}
	issue := s.label("Add new.txt")
	s.until("a dispatch", func() bool { return len(s.hub.Dispatches("alice", "demo")) > 0 })
	got := s.hub.Dispatches("alice", "demo")
	if want := fmt.Sprintf("label:%d:ralph", issue); len(got) != 1 || got[0].Workflow != "ralph.yml" ||
		got[0].Inputs["request"] != want || got[0].Sender != "ralph[bot]" {
		t.Errorf("dispatched %+v, want ralph.yml with %s", got, want)
	}
	s.until("the end of the job", func() bool { return strings.Contains(s.get("/metrics"), `ralph_jobs{state="running"} 0`) })
	alice := signedIn(t, s, "alice", "/")
	s.until("the page of the run", func() bool {
		alice.open(s.url + "/repositories/alice/demo")
		return strings.Contains(alice.page, "handed to the workflow ralph.yml") && !strings.Contains(alice.page, "has not answered yet")
	})
	alice.sees(200, []string{"allowed by this installation", "Dispatched"})
	if pulls := s.hub.Pulls("alice", "demo"); len(pulls) > 0 || len(s.hub.Comments("alice", "demo", issue)) > 0 {
		t.Errorf("the server has worked: %+v", pulls)
	}
	if out, err := s.job(got[0]); err != nil {
		t.Fatalf("the workflow's job: %v\n%s", err, out)
	}
	if pulls := s.hub.Pulls("alice", "demo"); len(pulls) != 1 || pulls[0].Draft {
		t.Errorf("the workflow has made %+v, want one pull request that is ready", pulls)
	}
	s.settings(`{"ciGate": "wait"}`)
	branch := fmt.Sprintf("ralph/issue-%d", issue)
	ci, _ := s.hub.AddWorkflowRun("alice", "demo", fake.WorkflowRun{Name: "CI", Branch: branch,
		SHA: s.hub.BranchSHA("alice", "demo", branch), Conclusion: "success"})
	if err := s.hub.Deliver("alice", "demo", "workflow_run", s.hub.WorkflowRunPayload("alice", "demo", ci)); err != nil {
		t.Fatal(err)
	}
	s.until("another dispatch", func() bool { return len(s.hub.Dispatches("alice", "demo")) > 1 })
	ended := s.hub.Dispatches("alice", "demo")[1]
	sweep := ended
	sweep.Inputs = map[string]string{"request": "sweep"}
	for want, d := range map[string]fake.Dispatched{"does not wait for other workflows": ended, "no run was left behind": sweep} {
		if out, err := s.job(d); err != nil || !strings.Contains(out, want) {
			t.Errorf("the job of %s: %v\n%s", d.Inputs["request"], err, out)
		}
	}
	s.understood()
}
