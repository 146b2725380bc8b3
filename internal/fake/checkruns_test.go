package fake_test

import (
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/fake"
)

func TestCheckRunRefused(t *testing.T) {
	s := newScene(t)
	sha := s.branch("work")
	c := s.client(actions)
	_, resp, err := c.Checks.CreateCheckRun(s.ctx, owner, name,
		github.CreateCheckRunOptions{Name: "n", HeadSHA: strings.Repeat("a", 40)})
	if err == nil || status(resp) != 422 || !strings.Contains(err.Error(), "No commit found for SHA") {
		t.Errorf("another commit: %v, want 422", err)
	}
	equal(t, "runs", len(s.CheckRuns(owner, name, sha)), 0)
	_, resp, err = s.client(pat).Checks.CreateCheckRun(s.ctx, owner, name,
		github.CreateCheckRunOptions{Name: "n", HeadSHA: sha})
	if err == nil || status(resp) != 403 || !strings.Contains(err.Error(), "You must authenticate via a GitHub App.") {
		t.Errorf("a person's check run: %v, want 403", err)
	}
	foreign := s.AddCheckRun(owner, name, fake.CheckRun{Name: "ci", HeadSHA: sha, App: "circleci"})
	if _, resp, err := c.Checks.UpdateCheckRun(s.ctx, owner, name, foreign,
		github.UpdateCheckRunOptions{Name: "ci"}); err == nil || status(resp) != 403 {
		t.Errorf("another App's check run: %v, want 403", err)
	}
}
