package fake_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/fake"
)

// TestSignedCommit makes a commit over the API: what an App makes without naming an author is signed, and is in the
// repository as told.
func TestSignedCommit(t *testing.T) {
	s := newScene(t)
	parent := s.branch("work")
	tree := strings.TrimSpace(s.mustGit(s.GitDir(owner, name), "rev-parse", "work^{tree}"))
	want := &github.Commit{
		Message: github.String("by hand\n\nRalph-Task: issue-1\n"), Tree: &github.Tree{SHA: &tree},
		Parents: []*github.Commit{{SHA: &parent}},
	}
	made, _, err := s.client(actions).Git.CreateCommit(s.ctx, owner, name, want, nil)
	check(t, err)
	v := made.GetVerification()
	equal(t, "verified", fmt.Sprint(v.GetVerified(), " ", v.GetReason()), "true valid")
	equal(t, "author", made.GetAuthor().GetName(), "github-actions[bot]")
	equal(t, "committer", made.GetCommitter().GetEmail(), "noreply@github.com")
	raw := s.mustGit(s.GitDir(owner, name), "cat-file", "commit", made.GetSHA())
	signature := "gpgsig " + strings.ReplaceAll(strings.TrimSuffix(v.GetSignature(), "\n"), "\n", "\n ") + "\n"
	head, message, _ := strings.Cut(v.GetPayload(), "\n\n")
	equal(t, "the object", raw, head+"\n"+signature+"\n"+message)
	read, _, err := s.client(actions).Git.GetCommit(s.ctx, owner, name, made.GetSHA())
	check(t, err)
	equal(t, "read again", read.GetVerification().GetPayload(), v.GetPayload())
	equal(t, "the message", read.GetMessage(), want.GetMessage())

	want.Author = &github.CommitAuthor{Name: github.String("bob"), Email: github.String("bob@example.com")}
	named, _, err := s.client(actions).Git.CreateCommit(s.ctx, owner, name, want, nil)
	check(t, err)
	equal(t, "one with an author", named.GetVerification().GetReason(), "unsigned")
	equal(t, "its committer", named.GetCommitter().GetName(), "bob")
	want.Author = nil
	personal, _, err := s.client(pat).Git.CreateCommit(s.ctx, owner, name, want, nil)
	check(t, err)
	equal(t, "a person's", personal.GetVerification().GetVerified(), false)
}

func TestCommitRefused(t *testing.T) {
	s := newScene(t)
	tree, parent := strings.Repeat("a", 40), s.branch("work")
	c := s.client(actions)
	_, resp, err := c.Git.CreateCommit(s.ctx, owner, name,
		&github.Commit{Message: github.String("m"), Tree: &github.Tree{SHA: &tree}}, nil)
	if err == nil || status(resp) != 422 || !strings.Contains(err.Error(), "Tree SHA does not exist") {
		t.Errorf("an unknown tree: %v, want 422", err)
	}
	_, resp, err = c.Git.CreateCommit(s.ctx, owner, name,
		&github.Commit{Message: github.String("m"), Tree: &github.Tree{SHA: &parent}}, nil)
	if err == nil || status(resp) != 422 {
		t.Errorf("a commit for a tree: %v, want 422", err)
	}
	if _, resp, err := c.Git.GetCommit(s.ctx, owner, name, tree); err == nil || status(resp) != 404 {
		t.Errorf("an unknown commit: %v, want 404", err)
	}
}

func ref(name, sha string) *github.Reference {
	return &github.Reference{Ref: github.String(name), Object: &github.GitObject{SHA: &sha}}
}

func TestWriteRefs(t *testing.T) {
	s := newScene(t)
	main, work := s.BranchSHA(owner, name, "main"), s.branch("work")
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
	_, _, err = c.Git.UpdateRef(s.ctx, owner, name, ref("refs/heads/new/one", work), false)
	check(t, err)
	_, resp, err := c.Git.UpdateRef(s.ctx, owner, name, ref("refs/heads/new/one", main), false)
	if err == nil || status(resp) != 422 || !strings.Contains(err.Error(), "Update is not a fast forward") {
		t.Errorf("a step back: %v, want 422", err)
	}
	_, _, err = c.Git.UpdateRef(s.ctx, owner, name, ref("refs/heads/new/one", main), true)
	check(t, err)
	_, err = c.Git.DeleteRef(s.ctx, owner, name, "refs/heads/new/one")
	check(t, err)
	equal(t, "deleted", s.BranchSHA(owner, name, "new/one"), "")
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
	equal(t, "signed", made.GetVerification().GetVerified(), true)

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
