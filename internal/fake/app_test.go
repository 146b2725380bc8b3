package fake_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"testing"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/fake"
)

func TestApp(t *testing.T) {
	s := newScene(t)
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	check(t, err)
	s.AddApp(fake.App{ID: 7, Slug: "ralph", Owner: owner, InstallationID: 70, Key: &key.PublicKey})
	n := s.AddIssue(owner, name, fake.Issue{Title: "t"})
	raw := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	enterprise := func(rt http.RoundTripper) *github.Client {
		c, err := github.NewClient(&http.Client{Transport: rt}).WithEnterpriseURLs(s.URL(), s.URL())
		check(t, err)
		return c
	}

	asApp, err := ghinstallation.NewAppsTransport(http.DefaultTransport, 7, raw)
	check(t, err)
	asApp.BaseURL = s.APIURL()
	app, _, err := enterprise(asApp).Apps.Get(s.ctx, "")
	check(t, err)
	equal(t, "slug", app.GetSlug(), "ralph")
	in, _, err := enterprise(asApp).Apps.FindRepositoryInstallation(s.ctx, owner, name)
	check(t, err)
	equal(t, "installation", in.GetID(), int64(70))

	installed := ghinstallation.NewFromAppsTransport(asApp, in.GetID())
	made, _, err := enterprise(installed).Issues.CreateComment(s.ctx, owner, name, n,
		&github.IssueComment{Body: github.String("hello")})
	check(t, err)
	equal(t, "author", made.GetUser().GetLogin(), "ralph[bot]")
	token, err := installed.Token(s.ctx)
	check(t, err)
	s.mustGit(t.TempDir(), "ls-remote", s.withToken(token))

	narrow := ghinstallation.NewFromAppsTransport(asApp, in.GetID())
	narrow.InstallationTokenOptions =
		&github.InstallationTokenOptions{Permissions: &github.InstallationPermissions{Issues: github.String("read")}}
	if _, resp, err := enterprise(narrow).Issues.CreateComment(s.ctx, owner, name, n,
		&github.IssueComment{Body: github.String("no")}); err == nil || status(resp) != 403 {
		t.Errorf("a comment of a token for reading: %v, want 403", err)
	}

	other, err := rsa.GenerateKey(rand.Reader, 1024)
	check(t, err)
	wrong := ghinstallation.NewAppsTransportFromPrivateKey(http.DefaultTransport, 7, other)
	wrong.BaseURL = s.APIURL()
	if _, resp, err := enterprise(wrong).Apps.Get(s.ctx, ""); err == nil || status(resp) != 401 {
		t.Errorf("a web token of another key: %v, want 401", err)
	}
	if _, resp, err := s.client(pat).Apps.Get(s.ctx, ""); err == nil || status(resp) != 401 {
		t.Errorf("a person's token as an App: %v, want 401", err)
	}
}
