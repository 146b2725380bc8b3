package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/fake"
)

const (
	appID, installationID = 7, 70
	clientID, secret      = "Iv23liCLIENT", "5ec2e70000000000000000000000000000000000"
	callback              = "https://ralph.example/sign-in/callback"
)

// opened is the App on the stage, installed for alice. Its server's webhooks go nowhere.
func (s *stage) opened(change ...func(*AppOptions)) *App {
	s.t.Helper()
	if !slices.Contains(s.Apps(), appID) {
		s.AddApp(fake.App{ID: appID, Slug: "helper", Owner: owner, InstallationID: installationID, Key: &appKey().PublicKey,
			OAuth: fake.OAuth{ClientID: clientID, ClientSecret: secret, Callbacks: []string{callback}}})
	}
	o := AppOptions{Server: s.server(), ID: appID, Key: Key{appKey()}, ClientID: clientID, ClientSecret: secret}
	for _, c := range change {
		c(&o)
	}
	return must[*App](s.t)(OpenApp(o))
}

func (s *stage) repo(name string, private bool) event.Repo {
	s.t.Helper()
	noError(s.t, s.AddRepo(owner, name, "main"))
	s.SetPrivate(owner, name, private)
	return event.Repo{Owner: owner, Name: name, DefaultBranch: "main"}
}

// TestAppKnowsItself: who it is, as whom it writes, and where it is installed.
func TestAppKnowsItself(t *testing.T) {
	s := newStage(t)
	a := s.opened()
	if len(a.Budgets()) != 0 {
		t.Error("how many calls are left is known before anything was asked")
	}
	login := must[string](t)(a.Login(t.Context()))
	self := must[Self](t)(a.Self(t.Context()))
	if login != "helper[bot]" || self.Owner != owner ||
		self.Settings != s.URL()+"/settings/apps/helper" || self.Permissions["contents"] != "write" {
		t.Errorf("%s: %+v", login, self)
	}
	s.repo("second", true)
	s.AddUser("acme", false)
	s.AddOrganization("acme")
	noError(t, s.AddRepo("acme", "tool", "main"))
	acme := s.Install(appID, "acme", "tool")
	list := must[[]AppInstallation](t)(a.Installations(t.Context()))
	if len(list) != 2 || list[0].ID != installationID || list[1].ID != acme || list[1].Account != "acme" {
		t.Errorf("installations: %+v", list)
	}
	repos := must[[]Repository](t)(a.Repositories(t.Context(), installationID))
	if len(repos) != 2 || repos[0].Repo.Name != name || repos[1].Repo.String() != "alice/second" || !repos[1].Private ||
		repos[1].Repo.DefaultBranch != "main" {
		t.Errorf("repositories: %+v", repos)
	}
	if left := a.Budgets()[installationID]; left != 4999 {
		t.Errorf("%d calls are left", left)
	}
	in := must[AppInstallation](t)(a.InstallationOf(t.Context(), event.Repo{Owner: "acme", Name: "tool"}))
	if in.ID != acme {
		t.Errorf("acme/tool belongs to %d, want %d", in.ID, acme)
	}
	s.Uninstall(acme)
	if _, err := a.InstallationOf(t.Context(), event.Repo{Owner: "acme", Name: "tool"}); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("after it was removed: %v", err)
	}
	if _, err := a.Installation(t.Context(), acme); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("by its id: %v", err)
	}
}

// TestScopedTokens: a token is for one repository and for what was wanted, and for nothing else.
func TestScopedTokens(t *testing.T) {
	s := newStage(t)
	a := s.opened()
	second := s.repo("second", true)
	n := s.AddIssue(owner, name, fake.Issue{Title: "t"})
	m := s.AddIssue(owner, "second", fake.Issue{Title: "t"})
	token := must[Token](t)(a.Token(t.Context(), installationID, owner+"/"+name, Permissions{"issues": "write",
		"metadata": "read"}))
	if left := time.Until(token.Ends); left < 55*time.Minute || left > 65*time.Minute || len(token.Lacks) != 0 {
		t.Errorf("%v left, lacks %q", left, token.Lacks)
	}
	mine, other := s.client(as(token.Value)), s.client(as(token.Value), func(o *Options) { o.Repo = second })
	must[int64](t)(mine.Comment(t.Context(), n, "hello", false))
	if _, err := other.Comment(t.Context(), m, "hello", false); !ErrGone(err) {
		t.Errorf("in another repository: %v", err)
	}
	if _, err := mine.PutCheckRun(t.Context(), s.ralphRun(1), false); err != nil || !s.said("checks: write") {
		t.Errorf("a check run: %v, %q", err, s.log)
	}
	if err := a.Revoke(t.Context(), token); err != nil {
		t.Error(err)
	}
	if err := a.Revoke(t.Context(), token); err != nil {
		t.Errorf("twice: %v", err)
	}
	if _, err := mine.Comment(t.Context(), n, "x", false); !statusIs(err, 401) {
		t.Errorf("with a revoked token: %v", err)
	}
	for want, err := range map[string]error{
		"a repository":      errOf(a.Token(t.Context(), installationID, "", deciding())),
		"permissions":       errOf(a.Token(t.Context(), installationID, name, nil)),
		"not, or no longer": errOf(a.Token(t.Context(), installationID, "nothing", deciding())),
		"it was removed":    errOf(a.Token(t.Context(), 71, name, deciding())),
	} {
		fails(t, err, want)
	}
	s.Suspend(installationID, true)
	fails(t, errOf(a.Token(t.Context(), installationID, name, deciding())), "suspended")
}

