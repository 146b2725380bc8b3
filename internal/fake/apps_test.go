package fake_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"strings"
	"testing"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/fake"
)

// TestTokensAreScoped: by git, a token reaches its repository alone; in what is public it only reads.
func TestTokensAreScoped(t *testing.T) {
	s := newScene(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	check(t, err)
	s.AddApp(fake.App{ID: 7, Slug: "ralph", Owner: owner, InstallationID: 70, Key: &key.PublicKey})
	check(t, s.AddRepo(owner, "hush", "main"))
	s.SetPrivate(owner, "hush", true)
	raw := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	signed, err := ghinstallation.NewAppsTransport(&http.Transport{}, 7, raw)
	check(t, err)
	signed.BaseURL = s.APIURL()
	app, err := github.NewClient(&http.Client{Transport: signed}).WithEnterpriseURLs(s.URL(), s.URL())
	check(t, err)
	token := func(repository string) string {
		made, _, err := app.Apps.CreateInstallationToken(s.ctx, 70,
			&github.InstallationTokenOptions{Repositories: []string{repository}})
		check(t, err)
		return made.GetToken()
	}
	n := s.AddIssue(owner, name, fake.Issue{Title: "t"})
	hushed := "http://x-access-token:" + token(name) + "@" + strings.TrimPrefix(s.CloneURL(owner, "hush"), "http://")
	if out, err := s.git(t.TempDir(), "ls-remote", hushed); err == nil {
		t.Errorf("git reads a repository that the token is not for: %s", out)
	}
	if _, resp, err := s.client(token("hush")).Issues.CreateComment(s.ctx, owner, name, n,
		&github.IssueComment{Body: github.String("x")}); err == nil || resp.StatusCode != 403 {
		t.Errorf("writing to a public repository that the token is not for: %v", err)
	}
}
