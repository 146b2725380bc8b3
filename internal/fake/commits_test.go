package fake_test

import (
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/fake"
)

func ref(name, sha string) *github.Reference {
	return &github.Reference{Ref: github.String(name), Object: &github.GitObject{SHA: &sha}}
}

func TestWriteRefs(t *testing.T) {
	s := newScene(t)
	main := s.BranchSHA(owner, name, "main")
	s.branch("work")
	c := s.client(pat)
	made, _, err := c.Git.CreateRef(s.ctx, owner, name, ref("refs/heads/new/one", main))
	check(t, err)
	equal(t, "made", made.GetObject().GetSHA(), main)
	for want, r := range map[string]*github.Reference{
		"Reference already exists": ref("refs/heads/work", main),
		"Object does not exist":    ref("refs/heads/x", strings.Repeat("b", 40)),
	} {
		if _, resp, err := c.Git.CreateRef(s.ctx, owner, name, r); err == nil || status(resp) != 422 ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want 422 with %q", err, want)
		}
	}
}

func TestWriteContents(t *testing.T) {
	s := newScene(t)
	s.branch("setup")
	c := s.client(actions)
	o := func(text string) *github.RepositoryContentFileOptions {
		return &github.RepositoryContentFileOptions{Message: github.String("add"), Content: []byte(text),
			Branch: github.String("setup")}
	}
	made, _, err := c.Repositories.CreateFile(s.ctx, owner, name, ".ralph/settings.json", o("{}\n"))
	check(t, err)
	equal(t, "the file", s.mustGit(s.GitDir(owner, name), "show", "setup:.ralph/settings.json"), "{}\n")
	equal(t, "the rest", s.mustGit(s.GitDir(owner, name), "show", "setup:work.txt"), "setup\n")
	equal(t, "the branch", s.BranchSHA(owner, name, "setup"), made.GetSHA())

	_, resp, err := c.Repositories.UpdateFile(s.ctx, owner, name, ".ralph/settings.json", o("{1}\n"))
	if err == nil || status(resp) != 422 || !strings.Contains(err.Error(), "wasn't supplied") {
		t.Errorf("a file that is there, without its blob: %v, want 422", err)
	}
	again := o("{2}\n")
	again.SHA = github.String(strings.Repeat("c", 40))
	if _, resp, err = c.Repositories.UpdateFile(s.ctx, owner, name, ".ralph/settings.json", again); err == nil ||
		status(resp) != 409 {
		t.Errorf("with another blob: %v, want 409", err)
	}
	again.SHA = made.Content.SHA
	_, resp, err = c.Repositories.UpdateFile(s.ctx, owner, name, ".ralph/settings.json", again)
	check(t, err)
	equal(t, "status", status(resp), 200)
	elsewhere := o("x")
	elsewhere.Branch = github.String("nope")
	if _, resp, err = c.Repositories.CreateFile(s.ctx, owner, name, "x", elsewhere); err == nil || status(resp) != 404 {
		t.Errorf("a missing branch: %v, want 404", err)
	}
	s.AddLimitedToken(fake.Token{Value: "ghs_less", Kind: fake.Actions, Permissions: &fake.Permissions{Contents: "write"}})
	if _, resp, err = s.client("ghs_less").Repositories.CreateFile(s.ctx, owner, name, ".github/workflows/x.yml",
		o("x")); err == nil || status(resp) != 403 {
		t.Errorf("a workflow without the permission: %v, want 403", err)
	}
}
