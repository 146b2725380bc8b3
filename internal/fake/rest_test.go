package fake_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/fake"
)

func TestTooLongComment(t *testing.T) {
	s := newScene(t)
	n := s.AddIssue(owner, name, fake.Issue{Title: "t"})
	c := s.client(actions)
	write := func(size int) error {
		_, _, err := c.Issues.CreateComment(s.ctx, owner, name, n,
			&github.IssueComment{Body: github.String(strings.Repeat("ü", size))})
		return err
	}
	check(t, write(65536))
	var refused *github.ErrorResponse
	if err := write(65537); !errors.As(err, &refused) || refused.Response.StatusCode != 422 ||
		!strings.Contains(refused.Error(), "too long") {
		t.Errorf("a comment of 65537 characters: %v, want 422", err)
	}
	equal(t, "comments", len(s.Comments(owner, name, n)), 1)
}
