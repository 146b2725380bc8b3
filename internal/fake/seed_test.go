package fake_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/fake"
)

func TestSeeds(t *testing.T) {
	s := newScene(t)
	n := s.AddIssue(owner, name, fake.Issue{Title: "t", Labels: []string{"ralph"}})
	s.Label(owner, name, n, "RALPH", "mallory") // on already: nothing happens
	s.Unlabel(owner, name, n, "ralph", "mallory")
	s.EditIssue(owner, name, n, "new title", "new body")
	id := s.AddComment(owner, name, n, fake.Comment{Author: "mallory", Body: "before"})
	s.EditComment(owner, name, id, "after")
	s.CloseIssue(owner, name, n)
	s.AddPull(owner, name, fake.Pull{Title: "p", Head: "main", State: "closed", Merged: true})

	is, _, err := s.client(pat).Issues.Get(s.ctx, owner, name, n)
	check(t, err)
	equal(t, "state", is.GetState(), "closed")
	equal(t, "text", is.GetTitle()+", "+is.GetBody(), "new title, new body")
	equal(t, "comments", is.GetComments(), 1)
	equal(t, "the comment", s.Comments(owner, name, n)[0].Body, "after")
	events := s.LabelEvents(owner, name, n)
	equal(t, "label events", len(events), 2)
	equal(t, "the last one", fmt.Sprintf("%t %s", events[1].Removed, events[1].Actor), "true mallory")
	all := s.Issues(owner, name)
	equal(t, "issues and pull requests", len(all), 2)
	equal(t, "the second is a pull request", all[1].Pull, true)
	equal(t, "merged", mustPull(t, s, 2).GetMerged(), true)
	if err := s.AddRepo("Alice", "Demo", "main"); err == nil {
		t.Error("a repository was made twice")
	}
	if _, err := os.Stat(filepath.Join(s.GitDir(owner, name), "HEAD")); err != nil {
		t.Error(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("reading an issue that is not there did not panic")
			}
		}()
		s.Issue(owner, name, 99)
	}()
}

// TestInvalid asks for what GitHub understands and refuses: 422 with the field, and no problem.
func TestInvalid(t *testing.T) {
	s := newScene(t)
	s.AddPull(owner, name, fake.Pull{Title: "p", Head: "main"})
	s.branch("work")
	c := s.client(pat)
	long := func(n int) *string { return github.String(strings.Repeat("x", n)) }
	pull := func(change func(*github.NewPullRequest)) func() error {
		return func() error {
			p := newPull("work")
			change(p)
			_, _, err := c.PullRequests.Create(s.ctx, owner, name, p)
			return err
		}
	}
	edit := func(p github.PullRequest) func() error {
		return func() error {
			_, _, err := c.PullRequests.Edit(s.ctx, owner, name, 1, &p)
			return err
		}
	}
	for what, ask := range map[string]func() error{
		"a pull with a long body": pull(func(p *github.NewPullRequest) { p.Body = long(65537) }),
		"a pull with a long name": pull(func(p *github.NewPullRequest) { p.Title = long(257) }),
		"a pull to nowhere":       pull(func(p *github.NewPullRequest) { p.Base = github.String("nope") }),
		"a long body":             edit(github.PullRequest{Body: long(65537)}),
		"a base that is nowhere":  edit(github.PullRequest{Base: &github.PullRequestBranch{Ref: github.String("nope")}}),
		"a blank comment": func() error {
			_, _, err := c.Issues.CreateComment(s.ctx, owner, name, 1, &github.IssueComment{Body: github.String(" \n")})
			return err
		},
	} {
		var refused *github.ErrorResponse
		if err := ask(); !errors.As(err, &refused) || refused.Response.StatusCode != 422 || len(refused.Errors) != 1 {
			t.Errorf("%s: %v, want 422 with one error", what, err)
		}
	}
	equal(t, "pull requests", len(s.Pulls(owner, name)), 1)
}
