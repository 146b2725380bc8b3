package github

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/fake"
)

// browser clicks through the stand-in's pages without following anything away from it.
type browser struct {
	t *testing.T
	http.Client
}

func newBrowser(t *testing.T) *browser {
	b := &browser{t: t}
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return b
}

var (
	formAction = regexp.MustCompile(`<form method="post" action="([^"]*)"`)
	hidden     = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)
	unescape   = strings.NewReplacer("&#34;", `"`, "&amp;", "&", "&#39;", "'", "&#43;", "+", "&lt;", "<", "&gt;", ">")
)

// press fills the form of a page and presses a button; it returns where that leads.
func (b *browser) press(page *http.Response, fields url.Values) *url.URL {
	b.t.Helper()
	defer page.Body.Close()
	text, _ := io.ReadAll(page.Body)
	action := formAction.FindSubmatch(text)
	if action == nil {
		b.t.Fatalf("%s: there is no form: %s", page.Status, text)
	}
	for _, m := range hidden.FindAllSubmatch(text, -1) {
		if name := string(m[1]); fields.Get(name) == "" {
			fields.Set(name, unescape.Replace(string(m[2])))
		}
	}
	to := must[*url.URL](b.t)(page.Request.URL.Parse(unescape.Replace(string(action[1]))))
	resp := must[*http.Response](b.t)(b.PostForm(to.String(), fields))
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusFound {
		said, _ := io.ReadAll(resp.Body)
		b.t.Fatalf("%s: %s: %s", to, resp.Status, said)
	}
	return must[*url.URL](b.t)(url.Parse(resp.Header.Get("Location")))
}

func (b *browser) open(address string) *http.Response {
	b.t.Helper()
	return must[*http.Response](b.t)(b.Get(address))
}

// begins sends someone to GitHub, and is where they come back with a code, and what proves that it was us.
func (s *stage) begins(a *App, login, authorize string) (back *url.URL, verifier string) {
	s.t.Helper()
	state, verifier := NewSecret(), oauth2.GenerateVerifier()
	b := newBrowser(s.t)
	back = b.press(b.open(must[string](s.t)(a.SignInAddress(callback, state, verifier))),
		url.Values{"login": {login}, "authorize": {authorize}})
	if back.Query().Get("state") != state || !strings.HasPrefix(back.String(), callback+"?") {
		s.t.Fatalf("back at %s", back)
	}
	return back, verifier
}

// TestManifest: the form makes an App that has what ralph uses, once, and the App works.
func TestManifest(t *testing.T) {
	s := newStage(t)
	s.AddOrganization("acme", "alice")
	server := Server{APIURL: s.APIURL(), WebURL: s.URL()}
	m := Manifest{BaseURL: "https://ralph.example/", Name: "Ralph of Acme", Organization: "acme", State: NewSecret()}
	form := must[Form](t)(m.On(server))
	if !strings.HasPrefix(form.Action, s.URL()+"/organizations/acme/settings/apps/new?state=") {
		t.Errorf("%+v", form)
	}
	var shown struct {
		Permissions Permissions          `json:"default_permissions"`
		Events      []string             `json:"default_events"`
		Hook        struct{ URL string } `json:"hook_attributes"`
	}
	if err := json.Unmarshal([]byte(form.Manifest), &shown); err != nil || shown.Permissions["workflows"] != "" ||
		len(shown.Permissions) != 8 || shown.Permissions["members"] != "read" || len(shown.Events) != 7 || shown.Hook.URL != "https://ralph.example/webhook" {
		t.Errorf("%v, %+v", err, shown)
	}
	b := newBrowser(t)
	page := must[*http.Response](t)(b.PostForm(form.Action, url.Values{"manifest": {form.Manifest}}))
	back := b.press(page, url.Values{"name": {"Ralph of Acme"}})
	if back.Host != "ralph.example" || back.Path != CreatedPath || back.Query().Get("state") != m.State {
		t.Fatalf("back at %s", back)
	}
	code := back.Query().Get("code")
	c := must[Credentials](t)(CompleteManifest(t.Context(), server, code))
	if c.Slug != "ralph-of-acme" || c.Owner != "acme" {
		t.Errorf("%+v", c)
	}
	fails(t, errOf(CompleteManifest(t.Context(), server, code)), "used before")
	fails(t, errOf(CompleteManifest(t.Context(), server, "../../user")), "no code")
	a := must[*App](t)(OpenApp(AppOptions{Server: server, ID: c.ID, Key: c.Key, ClientID: c.ClientID,
		ClientSecret: c.ClientSecret}))
	self := must[Self](t)(a.Self(t.Context()))
	if len(Needed(false, false).Lacks(self.Permissions)) > 0 || !self.Organization ||
		self.Settings != s.URL()+"/organizations/acme/settings/apps/ralph-of-acme" {
		t.Errorf("%+v", self)
	}
	install := b.press(b.open(a.InstallPage(c.Slug, "a state")), url.Values{"owner": {owner}, "repositories": {name}})
	if install.Path != InstallPath || install.Query().Get("installation_id") == "" ||
		install.Query().Get("state") != "a state" {
		t.Errorf("back at %s", install)
	}
	if _, err := a.Owns(t.Context(), "acme", "alice"); !errors.Is(err, ErrNoMembers) {
		t.Errorf("where the App is not installed: %v", err)
	}
	s.Install(c.ID, "acme")
	for login, want := range map[string]bool{"alice": true, "bob": false} {
		if got, err := a.Owns(t.Context(), "acme", login); err != nil || got != want {
			t.Errorf("%s owns acme: %v, %v", login, got, err)
		}
	}
	in := must[AppInstallation](t)(a.InstallationOf(t.Context(), event.Repo{Owner: owner, Name: name}))
	must[Token](t)(a.Token(t.Context(), in.ID, name, Needed(false, false)))
	for want, m := range map[string]Manifest{
		"1 to 34":                      {BaseURL: m.BaseURL, Name: strings.Repeat("x", 35), State: m.State},
		"no organization of this name": {BaseURL: m.BaseURL, Name: "x", Organization: "a/b", State: m.State},
	} {
		fails(t, errOf(m.On(server)), want)
	}
}

