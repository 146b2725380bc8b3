package github

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v60/github"
)

// TestExplain has a row for each way in which a call fails, and what its reader is told to do.
func TestExplain(t *testing.T) {
	answer := func(status int, message string, headers ...string) error {
		r := &http.Response{StatusCode: status, Header: http.Header{}}
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		return &github.ErrorResponse{Response: r, Message: message}
	}
	network := func(err error) error {
		return &url.Error{Op: "Get", URL: "https://api.github.com/x?sig=s3cr3t", Err: err}
	}
	at := time.Date(2026, 11, 21, 12, 34, 0, 0, time.UTC)
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"401", answer(401, "Bad credentials"), "GitHub does not accept the token (401: Bad credentials); renew it"},
		{"403", answer(403, "No"), "the token may not do this (403: No); give the job, or the token, the permissions " +
			"contents, issues and pull-requests: write"},
		{"403 that names the permission",
			answer(403, "No", "X-Accepted-GitHub-Permissions", "contents=write,workflows=write; administration=read"),
			"the permission contents: write and workflows: write or administration: read"},
		{"403 of a classic token", answer(403, "No", "X-Accepted-OAuth-Scopes", "public_repo, repo", "X-OAuth-Scopes", "gist"),
			"it takes one of the scopes public_repo, repo, and the token has gist"},
		{"403 of a single sign-on", answer(403, "No", "X-GitHub-SSO", "required; url=https://github.com/orgs/acme/sso?x=s3cr3t"),
			"authorize it under Settings"},
		{"404", answer(404, "Not Found"),
			"GitHub does not find it, or the token may not see it (404: Not Found); check that it is still there"},
		{"a used up hour", &github.RateLimitError{Rate: github.Rate{Reset: github.Timestamp{Time: at}}},
			"used up (rate limit); GitHub takes new ones from 12:34 UTC on"},
		{"DNS", network(&net.DNSError{Name: "api.nowhere"}), "the name api.nowhere is not known here (DNS)"},
		{"TLS", network(&tls.CertificateVerificationError{Err: errors.New("x")}),
			"is not one that this machine trusts (TLS)"},
		{"anything else", network(errors.New("odd\nthing")), "odd thing; check the network"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := explain("reading x", tt.err)
			clear(t, tt.name, err)
			if !strings.HasPrefix(err.Error(), "reading x: ") || !strings.Contains(err.Error(), tt.want) ||
				strings.Contains(err.Error(), "s3cr3t") || !errors.Is(err, tt.err) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
	if err := explain("outer", explain("inner", answer(404, ""))); !ErrGone(err) ||
		strings.Count(err.Error(), "404") != 1 {
		t.Errorf("explained twice: %v", err)
	}
	if err := explain("reading x", fmt.Errorf("x: %w", context.Canceled)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if got := oneLine(strings.Repeat("é ", 400)); len(got) > mostSaid+4 || !strings.HasSuffix(got, "…") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

// TestRedirectsStayAtGitHub: a token follows a renamed repository, and no redirect elsewhere.
func TestRedirectsStayAtGitHub(t *testing.T) {
	from := &http.Request{URL: &url.URL{Scheme: "https", Host: "api.github.com", Path: "/repos/a/b"}}
	for to, follow := range map[string]bool{
		"https://api.github.com/repositories/7": true, "https://evil.example/repositories/7": false,
		"http://api.github.com/repositories/7": false,
	} {
		at, err := url.Parse(to)
		noError(t, err)
		if got := stay(&http.Request{URL: at}, []*http.Request{from}); (got == nil) != follow {
			t.Errorf("%s: %v", to, got)
		}
	}
	if stay(from, []*http.Request{from, from, from, from, from}) == nil {
		t.Error("it goes round in circles")
	}
}
