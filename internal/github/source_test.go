package github

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake"
)

// TestTokenSource: every call carries the token that the source has then, and a source that has none is an error.
func TestTokenSource(t *testing.T) {
	s := newStage(t)
	n := s.AddIssue(owner, name, fake.Issue{Title: "t"})
	s.AddToken("ghs_first", "helper[bot]", fake.Installation)
	s.AddToken("ghs_second", "helper[bot]", fake.Installation)
	token, broken := "ghs_first", error(nil)
	source := func(context.Context) (string, error) { return token, broken }
	for login, kind := range map[string]TokenKind{"": InstallationToken, "helper[bot]": AppToken} {
		token = "ghs_first"
		c := s.client(func(o *Options) { o.Token, o.TokenSource, o.Login = "", source, login })
		for _, next := range []string{"ghs_first", "ghs_second"} {
			token = next
			must[int64](t)(c.Comment(t.Context(), n, "hello"))
			if got := must[string](t)(c.Token(t.Context())); got != next {
				t.Errorf("the token for git is %s, want %s", got, next)
			}
		}
		if self, err := c.whoami(t.Context()); self != "helper[bot]" || err != nil || c.kind != kind {
			t.Errorf("%s of %s, %v", c.kind, self, err)
		}
		if err := c.Revoke(t.Context()); err != nil {
			t.Error(err)
		}
	}
	c := s.client(func(o *Options) { o.Token, o.TokenSource = "", source })
	for want, now := range map[string]func(){
		"the server is gone": func() { broken = errors.New("the server is gone") },
		"it is empty":        func() { token, broken = "", nil },
	} {
		now()
		if _, err := c.Comment(t.Context(), n, "x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if open, _ := s.AppTokens(); open != 0 {
		t.Error("the client has made tokens")
	}
}
