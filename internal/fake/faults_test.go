package fake_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/fake"
)

func TestFaultStatus(t *testing.T) {
	s := newScene(t)
	n := s.AddIssue(owner, name, fake.Issue{Title: "t"})
	c := s.client(actions)
	write := func() int {
		_, resp, _ := c.Issues.CreateComment(s.ctx, owner, name, n, &github.IssueComment{Body: github.String("x")})
		return status(resp)
	}
	for _, want := range []int{401, 403, 404, 422, 429, 500, 502, 503} {
		s.Fail(fake.Fault{Match: "POST /repos/.../issues/*/comments", Nth: 2, Times: 2, Status: want})
		for i, expect := range []int{201, want, want, 201} {
			if got := write(); got != expect {
				t.Errorf("fault %d, call %d: status %d, want %d", want, i+1, got, expect)
			}
		}
		s.ClearFaults()
	}
	s.Fail(fake.Fault{Match: "/repos/alice/demo", Times: -1, Status: 500})
	equal(t, "another path", write(), 201)
	for range 3 {
		_, resp, _ := c.Repositories.Get(s.ctx, owner, name)
		equal(t, "a fault for ever", status(resp), 500)
	}
	equal(t, "comments", len(s.Comments(owner, name, n)), 8*2+1)
}

func TestFaultLimits(t *testing.T) {
	s := newScene(t)
	get := func() error {
		_, _, err := s.client(actions).Repositories.Get(s.ctx, owner, name)
		return err
	}
	s.Fail(fake.Fault{SecondaryLimit: true, RetryAfter: 7})
	var secondary *github.AbuseRateLimitError
	if err := get(); !errors.As(err, &secondary) || secondary.GetRetryAfter() != 7*time.Second {
		t.Errorf("a secondary limit came as %v", err)
	}
	s.Fail(fake.Fault{RateLimited: true, RetryAfter: 90})
	var primary *github.RateLimitError
	if err := get(); !errors.As(err, &primary) || time.Until(primary.Rate.Reset.Time) < time.Minute {
		t.Errorf("a rate limit came as %v", err)
	}
	check(t, get())
}

func TestFaultConnection(t *testing.T) {
	s := newScene(t)
	n := s.AddIssue(owner, name, fake.Issue{Title: "t"})
	c := s.client(actions)
	write := func() error {
		_, _, err := c.Issues.CreateComment(s.ctx, owner, name, n, &github.IssueComment{Body: github.String("x")})
		return err
	}
	check(t, write())
	s.Fail(fake.Fault{Drop: true})
	if write() == nil {
		t.Error("a dropped call worked")
	}
	equal(t, "comments after a drop", len(s.Comments(owner, name, n)), 1)
	s.Fail(fake.Fault{DropAfter: true})
	if write() == nil {
		t.Error("a call with a lost answer worked")
	}
	equal(t, "comments after a lost answer", len(s.Comments(owner, name, n)), 2)

	// On a connection that was used before, Go's client repeats a GET that met a closed connection; a drop has to be seen
	// all the same.
	_, _, err := c.Repositories.Get(s.ctx, owner, name)
	check(t, err)
	s.ResetCalls()
	s.Fail(fake.Fault{Drop: true})
	if _, _, err := c.Repositories.Get(s.ctx, owner, name); err == nil {
		t.Error("a dropped GET worked")
	}
	equal(t, "calls", len(s.Calls()), 1)
	equal(t, "the dropped call's status", s.Calls()[0].Status, 0)

	s.Fail(fake.Fault{Delay: 50 * time.Millisecond})
	begin := time.Now()
	check(t, write())
	if took := time.Since(begin); took < 50*time.Millisecond {
		t.Errorf("a delayed call took %s", took)
	}
}
