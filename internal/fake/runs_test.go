package fake_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake"
)

func TestJobLog(t *testing.T) {
	s := newScene(t)
	sha := s.branch("work")
	n := s.AddPull(owner, name, fake.Pull{Title: "t", Head: "work"})
	id, jobs := s.AddWorkflowRun(owner, name, fake.WorkflowRun{
		Name: "CI", Event: "pull_request", Branch: "work", Conclusion: "failure",
		Jobs: []fake.Job{{Name: "test", Conclusion: "failure"}, {Name: "lint", Conclusion: "success"}},
	})
	s.SetJobLog(owner, name, jobs[0], "2026-01-01T00:00:00Z --- FAIL: TestAdd\n")
	c := s.client(actions)
	run, _, err := c.Actions.GetWorkflowRunByID(s.ctx, owner, name, id)
	check(t, err)
	equal(t, "head", run.GetHeadSHA(), sha)
	equal(t, "its pull request", run.PullRequests[0].GetNumber(), n)
	list, _, err := c.Actions.ListWorkflowJobs(s.ctx, owner, name, id, nil)
	check(t, err)
	equal(t, "jobs", list.GetTotalCount(), 2)
	equal(t, "a job's id is its check run's", s.CheckRuns(owner, name, sha)[0].ID, list.Jobs[0].GetID())

	address, _, err := c.Actions.GetWorkflowJobLogs(s.ctx, owner, name, jobs[0], 0)
	check(t, err)
	get := func(token string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(s.ctx, http.MethodGet, address.String(), nil)
		check(t, err)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := http.DefaultClient.Do(r)
		check(t, err)
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		check(t, err)
		return resp.StatusCode, string(raw)
	}
	code, text := get("")
	equal(t, "the log", fmt.Sprint(code, " ", text), "200 2026-01-01T00:00:00Z --- FAIL: TestAdd\n")
	code, _ = get(actions)
	equal(t, "with a token", code, 400)
	s.wantProblems = []string{"GET /_logs/"}
	if _, resp, err := c.Actions.GetWorkflowJobLogs(s.ctx, owner, name, jobs[1], 0); err == nil || status(resp) != 404 {
		t.Errorf("a job without a log: %v, want 404", err)
	}
}

// TestFollowedLog follows the way to a log with the token on: a client must not carry it to the other host.
func TestFollowedLog(t *testing.T) {
	s := newScene(t)
	job := s.AddCheckRun(owner, name, fake.CheckRun{Name: "test", HeadSHA: s.branch("work"), Conclusion: "failure"})
	s.SetJobLog(owner, name, job, "text")
	r, err := http.NewRequestWithContext(s.ctx, http.MethodGet,
		fmt.Sprintf("%s/repos/alice/demo/actions/jobs/%d/logs", s.APIURL(), job), nil)
	check(t, err)
	r.Header.Set("Authorization", "Bearer "+actions)
	resp, err := http.DefaultClient.Do(r)
	check(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	check(t, err)
	equal(t, "the log", string(raw), "text")
	one, _, err := s.client(actions).Actions.GetWorkflowJobByID(s.ctx, owner, name, job)
	check(t, err)
	equal(t, "the job's branch", one.GetHeadBranch(), "work")
}
