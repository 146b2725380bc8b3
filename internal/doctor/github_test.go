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
// for it.
func TestFindHub(t *testing.T) {
	const all = "GITHUB_TOKEN=hub GH_ENTERPRISE_TOKEN=own"
	const hub = "https://api.github.com https://api.github.com/graphql https://github.com"
	const own = "https://ghe.example/api/v3 https://ghe.example/api/graphql https://ghe.example"
	tests := []struct {
		name, origin, named, environ string
		want                         string // "repository api graphql page token"
	}{
		{"a clone over ssh", "git@github.com:alice/demo.git", "", all, "alice/demo " + hub + " hub"},
		{"a clone over https", "https://github.com/alice/demo", "", all, "alice/demo " + hub + " hub"},
		{"a clone over ssh by the port of https", "ssh://git@ssh.github.com:443/alice/demo.git", "", all, "alice/demo " + hub + " hub"},
		{"a credential in the address goes nowhere", "https://me:secret@github.com/alice/demo.git", "", "", "alice/demo " + hub + " "},
		{"a host of GitHub's", "https://sub.ghe.com/alice/demo", "", all, "alice/demo https://api.sub.ghe.com https://api.sub.ghe.com/graphql https://sub.ghe.com hub"},
		{"a server of one's own", "https://ghe.example:8443/alice/demo", "", all, "alice/demo https://ghe.example:8443/api/v3 https://ghe.example:8443/api/graphql https://ghe.example:8443 own"},
		{"its port of ssh is not the API's", "ssh://git@ghe.example:2222/alice/demo", "", all, "alice/demo " + own + " own"},
		{"a remote alone gets no token of GitHub's", "https://ghe.example/alice/demo", "", "GITHUB_TOKEN=hub GH_TOKEN=hub", "alice/demo " + own + " "},
		{"nor does a host that only looks like it", "https://github.com.example/alice/demo", "", "GITHUB_TOKEN=hub", "alice/demo https://github.com.example/api/v3 https://github.com.example/api/graphql https://github.com.example "},
		{"a server that somebody names does", "", "ghe.example/alice/demo", all, "alice/demo " + own + " hub"},
		{"a name is enough", "", "alice/demo", all, "alice/demo " + hub + " hub"},
		{"an address is a name", "", "https://github.com/alice/demo", all, "alice/demo " + hub + " hub"},
		{"the name of the clone's own is where that is", "https://ghe.example/alice/demo", "Alice/Demo", all, "Alice/Demo " + own + " own"},
		{"another name than the clone's is on github.com", "https://ghe.example/alice/demo", "bob/demo", all, "bob/demo " + hub + " hub"},
		{"the variable of a job", "git@github.com:alice/demo.git", "", all + " GITHUB_REPOSITORY=bob/tool", "bob/tool " + hub + " hub"},
		{"the addresses of a job", "", "alice/demo",
			all + " GITHUB_API_URL=https://ghe.example/api/v3/ GITHUB_SERVER_URL=https://ghe.example", "alice/demo " + own + " hub"},
		{"the other name of the token", "", "alice/demo", "GH_TOKEN=other", "alice/demo " + hub + " other"},
		{"nothing says it", "", "", all, "invalid: which repository is meant is not known"},
		{"a remote that is a directory", "/srv/demo", "", all, "invalid: which repository is meant is not known"},
		{"more than a repository has", "https://gitlab.example/group/sub/demo", "", all,
			"invalid: which repository is meant is not known"},
		{"half a name", "", "demo", all, `invalid: invalid --repo "demo"`},
		{"a name with more in it", "", "alice/demo?x=", all, `invalid: invalid --repo "alice/demo?x="`},
		{"a way out of the address", "", "alice/..", all, `invalid: invalid --repo "alice/.."`},
		{"three names without a host", "", "a/b/c", all, `invalid: invalid --repo "a/b/c"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if tt.origin != "" {
				for _, args := range [][]string{{"init", "-q"}, {"remote", "add", "origin", tt.origin}} {
					if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
						t.Fatalf("%v: %s", err, out)
					}
				}
			}
			environ, parent := map[string]string{}, strings.Fields(tt.environ)
			for _, pair := range parent {
				key, value, _ := strings.Cut(pair, "=")
				environ[key] = value
			}
			env, err := config.ReadEnvironment(environ)
			noError(t, err)
			p, err := session.FindGitHub(t.Context(), env, append(parent, "PATH=/usr/bin:/bin"), dir, tt.named)
			got := strings.Join([]string{p.Repo.String(), p.API, p.GraphQL, p.Page, p.Token}, " ")
			if err != nil {
				got = "invalid: " + err.Error()
				if !invalid.Is(err) {
					t.Errorf("the error %v is no mistake of the user's", err)
				}
			}
			if !strings.HasPrefix(got, tt.want) || err == nil && got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
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
