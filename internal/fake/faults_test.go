package fake_test

import (
	"testing"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/fake"
)

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