// TestTokenOfLess: what the installation was not granted is left out and named, and said where it is granted.
func TestTokenOfLess(t *testing.T) {
	s := newStage(t)
	a := s.opened()
	s.Grant(installationID, fake.Permissions{"contents": "write", "issues": "write", "pull_requests": "write", "checks": "read"})
	token := must[Token](t)(a.Token(t.Context(), installationID, name, Needed(false, false)))
	lacks := []string{"actions: read", "checks: write", "statuses: read"}
	if !slices.Equal(token.Lacks, lacks) {
		t.Errorf("lacks %q", token.Lacks)
	}
	in := must[AppInstallation](t)(a.Installation(t.Context(), installationID))
	self := must[Self](t)(a.Self(t.Context()))
	g := Grants(self, in, Needed(false, false))
	if !slices.Equal(g.Lacks, lacks) || !strings.Contains(g.Problem, "has not granted") && !strings.Contains(g.Problem,
		"not been granted") ||
		!strings.Contains(g.Advice, "asks for it already") || !strings.Contains(g.Advice, in.Page) {
		t.Errorf("%+v", g)
	}
	self.Permissions = Permissions{"contents": "write"}
	if g = Grants(self, in, Needed(false, false)); !strings.Contains(g.Advice, "/settings/apps/helper/permissions") {
		t.Errorf("%+v", g)
	}
	in.Suspended = true
	if g = Grants(self, in, Needed(false, false)); !strings.Contains(g.Problem, "is suspended") {
		t.Errorf("%+v", g)
	}
	if g = Grants(self, AppInstallation{Permissions: Needed(true, true)}, Needed(false, false)); g.Problem != "" ||
		g.Advice != "" {
		t.Errorf("with all of it: %+v", g)
	}
}

// TestSourceRenews: one token for all who ask, another before it ends, and all are revoked.
func TestSourceRenews(t *testing.T) {
	s := newStage(t)
	now := time.Now()
	a := s.opened(func(o *AppOptions) { o.Now = func() time.Time { return now } })
	source := a.source(func(ctx context.Context) (Token, error) {
		return a.Token(ctx, installationID, name, Needed(false, false))
	})
	first := must[string](t)(source.Token(t.Context(), ""))
	values := make(chan string, 20)
	for range cap(values) {
		go func() {
			value, err := source.Token(t.Context(), "")
			if err != nil {
				t.Error(err)
			}
			values <- value
		}()
	}
	for range cap(values) {
		if got := <-values; got != first {
			t.Errorf("%s, want %s", got, first)
		}
	}
	for _, step := range []time.Duration{51 * time.Minute, -time.Hour} { // also when the clock is set back
		now = now.Add(step)
		if second := must[string](t)(source.Token(t.Context(), "")); second == first {
			t.Errorf("after %s it is the same", step)
		} else {
			first = second
		}
	}
	if again := must[string](t)(source.Token(t.Context(), first)); again == first {
		t.Error("a token that was refused is given again")
	}
	open, revoked := s.AppTokens()
	if err := source.Revoke(t.Context()); err != nil {
		t.Error(err)
	}
	if left, gone := s.AppTokens(); open != 4 || revoked != 0 || gone != 3 || left != 1 {
		t.Errorf("%d open, %d revoked; then %d and %d", open, revoked, left, gone)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := source.Token(ended, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

// TestClocksApart: the App is let in by a server whose clock is another, and says how far they are apart.
func TestClocksApart(t *testing.T) {
	for _, off := range []time.Duration{time.Hour, -time.Hour} {
		s := newStage(t)
		a := s.opened(func(o *AppOptions) { o.Now = func() time.Time { return time.Now().Add(-off) } })
		if _, err := a.Self(t.Context()); err != nil {
			t.Errorf("%s apart: %v", off, err)
		}
		if _, err := a.Installations(t.Context()); err != nil {
			t.Error(err)
		}
		if got := a.ClockOff(); (got - off).Abs() > 5*time.Second {
			t.Errorf("%s apart, it says %s", off, got)
		}
		if n := s.count(http.MethodGet, "/app"); n != 3 {
			t.Errorf("%d calls, want one more at the first", n)
		}
	}
}

// TestSecretsHide: whatever prints them.
func TestSecretsHide(t *testing.T) {
	hidden := []any{Token{Value: "HUSH"},
		Credentials{ClientSecret: "HUSH", WebhookSecret: "HUSH", Key: Key{appKey()}}, Key{appKey()}}
	number := appKey().D.String()
	for _, v := range hidden {
		text, err := json.Marshal(v)
		noError(t, err)
		for _, shown := range []string{fmt.Sprint(v), fmt.Sprintf("%+v %#v", v, v), string(text)} {
			if strings.Contains(shown, "HUSH") || strings.Contains(shown, number) {
				t.Errorf("%T shows a secret: %.200s", v, shown)
			}
		}
	}
}
