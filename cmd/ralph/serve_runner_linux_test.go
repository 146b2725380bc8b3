package main

import (
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake"
)

// runner plays the runners of the repository alice/runner, whose jobs are those of examples/app/runner/runner.yml.
type runner struct {
	*serving
	jobs atomic.Int64
	log  heard // what the jobs print
	ends chan error
}

func newRunner(s *serving) *runner {
	s.Helper()
	r := &runner{serving: s, ends: make(chan error, 10)}
	if err := s.hub.AddRepo("alice", "runner", "main"); err != nil {
		s.Fatal(err)
	}
	s.hub.SetPrivate("alice", "runner", true)
	s.hub.OnDispatch(func(_, _ string, d fake.Dispatched) { r.ends <- r.do(r.jobs.Add(1), d.Inputs["request"]) })
	return r
}

// as is a job of the workflow.
func (r *runner) as(number int64) fake.RunnerJob {
	return fake.RunnerJob{Owner: "alice", Name: "runner", Workflow: "runner.yml", Run: number}
}

// do runs the job of a request.
func (r *runner) do(number int64, request string) error {
	job := exec.Command(r.ralph, "action")
	job.Env = append(r.hub.JobEnviron(r.as(number)), "PATH="+os.Getenv("PATH"), "HOME="+r.dir, "INPUT_SERVER="+r.url, "INPUT_REQUEST="+request,
		"INPUT_GITHUB_TOKEN=ghs_of.the-runners-job0123456789", "GITHUB_REPOSITORY=alice/runner", "GITHUB_WORKSPACE="+r.dir,
		"RUNNER_TEMP="+r.dir)
	job.Stdout, job.Stderr = &r.log, &r.log
	job.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return job.Run()
}

// asks is what the server answers to somebody who wants a job.
func (r *runner) asks(request, token string) int {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, r.url+"/runners/"+request, nil)
	if err != nil {
		r.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// TestServeRunner: a label becomes a pull request by a job of the runner repository. Nobody else gets the job, its agent
// has nothing of the runner's environment, its log tells nothing of what it is for, and a server that is killed, or
// ended, in the middle of a turn costs no turn.
func TestServeRunner(t *testing.T) {
	t.Parallel()
	s := newServing(t)
	r := newRunner(s)
	environ := s.write("environ", "", 0o666)
	s.write("agent", strings.ReplaceAll("#!/bin/sh\ncat >/dev/null; env >> DIR/environ; echo x >> DIR/turns\n"+
		"while [ ! -e DIR/go ]; do sleep 0.1; done\necho x > new.txt; echo '<response>DONE</response>'\n", "DIR", s.dir), 0o755)
	start := func() {
		t.Helper()
		if _, err := s.begin("--runner", "alice/runner", "--operators", "alice").ReadString('\n'); err != nil {
			t.Fatalf("%v\n%s", err, s.log())
		}
	}
	start()
	issue := s.label("Add new.txt")
	s.until("somebody is told that there is no workflow", func() bool {
		told := s.hub.Comments("alice", "demo", issue)
		return len(told) > 0 && strings.Contains(told[0].Body, "The workflow runner.yml does not exist")
	})
	workflow, err := os.ReadFile("../../examples/app/runner/runner.yml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.hub.CommitFiles("alice", "runner", "main", "a workflow",
		map[string]string{".github/workflows/runner.yml": string(workflow)}); err != nil {
		t.Fatal(err)
	}
	s.hub.AddComment("alice", "demo", issue, fake.Comment{Author: "alice", Body: "/ralph run"})
	s.until("a turn", func() bool { return s.turns() == 1 })
	request := s.hub.Dispatches("alice", "runner")[0].Inputs["request"]
	elsewhere := r.as(9)
	elsewhere.Ref = "refs/heads/mine"
	for what, got := range map[string][2]int{
		"a forged request":             {r.asks("forged", s.hub.JobToken(r.as(9), s.url)), http.StatusNotFound},
		"a workflow of another branch": {r.asks(request, s.hub.JobToken(elsewhere, s.url)), http.StatusForbidden},
		"a token that is for others":   {r.asks(request, s.hub.JobToken(r.as(1), "https://other.example")), http.StatusForbidden},
		"a second job of the request":  {r.asks(request, s.hub.JobToken(r.as(9), s.url)), http.StatusConflict},
		"no token of GitHub Actions":   {r.asks(request+"/order", "forged"), http.StatusForbidden},
	} {
		if got[0] != got[1] {
			t.Errorf("%s is answered with %d, want %d", what, got[0], got[1])
		}
	}
	connected := func() int { return strings.Count(s.log(), "a runner has connected") }
	s.kill()
	start()
	s.until("the runner again", func() bool { return connected() == 2 })
	s.stop()
	start()
	s.until("the runner once more", func() bool { return connected() == 3 })
	s.write("go", "", 0o644)
	s.delivers()
	if err := <-r.ends; err != nil || s.turns() != 1 || r.jobs.Load() != 1 {
		t.Errorf("the job ended with %v, after %d turns in %d jobs\n%s", err, s.turns(), r.jobs.Load(), r.log.String())
	}
	got, _ := os.ReadFile(environ)
	if found := regexp.MustCompile(`(?m)^(ACTIONS_|INPUT_).*|.*ghs_.*`).FindString(string(got)); found != "" || len(got) == 0 {
		t.Errorf("the agent has %q of\n%s", found, got)
	}
	if said := r.log.String(); !strings.Contains(said, "This job works for "+s.url) ||
		regexp.MustCompile(`demo|new\.txt|issue`).MatchString(said) {
		t.Errorf("the job's log is\n%s", said)
	}
	alice := signedIn(t, s, "alice", "/")
	alice.open(s.url + "/setup")
	alice.sees(200, []string{"alice/runner is private and has .github/workflows/runner.yml on the branch main"})
	s.hub.OnDispatch(func(string, string, fake.Dispatched) {}) // no runner is free
	s.label("Add other.txt")
	s.until("a run that waits for a runner", func() bool {
		alice.open(s.url + "/")
		return strings.Contains(alice.page, "waits for a runner")
	})
	run := link(t, alice.page, "/runs/")
	alice.open(s.url + run)
	alice.submit("/stop", nil)
	s.until("its end", func() bool {
		alice.open(s.url + run)
		return strings.Contains(alice.page, "stopped by alice before it started")
	})
	started := s.hub.Dispatches("alice", "runner")
	request = started[len(started)-1].Inputs["request"]
	if got := r.asks(request, s.hub.JobToken(r.as(20), s.url)); got != http.StatusGone {
		t.Errorf("the runner that comes late is answered with %d", got)
	}
	s.understood()
}
