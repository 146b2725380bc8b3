package fake_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/fake"
)

// TestReviews reads a review of two threads, one of which was answered, as a client does.
func TestReviews(t *testing.T) {
	s := newScene(t)
	head := s.branch("work")
	n := s.AddPull(owner, name, fake.Pull{Title: "t", Head: "work"})
	review := s.AddReview(owner, name, n,
		fake.Review{Author: "bob", State: "CHANGES_REQUESTED", Body: "two things", Comments: []fake.ReviewComment{
			{Path: "work.txt", Line: 1, Body: "first"}, {Path: "work.txt", Line: 2, Body: "second"},
		}})
	c := s.client(actions)
	reviews, _, err := c.PullRequests.ListReviews(s.ctx, owner, name, n, nil)
	check(t, err)
	equal(t, "reviews", len(reviews), 1)
	equal(t, "state", reviews[0].GetState(), "CHANGES_REQUESTED")
	equal(t, "the reviewed commit", reviews[0].GetCommitID(), head)
	threads, _, err := c.PullRequests.ListReviewComments(s.ctx, owner, name, n, review, nil)
	check(t, err)
	equal(t, "comments of the review", len(threads), 2)

	reply, resp, err := c.PullRequests.CreateCommentInReplyTo(s.ctx, owner, name, n, "done", threads[0].GetID())
	equal(t, "go-github asks elsewhere", status(resp), 404)
	if err == nil || reply != nil {
		t.Error("the comments' own address takes no replies here")
	}
	s.wantProblems = []string{"POST /repos/alice/demo/pulls/1/comments: the route does not take this method"}
}

func TestReplies(t *testing.T) {
	s := newScene(t)
	s.branch("work")
	n := s.AddPull(owner, name, fake.Pull{Title: "t", Head: "work"})
	other := s.AddPull(owner, name, fake.Pull{Title: "o", Head: "work"})
	first := s.AddReviewComment(owner, name, n, fake.ReviewComment{Author: "bob", Path: "work.txt", Line: 1, Body: "why?"})
	c := s.client(actions)
	reply := func(pull int, to int64) (*github.PullRequestComment, int) {
		into := new(github.PullRequestComment)
		r, err := c.NewRequest("POST", fmt.Sprintf("repos/alice/demo/pulls/%d/comments/%d/replies", pull, to),
			map[string]string{"body": "because"})
		check(t, err)
		resp, _ := c.Do(s.ctx, r, into)
		return into, status(resp)
	}
	made, code := reply(n, first)
	equal(t, "status", code, 201)
	equal(t, "in reply to", made.GetInReplyTo(), first)
	equal(t, "path", made.GetPath(), "work.txt")
	for what, to := range map[string]struct {
		pull int
		id   int64
	}{"a reply": {n, made.GetID()}, "another pull request": {other, first}, "nothing": {n, 1}} {
		if _, code := reply(to.pull, to.id); code != 404 {
			t.Errorf("a reply to %s: status %d, want 404", what, code)
		}
	}
	all := s.ReviewComments(owner, name, n)
	equal(t, "comments", len(all), 2)
	equal(t, "the reply's author", all[1].Author, "github-actions[bot]")
	equal(t, "reviews, one around each comment", len(s.Reviews(owner, name, n)), 2)

	_, _, err := c.Reactions.CreatePullRequestCommentReaction(s.ctx, owner, name, first, "eyes")
	check(t, err)
	equal(t, "reactions", len(s.ReviewComments(owner, name, n)[0].Reactions), 1)
	_, _, err = c.PullRequests.EditComment(s.ctx, owner, name, made.GetID(),
		&github.PullRequestComment{Body: github.String("edited")})
	check(t, err)
	equal(t, "the edited reply", s.ReviewComments(owner, name, n)[1].Body, "edited")
}

func TestReviewCommentPages(t *testing.T) {
	s := newScene(t)
	n := s.AddPull(owner, name, fake.Pull{Title: "t", Head: "main", HeadRepo: "mallory/demo"})
	for i := range 120 {
		s.AddReviewComment(owner, name, n, fake.ReviewComment{Author: "bob", Path: "a", Line: 1, Body: fmt.Sprint(i)})
	}
	s.OutdateThread(owner, name, s.ReviewComments(owner, name, n)[0].ID)
	c := s.client(actions)
	list, resp, err := c.PullRequests.ListComments(s.ctx, owner, name, n,
		&github.PullRequestListCommentsOptions{ListOptions: github.ListOptions{PerPage: 100}})
	check(t, err)
	equal(t, "first page", len(list), 100)
	equal(t, "next page", resp.NextPage, 2)
	equal(t, "the first", list[0].GetBody(), "0")
	equal(t, "an outdated comment has no line", list[0].Line == nil && list[1].Line != nil, true)
	newest, _, err := c.PullRequests.ListComments(s.ctx, owner, name, n,
		&github.PullRequestListCommentsOptions{Sort: "created", Direction: "desc", Since: time.Now().Add(-time.Hour)})
	check(t, err)
	equal(t, "newest first", newest[0].GetBody(), "119")
}

