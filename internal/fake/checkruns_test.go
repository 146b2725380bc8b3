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
