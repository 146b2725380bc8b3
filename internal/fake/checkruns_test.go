package fake_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/fake"
)

// annotations are n remarks on lines of a file.
func annotations(n int) []*github.CheckRunAnnotation {
	var all []*github.CheckRunAnnotation
	for i := range n {
		all = append(all, &github.CheckRunAnnotation{
			Path: github.String("work.txt"), StartLine: github.Int(i + 1), EndLine: github.Int(i + 1),
			AnnotationLevel: github.String("failure"), Message: github.String(fmt.Sprint(i)),
		})
	}
	return all
}

func output(annotations []*github.CheckRunAnnotation) *github.CheckRunOutput {
	return &github.CheckRunOutput{Title: github.String("t"), Summary: github.String("s"), Annotations: annotations}
}

func TestCheckRun(t *testing.T) {
	s := newScene(t)
	sha := s.branch("work")
	c := s.client(actions)
	made, _, err := c.Checks.CreateCheckRun(s.ctx, owner, name, github.CreateCheckRunOptions{
		Name: "ralph", HeadSHA: sha, ExternalID: github.String("x"), DetailsURL: github.String("https://example.com/run"),
		Status: github.String("in_progress"), Output: output(annotations(50)),
	})
	check(t, err)
	equal(t, "App", made.GetApp().GetSlug(), "github-actions")
	equal(t, "conclusion", made.GetConclusion(), "")
	edited, _, err := c.Checks.UpdateCheckRun(s.ctx, owner, name, made.GetID(), github.UpdateCheckRunOptions{
		Name: "ralph", Conclusion: github.String("failure"), Output: output(annotations(20)),
	})
	check(t, err)
	equal(t, "status", edited.GetStatus(), "completed")
	equal(t, "annotations are added", edited.GetOutput().GetAnnotationsCount(), 70)
	list, resp, err := c.Checks.ListCheckRunAnnotations(s.ctx, owner, name, made.GetID(), &github.ListOptions{PerPage: 50})
	check(t, err)
	equal(t, "annotations on the first page", len(list), 50)
	equal(t, "next page", resp.NextPage, 2)
	read := s.CheckRuns(owner, name, sha)
	equal(t, "runs", len(read), 1)
	equal(t, "annotations", len(read[0].Annotations), 70)
	equal(t, "external id", read[0].ExternalID, "x")
	one, _, err := c.Checks.GetCheckRun(s.ctx, owner, name, made.GetID())
	check(t, err)
	equal(t, "details", one.GetDetailsURL(), "https://example.com/run")
}

