package fake_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/fake"
)

func TestRepository(t *testing.T) {
	s := newScene(t)
	c := s.client(pat)
	r, _, err := c.Repositories.Get(s.ctx, owner, name)
	check(t, err)
	equal(t, "default branch", r.GetDefaultBranch(), "main")
	equal(t, "clone URL", r.GetCloneURL(), s.CloneURL(owner, name))

	me, _, err := c.Users.Get(s.ctx, "")
	check(t, err)
	equal(t, "me", me.GetLogin(), owner)
	_, resp, err := s.client(actions).Users.Get(s.ctx, "")
	if err == nil || status(resp) != 403 {
		t.Errorf("GET /user with the workflow's token: %v, want 403 as from GitHub", err)
	}
}

func TestPermissions(t *testing.T) {
	s := newScene(t)
	for _, role := range []string{"admin", "maintain", "write", "triage", "read", "none"} {
		s.SetPermission(owner, name, role+"er", role)
	}
	s.AddUser("passerby", false)
	s.AddUser("ci[bot]", true)
	for login, want := range map[string]string{
		owner: "admin", "adminer": "admin", "maintainer": "write", "writeer": "write", "triageer": "read", "reader": "read",
		"noneer": "none", "passerby": "read",
	} {
		p, _, err := s.client(actions).Repositories.GetPermissionLevel(s.ctx, owner, name, login)
		check(t, err)
		equal(t, login+"'s permission", p.GetPermission(), want)
	}
	for _, login := range []string{"ghost", "ci[bot]"} {
		_, resp, err := s.client(actions).Repositories.GetPermissionLevel(s.ctx, owner, name, login)
		if err == nil || status(resp) != 404 {
			t.Errorf("%s: %v, want 404", login, err)
		}
	}
}

func TestRefs(t *testing.T) {
	s := newScene(t)
	sha := s.branch("ralph/issue-1")
	c := s.client(pat)
	ref, _, err := c.Git.GetRef(s.ctx, owner, name, "refs/heads/ralph/issue-1")
	check(t, err)
	equal(t, "the ref's commit", ref.GetObject().GetSHA(), sha)
	b, _, err := c.Repositories.GetBranch(s.ctx, owner, name, "ralph/issue-1", 0)
	check(t, err)
	equal(t, "the branch's commit", b.GetCommit().GetSHA(), sha)
	equal(t, "its parents", len(b.GetCommit().Parents), 1)
	for _, missing := range []string{"refs/heads/nope", "refs/heads/ralph"} {
		if _, resp, err := c.Git.GetRef(s.ctx, owner, name, missing); err == nil || status(resp) != 404 {
			t.Errorf("%s: %v, want 404", missing, err)
		}
	}
	if _, resp, err := c.Repositories.GetBranch(s.ctx, owner, name, "nope", 0); err == nil || status(resp) != 404 {
		t.Errorf("a missing branch: %v, want 404", err)
	}
}

func TestIssues(t *testing.T) {
	s := newScene(t)
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s.AddIssue(owner, name, fake.Issue{Title: "one", Body: "b", Author: "mallory", Labels: []string{"ralph", "bug"},
		CreatedAt: day})
	s.AddIssue(owner, name, fake.Issue{Title: "two", Labels: []string{"ralph"}, CreatedAt: day.Add(time.Hour)})
	s.AddIssue(owner, name, fake.Issue{Title: "three", Closed: true, Labels: []string{"ralph"},
		CreatedAt: day.Add(2 * time.Hour)})
	s.AddPull(owner, name, fake.Pull{Title: "four", Head: "x", HeadRepo: "mallory/demo", Labels: []string{"ralph"}})
	c := s.client(actions)

	is, _, err := c.Issues.Get(s.ctx, owner, name, 1)
	check(t, err)
	equal(t, "title", is.GetTitle(), "one")
	equal(t, "author", is.GetUser().GetLogin(), "mallory")
	equal(t, "labels", len(is.Labels), 2)
	equal(t, "association", is.GetAuthorAssociation(), "NONE")
	if _, resp, err := c.Issues.Get(s.ctx, owner, name, 99); err == nil || status(resp) != 404 {
		t.Errorf("a missing issue: %v, want 404", err)
	}
	for _, tc := range []struct {
		o    github.IssueListByRepoOptions
		want string
	}{
		{github.IssueListByRepoOptions{}, "[4 2 1]"},
		{github.IssueListByRepoOptions{State: "all", Sort: "created", Direction: "asc"}, "[1 2 3 4]"},
		{github.IssueListByRepoOptions{State: "closed"}, "[3]"},
		{github.IssueListByRepoOptions{Labels: []string{"ralph", "bug"}}, "[1]"},
		{github.IssueListByRepoOptions{Direction: "asc", ListOptions: github.ListOptions{PerPage: 1, Page: 2}}, "[2]"},
		{github.IssueListByRepoOptions{Sort: "updated", Direction: "asc"}, "[1 2 4]"},
	} {
		list, _, err := c.Issues.ListByRepo(s.ctx, owner, name, &tc.o)
		check(t, err)
		var numbers []int
		for _, i := range list {
			numbers = append(numbers, i.GetNumber())
			equal(t, fmt.Sprintf("#%d is a pull request", i.GetNumber()), i.IsPullRequest(), i.GetNumber() == 4)
		}
		equal(t, fmt.Sprintf("%+v", tc.o), fmt.Sprint(numbers), tc.want)
	}
}

