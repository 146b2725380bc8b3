package fake_test

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/fake/contract"
)

const (
	owner, name = "alice", "demo"
	pat         = "ghp_alice"
	actions     = "ghs_actions"
)

// scene is a stand-in with one repository that holds a commit on main, under a contract checker.
type scene struct {
	*fake.GitHub
	t       *testing.T
	ctx     context.Context
	checker *contract.Checker
	// wantProblems are beginnings of the problems that a test causes on purpose; any other fails it.
	wantProblems []string
}

func newScene(t *testing.T) *scene {
	t.Helper()
	checker, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	g, err := fake.New(fake.Options{Dir: t.TempDir(), Wrap: checker.Wrap})
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{GitHub: g, t: t, ctx: context.Background(), checker: checker}
	t.Cleanup(s.end)
	if err := g.AddRepo(owner, name, "main"); err != nil {
		t.Fatal(err)
	}
	if _, err := g.CommitFiles(owner, name, "main", "begin", map[string]string{"README.md": "demo\n"}); err != nil {
		t.Fatal(err)
	}
	g.AddToken(pat, owner, fake.PAT)
	g.AddToken(actions, "", fake.Actions)
	return s
}

func (s *scene) end() {
	s.Close()
	got := s.Problems()
	for i, p := range got {
		if i >= len(s.wantProblems) || !strings.HasPrefix(p, s.wantProblems[i]) {
			s.t.Errorf("unexpected problem: %s", p)
		}
	}
	if len(got) < len(s.wantProblems) {
		s.t.Errorf("problems are %q, want %q", got, s.wantProblems)
	}
	if len(s.wantProblems) > 0 {
		return // what is a problem to the stand-in breaks the contract too
	}
	for _, v := range s.checker.Violations() {
		s.t.Errorf("contract: %s", v)
	}
}

// client is a real client with a token.
func (s *scene) client(token string) *github.Client {
	s.t.Helper()
	// A transport of its own, so that a connection is not shared with another test's server on the same port.
	transport := &http.Transport{}
	s.t.Cleanup(transport.CloseIdleConnections)
	c, err := github.NewClient(&http.Client{Transport: transport,
		Timeout: 10 * time.Second}).WithAuthToken(token).WithEnterpriseURLs(s.URL(), s.URL())
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// git runs git as a caller would, with nobody's configuration.
func (s *scene) git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"LC_ALL=C",
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (s *scene) mustGit(dir string, args ...string) string {
	s.t.Helper()
	out, err := s.git(dir, args...)
	if err != nil {
		s.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
