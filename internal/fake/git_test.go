package fake_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

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
