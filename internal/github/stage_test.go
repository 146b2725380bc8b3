package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/fake/contract"
)

const (
	owner, name = "alice", "demo"
	jobToken    = "ghs_job"
	aliceToken  = "ghp_alice"
)

// stage is a stand-in with one repository that has a commit, under GitHub's own description.
type stage struct {
	*fake.GitHub
	t      *testing.T
	sha    string
	log    []string
	slept  []time.Duration
	logged sync.Mutex
	known  string // a part of the problems that the test makes on purpose
}

func newStage(t *testing.T, wraps ...func(http.Handler) http.Handler) *stage {
	t.Helper()
	return stageOf(t, fake.Options{}, wraps...)
}

func stageOf(t *testing.T, o fake.Options, wraps ...func(http.Handler) http.Handler) *stage {
	t.Helper()
	checker, err := contract.Load()
	noError(t, err)
	o.Wrap = func(h http.Handler) http.Handler {
		h = checker.Wrap(h)
		for _, wrap := range wraps {
			h = wrap(h)
		}
		return h
	}
	s := start(t, o)
	t.Cleanup(func() {
		for _, v := range checker.Violations() {
			t.Errorf("GitHub: %s", v)
		}
	})
	return s
}

// bareStage has no checker: for very many calls.
func bareStage(t *testing.T) *stage {
	t.Helper()
	return start(t, fake.Options{})
}

func start(t *testing.T, o fake.Options) *stage {
	t.Helper()
	o.Dir = t.TempDir()
	gh, err := fake.New(o)
	noError(t, err)
	s := &stage{GitHub: gh, t: t}
	t.Cleanup(func() {
		gh.Close()
		for _, p := range gh.Problems() {
			if s.known == "" || !strings.Contains(p, s.known) {
				t.Errorf("GitHub: %s", p)
			}
		}
	})
	noError(t, gh.AddRepo(owner, name, "main"))
	gh.SetPermission(owner, name, "alice", "admin")
	gh.AddToken(jobToken, "", fake.Actions)
	gh.AddToken(aliceToken, "alice", fake.PAT)
	s.sha = s.commit("main", "README.md", "demo\n")
	return s
}

func (s *stage) commit(branch, path, text string) string {
	s.t.Helper()
	sha, err := s.CommitFiles(owner, name, branch, "seed", map[string]string{path: text})
	noError(s.t, err)
	return sha
}

// pull is a pull request from a branch of its own.
func (s *stage) pull(branch string) int {
	s.t.Helper()
	s.commit(branch, "a.go", "package a // "+branch+"\n")
	return s.AddPull(owner, name, fake.Pull{Title: "P", Author: "alice", Head: branch})
}

// server is where the stage is; its log and its waiting are kept.
func (s *stage) server() Server {
	return Server{APIURL: s.APIURL(), WebURL: s.URL(),
		Log: func(format string, args ...any) {
			s.logged.Lock()
			defer s.logged.Unlock()
			s.log = append(s.log, fmt.Sprintf(format, args...))
		},
		Sleep: func(ctx context.Context, d time.Duration) error {
			s.logged.Lock()
			defer s.logged.Unlock()
			s.slept = append(s.slept, d)
			return ctx.Err()
		}}
}

// client is one that never waits, with the job's token unless change says otherwise.
func (s *stage) client(change ...func(*Options)) *Client {
	s.t.Helper()
	o := Options{
		Server: s.server(), GraphQLURL: s.GraphQLURL(), Repo: event.Repo{Owner: owner, Name: name, DefaultBranch: "main"},
		Token: jobToken,
	}
	for _, c := range change {
		c(&o)
	}
	made, err := New(s.t.Context(), o)
	noError(s.t, err)
	return made
}

func as(token string) func(*Options) { return func(o *Options) { o.Token = token } }

func dry(o *Options) { o.DryRun = true }

// count is how many calls there were of a method and a part of a path.
func (s *stage) count(method, part string) int {
	n := 0
	for _, c := range s.Calls() {
		if c.Method == method && strings.Contains(c.Path, part) {
			n++
		}
	}
	return n
}

func (s *stage) said(part string) bool { return strings.Contains(strings.Join(s.log, "\n"), part) }

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		noError(t, err)
		return v
	}
}

// noError ends a test that cannot be made up.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fails holds an error to a part of its words, on one line.
func fails(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, want %q", err, want)
	}
}
