package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/fake/address"
)

// serving is ralph serve, with the App of a stand-in for GitHub.
type serving struct {
	testing.TB
	ralph   string // the program; "ralph" is the one of the tests
	hub     *fake.GitHub
	url     string
	dir     string
	environ []string
	process *exec.Cmd
	as      *syscall.Credential // nil: ourselves
	patient time.Duration       // for how long until waits; two minutes if 0
}

// newHub is a stand-in for GitHub with the repository alice/demo.
func newHub(t testing.TB) *fake.GitHub {
	t.Helper()
	hub, err := fake.New(fake.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hub.Close)
	if err := hub.AddRepo("alice", "demo", "main"); err != nil {
		t.Fatal(err)
	}
	return hub
}

// addresses are a stand-in's as GitHub gives them to jobs.
func addresses(hub *fake.GitHub) []string {
	return []string{"GITHUB_API_URL=" + hub.APIURL(), "GITHUB_SERVER_URL=" + hub.URL(), "GITHUB_GRAPHQL_URL=" + hub.GraphQLURL()}
}

// turnOfAgent is an agent that works after as many seconds as the file wait says, and counts its turns.
const turnOfAgent = `#!/bin/sh
cat >/dev/null; echo x >>DIR/turns; sleep "$(cat DIR/wait)"; echo x > new.txt
echo '<response>DONE</response>'
`

// newServing makes a repository with an App and an agent.
func newServing(t testing.TB) *serving {
	t.Helper()
	dir := t.TempDir()
	for at := dir; at != os.TempDir() && at != "/"; at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil { // the agent may be another user
			t.Fatal(err)
		}
	}
	hub := newHub(t)
	at, err := address.Free()
	if err != nil {
		t.Fatal(err)
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	private := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	s := &serving{TB: t, ralph: "ralph", hub: hub, url: "http://" + at, dir: dir}
	agent := s.write("agent", strings.ReplaceAll(turnOfAgent, "DIR", dir), 0o755)
	s.write("wait", "0", 0o644)
	s.write("turns", "", 0o666)
	if _, err := hub.CommitFiles("alice", "demo", "main", "begin", map[string]string{
		"Makefile": "test:\n\ttest -e new.txt\n", ".ralph/settings.json": `{"agent": {"command": "` + agent +
			`"}, "sandbox": "off", "guardrails": [{"command": "make test"}], "review": false}`}); err != nil {
		t.Fatal(err)
	}
	hub.AddApp(fake.App{ID: 7, Slug: "ralph", Owner: "alice", InstallationID: 70, Key: &key.PublicKey,
		Hook: fake.Hook{URL: s.url + "/webhook", Secret: "made-up-secret"},
		OAuth: fake.OAuth{ClientID: "Iv1", ClientSecret: "made-up-client-secret",
			Callbacks: []string{s.url + "/sign-in/callback"}},
		Events: []string{"issues", "issue_comment", "pull_request", "workflow_run"}})
	s.environ = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"),
		"RALPH_ALLOW=" + s.allow(`{"*": {"agents": ["`+agent+`"], "sandbox": "off"}}`), "RALPH_APP_ID=7",
		"RALPH_APP_PRIVATE_KEY=" + strings.ReplaceAll(string(private), "\n", `\n`), "RALPH_WEBHOOK_SECRET=made-up-secret",
		"RALPH_CLIENT_ID=Iv1", "RALPH_CLIENT_SECRET=made-up-client-secret"}
	s.environ = append(s.environ, addresses(hub)...)
	return s
}

// write makes a file beside the data, and returns its path.
func (s *serving) write(name, text string, mode os.FileMode) string {
	s.Helper()
	path := filepath.Join(s.dir, name)
	put(s, path, text, mode)
	return path
}

// put makes a file with the directories above it. Its mode is that for every user: the agent may be another one.
func put(t testing.TB, path, text string, mode os.FileMode) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode),
		os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
}

// turns is how many turns the agent has begun.
func (s *serving) turns() int {
	text, _ := os.ReadFile(filepath.Join(s.dir, "turns"))
	return strings.Count(string(text), "x")
}

