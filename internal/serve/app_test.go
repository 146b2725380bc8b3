package serve

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/store"
)

var appKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// anApp is an App on a GitHub that plays, with the credentials of the setup.
func anApp(t *testing.T, clock func() time.Time, app fake.App) (*fake.GitHub, *installed) {
	t.Helper()
	hub := got[*fake.GitHub](t)(fake.New(fake.Options{}))
	t.Cleanup(hub.Close)
	key := got[*rsa.PrivateKey](t)(appKey())
	private := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	app.ID, app.Slug, app.Key = 7, "ralph", &key.PublicKey
	hub.AddApp(app)
	dir := t.TempDir()
	keys := got[store.Keys](t)(store.LoadKeys("", dir))
	db := got[*store.Store](t)(store.Open(t.Context(), store.Options{Dir: dir, Keys: keys, Clock: clock}))
	t.Cleanup(func() { _ = db.Close() })
	o := Options{Clock: clock, Log: slog.New(slog.DiscardHandler)}
	o.GitHub = github.Server{APIURL: hub.APIURL(), Sleep: func(context.Context, time.Duration) error { return nil }}
	in := &installed{s: db, o: o}
	must(t, in.store(t.Context(), App{ID: 7, Key: string(private), ClientID: "c", ClientSecret: "s", WebhookSecrets: []string{"first"}}))
	return hub, in
}

// TestRotateSecret: both secrets hold for an hour, then the new one alone, unless GitHub did not say that it has taken
// it.
func TestRotateSecret(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	hub, in := anApp(t, func() time.Time { return now }, fake.App{Owner: "alice", Hook: fake.Hook{Secret: "first"}})
	holds := func() []string {
		t.Helper()
		list := got[[]string](t)(in.secrets(t.Context()))
		return slices.Clone(list)
	}
	if got := holds(); !slices.Equal(got, []string{"first"}) {
		t.Fatal(got)
	}
	page := &setup{parts: &parts{in.o, in.s, in}}
	must(t, page.RotateSecret(t.Context(), "olga"))
	second := holds()[0]
	if second == "first" || !slices.Equal(holds(), []string{second, "first"}) {
		t.Errorf("the server has %q", holds())
	}
	now = now.Add(oldHolds)
	if got := holds(); !slices.Equal(got, []string{second}) {
		t.Errorf("an hour later %q count", got)
	}
	hub.Fail(fake.Fault{Match: "PATCH /app/hook/config", Status: 502, Times: -1})
	if err := page.RotateSecret(t.Context(), "olga"); err == nil {
		t.Error("GitHub did not answer, and nobody is told")
	}
	now = now.Add(2 * oldHolds)
	if got := holds(); len(got) != 2 || got[1] != second {
		t.Errorf("GitHub did not answer, and %q count", got)
	}
	log, err := in.s.Audits(t.Context(), store.Filter{})
	if err != nil || len(log) != 2 || log[1].Person != "olga" || log[1].Result != "done" || log[0].Result == "done" {
		t.Errorf("%+v %v", log, err)
	}
}

// TestReached: an address that GitHub or people cannot use well is warned of, with what does not work.
func TestReached(t *testing.T) {
	for address, want := range map[string]string{"http://127.0.0.1:8080": "cannot deliver webhooks", "https://localhost": "cannot deliver webhooks",
		"http://ralph.example.com": "not encrypted", "https://ralph.example.com": ""} {
		public := got[*url.URL](t)(url.Parse(address))
		if got := fmt.Sprint(reached(public)); !strings.Contains(got, want) || (want == "") != (got == "[]") {
			t.Errorf("%s: %s", address, got)
		}
	}
}