func TestComments(t *testing.T) {
	s := newScene(t)
	n := s.AddIssue(owner, name, fake.Issue{Title: "t"})
	old := time.Now().Add(-time.Hour)
	s.AddComment(owner, name, n, fake.Comment{Author: "mallory", Body: "first", CreatedAt: old})
	c := s.client(actions)
	made, _, err := c.Issues.CreateComment(s.ctx, owner, name, n, &github.IssueComment{Body: github.String("second")})
	check(t, err)
	equal(t, "author", made.GetUser().GetLogin(), "github-actions[bot]")
	equal(t, "author's type", made.GetUser().GetType(), "Bot")
	_, _, err = c.Issues.EditComment(s.ctx, owner, name, made.GetID(), &github.IssueComment{Body: github.String("edited")})
	check(t, err)
	again, _, err := c.Issues.GetComment(s.ctx, owner, name, made.GetID())
	check(t, err)
	equal(t, "body", again.GetBody(), "edited")
	since := time.Now().Add(-time.Minute)
	list, _, err := c.Issues.ListComments(s.ctx, owner, name, n, &github.IssueListCommentsOptions{Since: &since})
	check(t, err)
	equal(t, "comments since a minute ago", len(list), 1)
	all := s.Comments(owner, name, n)
	equal(t, "comments", len(all), 2)
	equal(t, "the order", all[0].Body+" "+all[1].Body, "first edited")

	for _, re := range []string{"eyes", "eyes", "rocket"} {
		_, _, err := c.Reactions.CreateIssueCommentReaction(s.ctx, owner, name, all[0].ID, re)
		check(t, err)
		_, _, err = c.Reactions.CreateIssueReaction(s.ctx, owner, name, n, re)
		check(t, err)
	}
	equal(t, "reactions to the comment", len(s.Comments(owner, name, n)[0].Reactions), 2)
	equal(t, "reactions to the issue", len(s.Reactions(owner, name, n)), 2)
	equal(t, "the first", s.Reactions(owner, name, n)[0].Content, "eyes")
}

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

func TestPages(t *testing.T) {
	s := newScene(t)
	n := s.AddIssue(owner, name, fake.Issue{Title: "t"})
	for i := range 250 {
		s.AddComment(owner, name, n, fake.Comment{Author: "mallory", Body: fmt.Sprint(i)})
		s.AddLabelEvent(owner, name, n, "ralph", "mallory")
	}
	c := s.client(actions)
	var bodies []string
	o := github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: 100}}
	for pages := 1; ; pages++ {
		list, resp, err := c.Issues.ListComments(s.ctx, owner, name, n, &o)
		check(t, err)
		for _, one := range list {
			bodies = append(bodies, one.GetBody())
		}
		if resp.NextPage == 0 {
			equal(t, "pages", pages, 3)
			equal(t, "previous page", resp.PrevPage, 2)
			break
		}
		equal(t, "last page", resp.LastPage, 3)
		o.Page = resp.NextPage
	}
	equal(t, "comments", len(bodies), 250)
	equal(t, "the last", bodies[249], "249")
	events, resp, err := c.Issues.ListIssueEvents(s.ctx, owner, name, n, nil)
	check(t, err)
	equal(t, "events on a page that nobody sized", len(events), 30)
	equal(t, "their last page", resp.LastPage, 9)
}

func TestLabels(t *testing.T) {
	s := newScene(t)
	n := s.AddIssue(owner, name, fake.Issue{Title: "t"})
	s.Label(owner, name, n, "ralph", "mallory")
	c := s.client(actions)
	_, _, err := c.Issues.CreateLabel(s.ctx, owner, name,
		&github.Label{Name: github.String("ralph-done"), Color: github.String("0e8a16"), Description: github.String("done")})
	check(t, err)
	_, _, err = c.Issues.CreateLabel(s.ctx, owner, name, &github.Label{Name: github.String("RALPH-done")})
	var refused *github.ErrorResponse
	if !errors.As(err, &refused) || refused.Response.StatusCode != 422 || refused.Errors[0].Code != "already_exists" {
		t.Errorf("a label twice: %v, want 422 already_exists", err)
	}
	l, _, err := c.Issues.GetLabel(s.ctx, owner, name, "ralph-done")
	check(t, err)
	equal(t, "colour", l.GetColor(), "0e8a16")
	if _, resp, err := c.Issues.GetLabel(s.ctx, owner, name, "nope"); err == nil || status(resp) != 404 {
		t.Errorf("a missing label: %v, want 404", err)
	}
	_, _, err = c.Issues.AddLabelsToIssue(s.ctx, owner, name, n, []string{"ralph-done", "brand new"})
	check(t, err)
	_, err = c.Issues.RemoveLabelForIssue(s.ctx, owner, name, n, "ralph")
	check(t, err)
	if resp, err := c.Issues.RemoveLabelForIssue(s.ctx, owner, name, n, "ralph"); err == nil || status(resp) != 404 {
		t.Errorf("taking a label off twice: %v, want 404", err)
	}
	equal(t, "labels", fmt.Sprint(s.Issue(owner, name, n).Labels), "[ralph-done brand new]")
	if !slices.Contains(s.RepoLabels(owner, name), "brand new") {
		t.Error("an unknown label was not made")
	}
	events, _, err := c.Issues.ListIssueEvents(s.ctx, owner, name, n, &github.ListOptions{PerPage: 100})
	check(t, err)
	var log []string
	for _, e := range events {
		log = append(log, e.GetEvent()+" "+e.GetLabel().GetName()+" "+e.GetActor().GetLogin())
	}
	equal(t, "events", strings.Join(log, ", "), "labeled ralph mallory, labeled ralph-done github-actions[bot], "+
		"labeled brand new github-actions[bot], unlabeled ralph github-actions[bot]")
	equal(t, "events read in Go", len(s.LabelEvents(owner, name, n)), 4)
}