// ready is how many pull requests of a repository are ready.
func (s *serving) ready(repository string) (n int) {
	for _, p := range s.hub.Pulls("alice", repository) {
		if !p.Draft {
			n++
		}
	}
	return n
}

// delivers waits for the one pull request.
func (s *serving) delivers() {
	s.Helper()
	s.until("a pull request that is ready", func() bool { return s.ready("demo") > 0 })
	if pulls := s.hub.Pulls("alice", "demo"); len(pulls) != 1 {
		s.Errorf("the pull requests are %+v", pulls)
	}
}

// understood fails for each call that GitHub would not have understood.
func (s *serving) understood() {
	s.Helper()
	for _, problem := range s.hub.Problems() {
		s.Errorf("GitHub: %s", problem)
	}
}

// stop ends the server as the system does.
func (s *serving) stop() {
	s.Helper()
	_ = s.process.Process.Signal(syscall.SIGTERM)
	if err := s.process.Wait(); err != nil {
		s.Errorf("SIGTERM ended it with %v\n%s", err, s.log())
	}
}

// start starts a server that has an App, and waits until it is ready.
func (s *serving) start() {
	s.Helper()
	if line, err := s.begin().ReadString('\n'); err != nil || line != "ralph serves "+s.url+"\n" {
		s.Fatalf("it said %q, %v\n%s", line, err, s.log())
	}
}

// startNew starts a server that has none, and is the address of its setup.
func (s *serving) startNew() string {
	s.Helper()
	out := s.begin()
	for range 3 {
		line, err := out.ReadString('\n')
		if err != nil {
			s.Fatalf("%v\n%s", err, s.log())
		}
		if line = strings.TrimSpace(line); strings.HasPrefix(line, s.url+"/setup/code?code=") {
			return line
		}
	}
	s.Fatal("it names no address of a setup")
	return ""
}

func (s *serving) begin(args ...string) *bufio.Reader {
	s.Helper()
	s.process = exec.Command(s.ralph, append([]string{"serve", "--listen", strings.TrimPrefix(s.url, "http://"), "--data",
		filepath.Join(s.dir, "data"), "--log-text"}, args...)...)
	s.process.Env, s.process.SysProcAttr = s.environ, &syscall.SysProcAttr{Credential: s.as}
	out, err := s.process.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		s.Fatal(err)
	}
	defer log.Close()
	s.process.Stderr = log
	if err := s.process.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(s.kill)
	return bufio.NewReader(out)
}

func (s *serving) kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

func (s *serving) log() string {
	text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return string(text)
}

// label asks for a run of a new issue.
func (s *serving) label(title string) int {
	issue := s.hub.AddIssue("alice", "demo", fake.Issue{Title: title, Body: "It is missing.", Author: "alice"})
	s.hub.Label("alice", "demo", issue, "ralph", "alice")
	return issue
}

// until waits for something.
func (s *serving) until(what string, is func() bool) {
	s.Helper()
	for begun := time.Now(); !is(); time.Sleep(50 * time.Millisecond) {
		if limit := cmp.Or(s.patient, 2*time.Minute); time.Since(begun) > limit {
			s.Fatalf("%s: not within %s\n%s", what, limit, s.log())
		}
	}
}

// turning reports whether the agent works.
func (s *serving) turning() bool { return s.works(filepath.Join(s.dir, "agent")) }

// works reports whether a process has a text in its command.
func (s *serving) works(text string) bool {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	return slices.ContainsFunc(files, func(file string) bool {
		command, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(command), text)
	})
}

func (s *serving) get(path string) string {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return string(text)
}

