package fake_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/fake"
)

// appScene has an App on two repositories, of which one is private.
type appScene struct {
	*scene
	app *github.Client
}

func newAppScene(t *testing.T, a fake.App) *appScene {
	t.Helper()
	s := &appScene{scene: newScene(t)}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	check(t, err)
	a.ID, a.Slug, a.Owner, a.InstallationID, a.Key = 7, "ralph", owner, 70, &key.PublicKey
	s.AddApp(a)
	check(t, s.AddRepo(owner, "hush", "main"))
	s.SetPrivate(owner, "hush", true)
	raw := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	tr, err := ghinstallation.NewAppsTransport(&http.Transport{}, 7, raw)
	check(t, err)
	tr.BaseURL = s.APIURL()
	s.app, err = github.NewClient(&http.Client{Transport: tr}).WithEnterpriseURLs(s.URL(), s.URL())
	check(t, err)
	return s
}

func (s *appScene) token(repos []string, p *github.InstallationPermissions) string {
	s.t.Helper()
	made, _, err := s.app.Apps.CreateInstallationToken(s.ctx, 70, &github.InstallationTokenOptions{Repositories: repos,
		Permissions: p})
	check(s.t, err)
	return made.GetToken()
}

// TestTokensAreScoped: by REST, GraphQL and git, a token reaches its repository and what is public, and ends.
func TestTokensAreScoped(t *testing.T) {
	s := newAppScene(t, fake.App{})
	n := s.AddIssue(owner, name, fake.Issue{Title: "t"})
	hush := s.AddIssue(owner, "hush", fake.Issue{Title: "t"})
	mine, all := s.token([]string{name}, nil), s.token(nil, nil)
	tests := []struct {
		what, token string
		repo        string
		number      int
		read, write int // statuses; 0 for success
	}{
		{"its own", mine, name, n, 0, 0}, {"another", mine, "hush", hush, 404, 404},
		{"all, one", all, name, n, 0, 0}, {"all, the other", all, "hush", hush, 0, 0},
	}
	for _, tt := range tests {
		c := s.client(tt.token)
		_, resp, err := c.Issues.Get(s.ctx, owner, tt.repo, tt.number)
		if (err == nil) != (tt.read == 0) || tt.read != 0 && status(resp) != tt.read {
			t.Errorf("%s: reading: %v", tt.what, err)
		}
		_, resp, err = c.Issues.CreateComment(s.ctx, owner, tt.repo, tt.number,
			&github.IssueComment{Body: github.String("x")})
		if (err == nil) != (tt.write == 0) || tt.write != 0 && status(resp) != tt.write {
			t.Errorf("%s: writing: %v", tt.what, err)
		}
	}
	hushed := "http://x-access-token:" + mine + "@" + strings.TrimPrefix(s.CloneURL(owner, "hush"), "http://")
	if out, err := s.git(t.TempDir(), "ls-remote", hushed); err == nil {
		t.Errorf("git reads a repository that the token is not for: %s", out)
	}
	other := s.token([]string{"hush"}, nil)
	if _, resp, err := s.client(other).Issues.CreateComment(s.ctx, owner, name, n,
		&github.IssueComment{Body: github.String("x")}); err == nil || status(resp) != 403 {
		t.Errorf("writing to a public repository that the token is not for: %v", err)
	}
	list, _, err := s.client(mine).Apps.ListRepos(s.ctx, nil)
	check(t, err)
	equal(t, "the repositories of the token", len(list.Repositories), 1)
	_, resp, err := s.app.Apps.CreateInstallationToken(s.ctx, 70,
		&github.InstallationTokenOptions{Repositories: []string{"nope"}})
	if err == nil || status(resp) != 422 {
		t.Errorf("a token for a repository that is not there: %v", err)
	}
	s.Suspend(70, true)
	if _, resp, err := s.client(all).Issues.CreateComment(s.ctx, owner, name, n,
		&github.IssueComment{Body: github.String("x")}); err == nil || status(resp) != 403 {
		t.Errorf("while suspended: %v", err)
	}
	s.Uninstall(70)
	if _, resp, err := s.client(all).Issues.Get(s.ctx, owner, name, n); err == nil || status(resp) != 401 {
		t.Errorf("after it was removed: %v", err)
	}
}

// TestSignInPagesAreStrict: what a careless App would forget is a problem.
func TestSignInPagesAreStrict(t *testing.T) {
	s := newAppScene(t, fake.App{OAuth: fake.OAuth{ClientID: "Iv1", ClientSecret: "s",
		Callbacks: []string{"https://a.example/back"}}})
	s.wantProblems = []string{"sign-in: no App has the client ID", "sign-in: https://evil.example/ is no callback",
		"sign-in: there is no S256 challenge", "sign-in: there is no state", "manifest: "}
	for query, want := range map[string]int{"client_id=x": 404} {
		s.get("/login/oauth/authorize?"+query, want)
	}
	s.get("/login/oauth/authorize?client_id=Iv1&redirect_uri=https://evil.example/", 400)
	s.get("/login/oauth/authorize?client_id=Iv1&redirect_uri=https://a.example/back", 200)
	resp, err := http.PostForm(s.URL()+"/settings/apps/new", url.Values{"manifest": {`{"name": "x", "webhook": "y"}`}})
	check(t, err)
	_ = resp.Body.Close()
	equal(t, "a manifest with an unknown field", resp.StatusCode, 422)
}

func (s *appScene) get(path string, want int) {
	s.t.Helper()
	resp, err := http.Get(s.URL() + path)
	check(s.t, err)
	_ = resp.Body.Close()
	equal(s.t, path, resp.StatusCode, want)
}