func TestCheckRunRefused(t *testing.T) {
	s := newScene(t)
	sha := s.branch("work")
	s.breaksContract = true
	c := s.client(actions)
	long := github.String(strings.Repeat("x", 65536))
	for what, tc := range map[string]struct {
		o    github.CreateCheckRunOptions
		want string
	}{
		"no name": {github.CreateCheckRunOptions{HeadSHA: sha}, `"name" wasn't supplied`},
		"another commit": {github.CreateCheckRunOptions{Name: "n", HeadSHA: strings.Repeat("a", 40)},
			"No commit found for SHA"},
		"51 annotations": {github.CreateCheckRunOptions{Name: "n", HeadSHA: sha,
			Output: output(annotations(51))}, "No more than 50 items are allowed; 51 were supplied."},
		"no conclusion": {github.CreateCheckRunOptions{Name: "n", HeadSHA: sha,
			Status: github.String("completed")}, "conclusion"},
		"a wrong one": {github.CreateCheckRunOptions{Name: "n", HeadSHA: sha,
			Conclusion: github.String("meh")}, "meh"},
		"a wrong status": {github.CreateCheckRunOptions{Name: "n", HeadSHA: sha, Status: github.String("meh")},
			"meh"},
		"a long summary": {github.CreateCheckRunOptions{Name: "n", HeadSHA: sha,
			Output: &github.CheckRunOutput{Title: long, Summary: long}}, "65535"},
		"no summary": {github.CreateCheckRunOptions{Name: "n", HeadSHA: sha,
			Output: &github.CheckRunOutput{Title: long}}, "summary"},
		"an annotation without a line": {github.CreateCheckRunOptions{Name: "n", HeadSHA: sha,
			Output: output([]*github.CheckRunAnnotation{{Path: github.String("a")}})}, "annotations"},
	} {
		_, _, err := c.Checks.CreateCheckRun(s.ctx, owner, name, tc.o)
		var refused *github.ErrorResponse
		if !errors.As(err, &refused) || refused.Response.StatusCode != 422 || !strings.Contains(refused.Error(), tc.want) {
			t.Errorf("%s: %v, want 422 with %q", what, err, tc.want)
		}
	}
	equal(t, "runs", len(s.CheckRuns(owner, name, sha)), 0)
	_, resp, err := s.client(pat).Checks.CreateCheckRun(s.ctx, owner, name,
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

func TestCheckRunList(t *testing.T) {
	s := newScene(t)
	sha := s.branch("work")
	s.AddCheckRun(owner, name, fake.CheckRun{Name: "test", HeadSHA: sha, Conclusion: "failure"})
	again := s.AddCheckRun(owner, name, fake.CheckRun{Name: "test", HeadSHA: sha})
	s.AddCheckRun(owner, name, fake.CheckRun{Name: "test", HeadSHA: sha, App: "circleci", Conclusion: "success"})
	s.FinishCheckRun(owner, name, again, "success")
	s.AddCheckRun(owner, name, fake.CheckRun{Name: "lint", HeadSHA: sha, Status: "queued"})
	s.AddCheckRun(owner, name, fake.CheckRun{Name: "lint", HeadSHA: s.BranchSHA(owner, name, "main")})
	c := s.client(actions)
	for _, tc := range []struct {
		ref  string
		o    github.ListCheckRunsOptions
		want string
	}{
		{sha, github.ListCheckRunsOptions{}, "lint queued , test completed success, test completed success"},
		{"work", github.ListCheckRunsOptions{CheckName: github.String("test"), AppID: github.Int64(15368)},
			"test completed success"},
		{"heads/work", github.ListCheckRunsOptions{Status: github.String("queued")}, "lint queued "},
		{sha, github.ListCheckRunsOptions{Filter: github.String("all"), CheckName: github.String("test"),
			AppID: github.Int64(15368)}, "test completed success, test completed failure"},
		{sha, github.ListCheckRunsOptions{ListOptions: github.ListOptions{PerPage: 1, Page: 2}}, "test completed success"},
	} {
		list, _, err := c.Checks.ListCheckRunsForRef(s.ctx, owner, name, tc.ref, &tc.o)
		check(t, err)
		var got []string
		for _, r := range list.CheckRuns {
			got = append(got, r.GetName()+" "+r.GetStatus()+" "+r.GetConclusion())
		}
		equal(t, fmt.Sprintf("%s %+v", tc.ref, tc.o), strings.Join(got, ", "), tc.want)
	}
	if _, resp, err := c.Checks.ListCheckRunsForRef(s.ctx, owner, name, "nope", nil); err == nil || status(resp) != 422 {
		t.Errorf("an unknown commit: %v, want 422", err)
	}
}

func TestStatuses(t *testing.T) {
	s := newScene(t)
	sha := s.branch("work")
	c := s.client(pat)
	state := func() string {
		t.Helper()
		all, _, err := c.Repositories.GetCombinedStatus(s.ctx, owner, name, "work", nil)
		check(t, err)
		return fmt.Sprint(all.GetState(), " ", all.GetTotalCount())
	}
	equal(t, "without a status", state(), "pending 0")
	s.AddStatus(owner, name, sha, fake.Status{Context: "ci", State: "failure"})
	equal(t, "with a failure", state(), "failure 1")
	_, _, err := c.Repositories.CreateStatus(s.ctx, owner, name, sha,
		&github.RepoStatus{State: github.String("success"), Context: github.String("ci")})
	check(t, err)
	equal(t, "with the newest of a context", state(), "success 1")
	s.AddStatus(owner, name, sha, fake.Status{Context: "other", State: "pending"})
	equal(t, "with one that is pending", state(), "pending 2")
	equal(t, "statuses", len(s.Statuses(owner, name, sha)), 3)
	_, resp, err := c.Repositories.CreateStatus(s.ctx, owner, name, strings.Repeat("a", 40),
		&github.RepoStatus{State: github.String("success")})
	if err == nil || status(resp) != 422 {
		t.Errorf("a status on an unknown commit: %v, want 422", err)
	}
}