// TestSignIn: state comes back, the code counts once and for whoever sent the browser, and the token is the person's.
func TestSignIn(t *testing.T) {
	s := newStage(t)
	a := s.opened()
	bob := s.repo("bobs", true)
	hush := s.repo("hush", true)
	s.SetPermission(owner, "bobs", "bob", "write")
	s.SetPermission(owner, name, "bob", "read")
	back, verifier := s.begins(a, "bob", "1")
	token := must[string](t)(a.CompleteSignIn(t.Context(), callback, back.Query().Get("code"), verifier))
	if login := must[string](t)(a.Person(t.Context(), token)); login != "bob" {
		t.Errorf("%s has signed in", login)
	}
	for repo, want := range map[event.Repo]Access{bob: Write, hush: None, {Owner: owner, Name: name}: Read} {
		if got, err := a.PersonRepository(t.Context(), token, repo); err != nil || got.Access != want {
			t.Errorf("%s by bob's token: %d, %v, want %d", repo, got.Access, err, want)
		}
		if got := a.In(installationID, repo).Permission(t.Context(), "bob"); got.Err != nil || got.Level != [...]string{"none", "read", "write"}[want] {
			t.Errorf("%s of bob by the App: %+v, want %d", repo, got, want)
		}
	}
	for login, want := range map[string]bool{"bob": true, "mallory": false} { // both read it
		if got, err := a.Collaborates(t.Context(), event.Repo{Owner: owner, Name: name}, login); err != nil || got != want {
			t.Errorf("%s collaborates: %v, %v", login, got, err)
		}
	}
	list := must[[]Repository](t)(a.PersonRepositories(t.Context(), token, installationID))
	if len(list) != 2 || list[0].Repo.Name != "bobs" || list[0].Access != Write || list[1].Access != Read {
		t.Errorf("%+v", list)
	}
	if list, err := a.PersonRepositories(t.Context(), token, 4711); err != nil || len(list) != 0 {
		t.Errorf("of an installation that is not there: %v, %v", list, err)
	}
	for _, login := range []string{"nobody-knows", "a/../b", "", "-"} {
		if got := a.In(installationID, hush).Permission(t.Context(), login); got.Level != "" && got.Level != "none" {
			t.Errorf("%q may %s", login, got.Level)
		}
	}
}

// TestSignInsThatAreRefused: a stolen code, a denied one, a used one.
func TestSignInsThatAreRefused(t *testing.T) {
	s := newStage(t)
	a := s.opened()
	back, verifier := s.begins(a, "alice", "1")
	code := back.Query().Get("code")
	for _, v := range []string{oauth2.GenerateVerifier(), verifier} { // the first try has used it up
		if _, err := a.CompleteSignIn(t.Context(), callback, code, v); !errors.Is(err, ErrRefusedSignIn) ||
			strings.Contains(err.Error(), code) {
			t.Errorf("%v", err)
		}
	}
	back, _ = s.begins(a, "alice", "0")
	if back.Query().Get("error") != "access_denied" || back.Query().Get("code") != "" {
		t.Errorf("back at %s", back)
	}
	s.Fail(fake.Fault{Match: "POST /login/oauth/access_token", Status: 502})
	fails(t, errOf(a.CompleteSignIn(t.Context(), callback, "x", "y")), "502")
	a = s.opened(func(o *AppOptions) { o.ClientID, o.ClientSecret = "", "" })
	fails(t, errOf(a.SignInAddress(callback, NewSecret(), verifier)), "are not known here")
	if _, err := a.Person(t.Context(), ""); !errors.Is(err, ErrSignedOut) {
		t.Errorf("%v", err)
	}
}

// hooks takes deliveries, as serve would.
type hooks struct {
	mu     sync.Mutex
	secret string
	status int
	bodies map[string][]byte // by GUID
	order  []string
	forged int
}

