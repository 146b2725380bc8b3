package fake_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func (s *scene) withToken(token string) string {
	return strings.Replace(s.CloneURL(owner, name), "http://", "http://x-access-token:"+token+"@", 1)
}

func TestGit(t *testing.T) {
	s := newScene(t)
	dir := t.TempDir()
	s.mustGit(dir, "clone", "--quiet", s.withToken(actions), "work")
	work := filepath.Join(dir, "work")
	if raw, err := os.ReadFile(filepath.Join(work, "README.md")); err != nil || string(raw) != "demo\n" {
		t.Errorf("README.md is %q, %v", raw, err)
	}
	big := make([]byte, 3<<20) // random, so that it stays big when packed: git then sends it in chunks
	_, _ = rand.Read(big)      // never fails
	check(t, os.WriteFile(filepath.Join(work, "big"), big, 0o600))
	s.mustGit(work, "checkout", "--quiet", "-b", "ralph/issue-1")
	s.mustGit(work, "add", "big")
	s.mustGit(work, "commit", "--quiet", "-m", "big")
	s.mustGit(work, "push", "--quiet", "origin", "HEAD")
	head := strings.TrimSpace(s.mustGit(work, "rev-parse", "HEAD"))
	equal(t, "the pushed branch", s.BranchSHA(owner, name, "ralph/issue-1"), head)

	s.mustGit(dir, "clone", "--quiet", "--depth=1", "--filter=blob:none", "--branch=ralph/issue-1", s.withToken(actions),
		"shallow")
	s.mustGit(dir, "init", "--quiet", "bysha")
	s.mustGit(filepath.Join(dir, "bysha"), "fetch", "--quiet", "--depth=1", s.withToken(actions), head)
	if n := len(s.GitCalls()); n < 6 {
		t.Errorf("%d calls of git are logged", n)
	}
	equal(t, "calls of REST", len(s.Calls()), 0)
}

func TestGitRefused(t *testing.T) {
	s := newScene(t)
	for _, url := range []string{s.CloneURL(owner, name), s.withToken("wrong")} {
		out, err := s.git(t.TempDir(), "ls-remote", url)
		if err == nil {
			t.Errorf("ls-remote %s worked: %s", url, out)
		}
	}
	equal(t, "the last status", s.GitCalls()[len(s.GitCalls())-1].Status, 401)

	s.wantProblems = []string{"GET /alice/other.git/info/refs: no such repository"}
	if out, err := s.git(t.TempDir(), "ls-remote",
		strings.Replace(s.withToken(pat), "demo.git", "other.git", 1)); err == nil {
		t.Errorf("ls-remote of a missing repository worked: %s", out)
	}
}

// TestListsReferencesAsGit: what the stand-in answers without git is what git answers, to the byte.
func TestListsReferencesAsGit(t *testing.T) {
	s := newScene(t)
	dir := s.GitDir(owner, name)
	ask := func(method, path, body string) string {
		t.Helper()
		r, err := http.NewRequest(method, s.URL()+"/"+owner+"/"+name+".git/"+path, strings.NewReader(body))
		check(t, err)
		r.SetBasicAuth("x-access-token", actions)
		r.Header.Set("Git-Protocol", "version=2")
		answer, err := http.DefaultClient.Do(r)
		check(t, err)
		text, err := io.ReadAll(answer.Body)
		check(t, errors.Join(err, answer.Body.Close()))
		return string(text)
	}
	git := func(input string, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append(args, dir)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_PROTOCOL=version=2", "GIT_CONFIG_NOSYSTEM=1", "HOME=" + dir}
		cmd.Stdin = strings.NewReader(input)
		text, err := cmd.Output()
		check(t, err)
		return string(text)
	}
	const command = "0014command=ls-refs\n0001"
	asked := []string{
		command + "0000", command + "0009peel\n000csymrefs\n0000",
		command + "000bunborn\n000csymrefs\n001bref-prefix refs/heads/\n0014ref-prefix HEAD\n0000",
		command + "0009peel\n001cref-prefix refs/heads/m\n0000", command + "0009peel\n001aref-prefix refs/tags/\n0000",
	}
	for i, changes := range [][]string{{"update-ref refs/ralph/1 main", "branch z/main main"},
		{"pack-refs --all --prune", "branch aa main", "update-ref -d refs/ralph/1"},
		{"-c user.name=a -c user.email=a tag -m a v1 main", "symbolic-ref HEAD refs/heads/gone"}} {
		for _, change := range changes {
			s.mustGit(dir, strings.Fields(change)...)
		}
		equal(t, fmt.Sprintf("for a push, after step %d", i), ask("GET", "info/refs?service=git-receive-pack", ""),
			"001f# service=git-receive-pack\n0000"+git("", "receive-pack", "--http-backend-info-refs"))
		for _, request := range asked {
			equal(t, fmt.Sprintf("for %q, after step %d", request, i), ask("POST", "git-upload-pack", request),
				git(request, "upload-pack", "--stateless-rpc"))
		}
	}
	equal(t, "what it can do", ask("GET", "info/refs?service=git-upload-pack", ""),
		git("", "upload-pack", "--http-backend-info-refs"))
}
