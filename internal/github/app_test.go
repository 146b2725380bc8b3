package github

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake"
)

var appKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// app installs an App that was granted the permissions, nil for all, and is the option to use it.
func (s *stage) app(granted fake.Permissions) func(*Options) {
	s.AddApp(fake.App{ID: 7, Slug: "helper", Owner: owner, InstallationID: 70, Key: &appKey().PublicKey,
		Permissions: granted})
	return func(o *Options) {
		o.Token, o.AppID = "", 7
		o.AppKey = pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(appKey())})
	}
}

// grants keeps the requests for tokens.
type grants struct {
	mu    sync.Mutex
	asked []map[string]any
}

func (g *grants) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/access_tokens") {
			next.ServeHTTP(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		var asked map[string]any
		_ = json.Unmarshal(body, &asked)
		g.mu.Lock()
		g.asked = append(g.asked, asked)
		g.mu.Unlock()
		next.ServeHTTP(w, r)
	})
}

// TestAppAsksForWhatItUses: the one repository, and no permission that nothing needs.
func TestAppAsksForWhatItUses(t *testing.T) {
	want := map[string]any{
		"actions": "read", "checks": "write", "contents": "write", "issues": "write", "metadata": "read",
		"pull_requests": "write", "statuses": "read",
	}
	for _, workflows := range []bool{false, true} {
		g := &grants{}
		s := newStage(t, g.wrap)
		c := s.client(s.app(nil), func(o *Options) { o.AllowWorkflows = workflows })
		if workflows {
			want["workflows"] = "write"
		}
		if len(g.asked) != 1 || !reflect.DeepEqual(g.asked[0]["permissions"], want) ||
			!reflect.DeepEqual(g.asked[0]["repositories"], []any{name}) {
			t.Errorf("asked for %v, want %v", g.asked, want)
		}
		if c.Self() != "helper[bot]" || c.kind != AppToken || c.TokenNote() != "" {
			t.Errorf("%s, %s, %q", c.Self(), c.kind, c.TokenNote())
		}
		if id := must[int64](t)(c.PutCheckRun(t.Context(), s.ralphRun(1), false)); id == 0 {
			t.Error("an App may write check runs")
		}
	}
}

// TestAppThatWasGrantedLess: what was granted is used, and what is left out is said.
func TestAppThatWasGrantedLess(t *testing.T) {
	g := &grants{}
	s := newStage(t, g.wrap)
	less := s.app(fake.Permissions{"contents": "write", "issues": "write", "pull_requests": "write", "checks": "read"})
	c := s.client(less)
	if want := []string{"actions: read", "checks: write", "statuses: read"}; !slices.Equal(c.lacks, want) ||
		len(g.asked) != 2 {
		t.Errorf("it lacks %q, want %q, after %d tries", c.lacks, want, len(g.asked))
	}
	if note := c.TokenNote(); !strings.Contains(note, "has not granted actions: read, checks: write, statuses: read") {
		t.Errorf("note: %q", note)
	}
	n := s.AddIssue(owner, name, fake.Issue{Title: "t"})
	must[int64](t)(c.Comment(t.Context(), n, "hello", false))
	if got := s.Comments(owner, name, n)[0].Author; got != "helper[bot]" {
		t.Errorf("written as %s", got)
	}
	if id, err := c.PutCheckRun(t.Context(), s.ralphRun(1), false); id != 0 || err != nil ||
		!s.said("grant the App the permission checks: write") {
		t.Errorf("%d, %v; said %q", id, err, s.log)
	}
}

// TestAppTokensAreRevoked: those that a client has made, and no other.
func TestAppTokensAreRevoked(t *testing.T) {
	s := newStage(t)
	given := s.client()
	c := s.client(s.app(nil))
	open, _ := s.AppTokens()
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the job was cancelled
	for _, client := range []*Client{given, c, c} {
		if err := client.Revoke(ctx); err != nil {
			t.Error(err)
		}
	}
	if _, revoked := s.AppTokens(); revoked != open {
		t.Errorf("%d of %d tokens were revoked", revoked, open)
	}
	if _, err := given.Issue(t.Context(), s.AddIssue(owner, name, fake.Issue{Title: "t"})); err != nil {
		t.Errorf("a token that was given: %v", err)
	}

	c = s.client(s.app(nil))
	s.RevokeToken(must[string](t)(c.Token(t.Context())))
	if err := c.Revoke(t.Context()); err != nil {
		t.Errorf("one that has expired: %v", err)
	}
	c = s.client(s.app(nil))
	s.Close()
	fails(t, c.Revoke(t.Context()), "expires by itself")
}

// TestAppsThatCannotBeUsed: each says what to do.
func TestAppsThatCannotBeUsed(t *testing.T) {
	s := newStage(t)
	mine := s.app(nil)
	for want, change := range map[string]func(*Options){
		"input app_private_key: reading":       func(o *Options) { o.AppKey = []byte("no key") },
		"does not accept what the App 8 signs": func(o *Options) { o.AppID = 8 },
		"install it, or add the repository":    func(o *Options) { o.AppID = 7; o.Repo.Owner = "bob" },
		"no token: set the input github_token": func(o *Options) { o.AppID = 0 },
	} {
		if err := s.AddRepo("bob", name, "main"); err != nil && !strings.Contains(err.Error(), "already") {
			t.Fatal(err)
		}
		o := s.client().o
		mine(&o)
		change(&o)
		fails(t, errOf(New(t.Context(), o)), want)
	}
}