// TestServe: a label on GitHub becomes a pull request, and nobody sees anything of it who has not signed in. A place of
// the server's environment is told how the run ended; neither the process of the job nor its agent has its address.
func TestServe(t *testing.T) {
	t.Parallel()
	s := newServing(t)
	told := make(chan []byte, 10)
	place := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		told <- text
	}))
	t.Cleanup(place.Close)
	seen := s.write("seen", "", 0o666)
	s.write("agent", "#!/bin/sh\ncat >/dev/null; env > "+seen+"; echo x > new.txt\necho '<response>DONE</response>'\n", 0o755)
	s.environ = append(s.environ, "RALPH_NOTIFY_TEAM="+place.URL+"/made-up-address")
	s.start()
	if got := s.get("/readyz"); !strings.Contains(got, `"ready":true`) {
		t.Errorf("it is not ready: %s", got)
	}
	s.label("Add new.txt")
	var jobs []string // environments of processes of jobs
	s.until("somebody is told", func() bool {
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range files {
			words, _ := os.ReadFile(file)
			if strings.HasSuffix(string(words), "ralph\x00work\x00") {
				environ, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "environ"))
				jobs = append(jobs, string(environ))
			}
		}
		return len(told) > 0
	})
	var m struct{ Kind, Repository, Page string }
	if err := json.Unmarshal(<-told, &m); err != nil || m.Kind != "done" || m.Repository != "alice/demo" ||
		!strings.HasPrefix(m.Page, s.url+"/runs/") || len(told) > 0 {
		t.Errorf("%v: %+v, and %d more", err, m, len(told))
	}
	environ, err := os.ReadFile(seen)
	if err != nil || len(environ) == 0 || strings.Contains(string(environ), "RALPH_NOTIFY") {
		t.Errorf("the agent has %s, %v", environ, err)
	}
	if len(jobs) == 0 || strings.Contains(strings.Join(jobs, ""), "made-up-address") {
		t.Errorf("of %d looks at jobs, one found the address", len(jobs))
	}
	s.delivers()
	s.until("the run's end in the metrics, and no job that runs", func() bool {
		got := s.get("/metrics")
		return strings.Contains(got, `ralph_runs_total{outcome="done"} 1`) &&
			strings.Contains(got, `ralph_deliveries_total{result="taken"}`) &&
			strings.Contains(got, `ralph_jobs{state="running"} 0`)
	})
	if got := s.get("/"); strings.Contains(got, "new.txt") || !strings.Contains(got, "Sign in") {
		t.Errorf("somebody who has not signed in sees\n%s", got)
	}
	s.understood()
	s.stop()
	for _, text := range []string{"Received signal", "made-up-secret", "PRIVATE KEY", "made-up-address"} {
		if log := s.log(); strings.Contains(log, text) {
			t.Errorf("%s is in the log:\n%s", text, log)
		}
	}
}

// TestServeStops: a run stops for a button of its page.
func TestServeStops(t *testing.T) {
	t.Parallel()
	s := newServing(t)
	s.write("wait", "600", 0o644)
	s.start()
	s.label("Add new.txt")
	alice := signedIn(t, s, "alice", "/")
	s.until("a turn", s.turning)
	alice.open(s.url + "/")
	run := link(t, alice.page, "/runs/")
	alice.open(s.url + run)
	alice.sees(200, []string{"Stop"})
	alice.submit("/stop", nil)
	s.until("the end of the run", func() bool {
		return strings.Contains(s.get("/metrics"), `ralph_runs_total{outcome="interrupted"} 1`)
	})
	alice.open(s.url + run)
	alice.sees(200, []string{"Interrupted after 1 iteration (without a sandbox): asked to stop by alice"})
	alice.open(s.url + "/audit")
	alice.sees(200, []string{"alice", "stop"})
}

// TestServeIsKilled: what a killed server has begun, the next one ends, with one pull request.
func TestServeIsKilled(t *testing.T) {
	t.Parallel()
	s := newServing(t)
	s.write("wait", "600", 0o644)
	s.start()
	s.label("Add new.txt")
	s.until("a run", func() bool { return strings.Contains(s.get("/metrics"), `ralph_jobs{state="running"} 1`) })
	s.until("a turn", s.turning)
	second := exec.Command("ralph", "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(s.dir, "data"))
	second.Env = s.environ
	if out, err := second.CombinedOutput(); err == nil || !strings.Contains(string(out), "is in use by another process: one ralph "+
		"serve at a time can have it. Stop the other one, or name another directory with --data") {
		t.Errorf("a second server on the same data: %v\n%s", err, out)
	}
	s.kill()
	s.write("wait", "0", 0o644)
	s.start()
	s.delivers()
	s.until("the tokens of both jobs are revoked", func() bool {
		_, revoked := s.hub.AppTokens()
		return revoked == 2
	})
}
