package doctor

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/session"
)

// TestFindHub has a row for each way of saying which repository is meant, and where it is. Which token is sent where is
// as GitHub's own command line has it, but that a server which only a clone's remote names gets none that was not made
// for it. The rows are the lines of testdata/hubs.txt: a name, the clone's remote, the flag, the environment, and the
// repository with the addresses of its API and its page and the token, or the error; parted by tabs.
func TestFindHub(t *testing.T) {
	for line := range strings.Lines(filesIn(t, "testdata")["hubs.txt"]) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		name, origin, named, environ, want := row[0], row[1], row[2], row[3], row[4]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if origin != "" {
				for _, args := range [][]string{{"init", "-q"}, {"remote", "add", "origin", origin}} {
					if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
						t.Fatalf("%v: %s", err, out)
					}
				}
			}
			given, parent := map[string]string{}, strings.Fields(environ)
			for _, pair := range parent {
				key, value, _ := strings.Cut(pair, "=")
				given[key] = value
			}
			env, err := config.ReadEnvironment(given)
			noError(t, err)
			p, err := session.FindGitHub(t.Context(), env, append(parent, "PATH=/usr/bin:/bin"), dir, named)
			got := strings.TrimSpace(strings.Join([]string{p.Repo.String(), p.API, p.GraphQL, p.Page, p.Token}, " "))
			if err != nil {
				got = "invalid: " + err.Error()
				if !invalid.Is(err) {
					t.Errorf("the error %v is no mistake of the user's", err)
				}
			}
			if !strings.HasPrefix(got, want) || err == nil && got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// TestHubLabels holds them to what GitHub takes: six hexadecimal digits, and 100 characters.
func TestHubLabels(t *testing.T) {
	if got, want := strings.Join(labelNames(), " "),
		"ralph ralph:plan ralph:running ralph:review ralph:waiting ralph:failed"; got != want {
		t.Errorf("labels %s, want %s", got, want)
	}
	for _, l := range githubLabels() {
		if len(l.color) != 6 || strings.Trim(l.color, "0123456789abcdef") != "" || l.description == "" ||
			len(l.description) > 100 {
			t.Errorf("label %+v", l)
		}
	}
}