// TestThreads asks GraphQL for what REST does not tell of a thread.
func TestThreads(t *testing.T) {
	s := newScene(t)
	s.branch("work")
	n := s.AddPull(owner, name, fake.Pull{Title: "t", Head: "work"})
	first := s.AddReviewComment(owner, name, n, fake.ReviewComment{Author: "bob", Path: "work.txt", Line: 1, Body: "why?"})
	s.AddReviewComment(owner, name, n, fake.ReviewComment{Author: "ralph[bot]", InReplyTo: first, Body: "so"})
	second := s.AddReviewComment(owner, name, n, fake.ReviewComment{Author: "bob", Path: "b", Line: 7, Body: "and?"})
	s.ResolveThread(owner, name, first, true)
	s.OutdateThread(owner, name, second)
	s.EditReviewComment(owner, name, second, "and now?")
	const query = `query($owner: String!, $name: String!, $number: Int!) { repository(owner: $owner, name: $name) { pullRequest(number: $number) {
		reviewThreads(first: 100) { pageInfo { hasNextPage endCursor } nodes { id isResolved isOutdated path line
			comments(first: 100) { nodes { databaseId author { login __typename } body createdAt lastEditedAt } } } } } } }`
	out := s.ask(query, map[string]any{"owner": owner, "name": name, "number": n})
	for _, want := range []string{
		`"isResolved":true`, `"isOutdated":true`, `"login":"ralph"`, `"__typename":"Bot"`, `"body":"and now?"`, `"line":null`,
		`"hasNextPage":false`,
		fmt.Sprintf(`"databaseId":%d`, first),
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not in %s", want, out)
		}
	}
	one :=
		`{ repository(owner: "alice", name: "demo") { pullRequest(number: 1) { reviewThreads(first: 1%s) { totalCount pageInfo { endCursor hasNextPage } nodes { path } } } } }`
	out1 := s.ask(fmt.Sprintf(one, ""), nil)
	_, cursor, _ := strings.Cut(out1, `"endCursor":"`)
	cursor, _, _ = strings.Cut(cursor, `"`)
	if out2 := s.ask(fmt.Sprintf(one, `, after: "`+cursor+`"`), nil); !strings.Contains(out2, `"path":"b"`) ||
		!strings.Contains(out2, `"totalCount":2`) || !strings.Contains(out1, `"hasNextPage":true`) {
		t.Errorf("the pages are %s and %s", out1, out2)
	}
	if strings.Contains(out, "updatedAt") {
		t.Errorf("what was not asked for is in %s", out)
	}
}

// TestGraphQLProblems asks what GitHub would not understand.
func TestGraphQLProblems(t *testing.T) {
	s := newScene(t)
	s.AddPull(owner, name, fake.Pull{Title: "t", Head: "main"})
	for _, tc := range []struct{ query, problem string }{
		{`{ repository(owner: "alice", name: "demo") { wishes } }`, "Field 'wishes' doesn't exist on type 'Repository'"},
		{`{ repository(owner: "alice", name: "nope") { id } }`, "no such repository: alice/nope"},
		{`{ repository(owner: "alice", name: "demo") { pullRequest(number: 1) } }`, "Field must have selections"},
		{`{ repository(owner: "alice", name: "demo") { pullRequest(number: 1) { reviewThreads { nodes { id } } } } }`,
			"You must provide a `first`"},
		{`{ repository(owner: "alice", name: "demo") { pullRequest(number: 1) { reviewThreads(first: 101) { nodes { id } } } } }`, "Requesting 101 records"},
		{`{ repository(owner: "alice", name: "demo") { id }`, "the query cannot be read"},
		{`query($x: Int) { viewer { login } }`, "Variable $x is declared but not used"},
		{`query { repository(owner: $x, name: "demo") { id } }`, "Variable $x is used but not declared"},
		{`query($x: String!) { repository(owner: $x, name: "demo") { id } }`, "the variable $x has no value"},
		{`query($x: String = "alice") { repository(owner: $x, name: "demo") { id } }`, "the variable $x has a default"},
		{`subscription { x }`, "the query cannot be read"},
	} {
		if out := s.ask(tc.query, nil); !strings.Contains(out, `"errors"`) {
			t.Errorf("%s answers %s", tc.query, out)
		}
		s.wantProblems = append(s.wantProblems, "POST /graphql: "+tc.problem)
	}
	const optional = `query($after: String) { repository(owner: "alice", name: "demo") { pullRequest(number: 1) { reviewThreads(first: 1, after: $after) { totalCount } } } }`
	if out := s.ask(optional, nil); !strings.Contains(out, `"totalCount":0`) {
		t.Errorf("a variable that may be left out: %s", out)
	}
	if out := s.ask(`{ repository(owner: "alice", name: "demo") { issue(number: 1) { id } } }`,
		nil); !strings.Contains(out, "NOT_FOUND") {
		t.Errorf("a pull request as an issue answers %s", out)
	}
}