func (h *hooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	defer h.mu.Unlock()
	mac := hmac.New(sha256.New, []byte(h.secret))
	mac.Write(body)
	if r.Header.Get("X-Hub-Signature-256") != "sha256="+hex.EncodeToString(mac.Sum(nil)) {
		h.forged++
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	guid := r.Header.Get("X-GitHub-Delivery")
	h.order = append(h.order, guid+" "+r.Header.Get("X-GitHub-Event"))
	h.bodies[guid] = body
	w.WriteHeader(h.status)
}

func (h *hooks) set(status int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status = status
}

// TestDeliveries: what happens is delivered, signed, and can be parsed; what was lost is found and sent again.
func TestDeliveries(t *testing.T) {
	s := newStage(t)
	h := &hooks{secret: NewSecret(), status: http.StatusAccepted, bodies: map[string][]byte{}}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	wait := func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		noError(t, s.Delivered(ctx))
	}
	s.AddApp(fake.App{ID: 8, Slug: "hears", Owner: owner, InstallationID: 80, Key: &appKey().PublicKey,
		Events: NeededEvents(), Hook: fake.Hook{URL: server.URL, Secret: h.secret}})
	s.AddApp(fake.App{ID: 9, Slug: "forms", Owner: owner, InstallationID: 90, Key: &appKey().PublicKey,
		Hook: fake.Hook{URL: server.URL, Secret: h.secret, Form: true}})
	a := s.opened(func(o *AppOptions) { o.ID = 8 })
	forms := s.opened(func(o *AppOptions) { o.ID = 9 })
	if hook := must[Hook](t)(forms.Hook(t.Context())); hook.JSON || !hook.Signed {
		t.Errorf("%+v", hook)
	}
	begun := time.Now().Add(-time.Minute)
	n := s.AddIssue(owner, name, fake.Issue{Title: "t"})
	s.Label(owner, name, n, "ralph", "alice")
	s.AddComment(owner, name, n, fake.Comment{Author: "alice", Body: "/ralph stop"})
	wait()
	if len(h.order) != 3 || !strings.HasSuffix(h.order[2], "issue_comment") {
		t.Fatalf("arrived: %q", h.order)
	}
	guid, _, _ := strings.Cut(h.order[1], " ")
	ev := must[event.Event](t)(ParseEvent(Delivery{Name: "issues", Payload: h.bodies[guid]}))
	if ev.Kind != event.Labeled || ev.Label != "ralph" || ev.Sender.Login != "alice" || ev.Issue.Number != n ||
		!bytes.Contains(h.bodies[guid], []byte(`"installation":{"id":80`)) {
		t.Errorf("%+v", ev)
	}
	h.set(http.StatusServiceUnavailable)
	s.Unlabel(owner, name, n, "ralph", "alice")
	wait()
	s.LoseDeliveries(8, 1)
	s.CloseIssue(owner, name, n)
	wait()
	h.set(http.StatusAccepted)
	failed := must[[]FailedDelivery](t)(a.FailedDeliveries(t.Context(), begun))
	if len(failed) != 2 || failed[0].Event != "issues" || failed[0].ID >= failed[1].ID {
		t.Fatalf("failed: %+v", failed)
	}
	if later := must[[]FailedDelivery](t)(a.FailedDeliveries(t.Context(), time.Now().Add(time.Hour))); len(later) != 0 {
		t.Errorf("since later: %+v", later)
	}
	for _, f := range failed {
		if err := a.Redeliver(t.Context(), f.ID); err != nil {
			t.Error(err)
		}
	}
	wait()
	if left := must[[]FailedDelivery](t)(a.FailedDeliveries(t.Context(), begun)); len(left) != 0 || len(h.bodies) != 5 {
		t.Errorf("still failed: %+v", left)
	}
	if err := a.Redeliver(t.Context(), 4711); err == nil {
		t.Error("a delivery that is not there was sent again")
	}
	fresh := NewSecret()
	noError(t, a.RotateSecret(t.Context(), fresh))
	s.Label(owner, name, n, "ralph", "alice")
	wait()
	if h.forged != 1 {
		t.Errorf("%d were signed with another secret, want the one after it was changed", h.forged)
	}
}

// TestManyDeliveries: all pages are read, up to the time that was asked for.
func TestManyDeliveries(t *testing.T) {
	s := newStage(t)
	s.AddApp(fake.App{ID: 8, Slug: "hears", Owner: owner, InstallationID: 80, Key: &appKey().PublicKey,
		Events: NeededEvents(), Hook: fake.Hook{URL: "http://127.0.0.1:1/", Secret: NewSecret()}})
	a := s.opened(func(o *AppOptions) { o.ID = 8 })
	s.LoseDeliveries(8, -1)
	n := s.AddIssue(owner, name, fake.Issue{Title: "t"})
	for range 249 {
		s.AddComment(owner, name, n, fake.Comment{Author: "alice", Body: "hello"})
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	noError(t, s.Delivered(ctx))
	failed := must[[]FailedDelivery](t)(a.FailedDeliveries(t.Context(), time.Now().Add(-time.Hour)))
	if len(failed) != 250 || failed[0].Event != "issues" {
		t.Errorf("%d failed", len(failed))
	}
	if calls := s.count(http.MethodGet, "/app/hook/deliveries"); calls != 3 {
		t.Errorf("%d calls", calls)
	}
}
