package serve

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/fake"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// TestRotateSecret: another server knows a new secret by the first delivery that it signs, and the old one ends after an
// hour, unless GitHub did not say that it has taken the new one.
func TestRotateSecret(t *testing.T) {
	hub, err := fake.New(fake.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hub.Close)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	private := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	hub.AddApp(fake.App{ID: 7, Slug: "ralph", Owner: "alice", Key: &key.PublicKey, Hook: fake.Hook{Secret: "first"}})
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	dir := t.TempDir()
	keys, err := store.LoadKeys("", dir)
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), store.Options{Dir: dir, Keys: keys, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	server := func() *installed {
		return &installed{s: db, server: github.Server{APIURL: hub.APIURL(), Sleep: func(context.Context, time.Duration) error {
			return nil
		}}, clock: clock, log: slog.New(slog.DiscardHandler)}
	}
	here, there := server(), server()
	if err := here.store(t.Context(), App{ID: 7, Key: string(private), WebhookSecrets: []string{"first"}}); err != nil {
		t.Fatal(err)
	}
	holds := func(in *installed, again bool) []string {
		t.Helper()
		list, err := in.secrets(t.Context(), again)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Clone(list)
	}
	if got := holds(there, false); !slices.Equal(got, []string{"first"}) {
		t.Fatal(got)
	}
	page := &setup{in: here}
	if err := page.RotateSecret(t.Context(), web.Person{Login: "olga"}); err != nil {
		t.Fatal(err)
	}
	second := holds(here, false)[0]
	if second == "first" || !slices.Equal(holds(here, false), []string{second, "first"}) {
		t.Errorf("the server has %q", holds(here, false))
	}
	now = now.Add(readAgain)
	if got := holds(there, true); !slices.Equal(got, []string{second, "first"}) {
		t.Errorf("another server has %q", got)
	}
	now = now.Add(oldHolds)
	if got := holds(there, false); !slices.Equal(got, []string{second}) {
		t.Errorf("an hour later %q count", got)
	}
	hub.Fail(fake.Fault{Match: "PATCH /app/hook/config", Status: 502, Times: -1})
	if err := page.RotateSecret(t.Context(), web.Person{Login: "olga"}); err == nil {
		t.Error("GitHub did not answer, and nobody is told")
	}
	now = now.Add(2 * oldHolds)
	if got := holds(there, false); len(got) != 2 || got[1] != second {
		t.Errorf("GitHub did not answer, and %q count", got)
	}
	log, err := db.Audits(t.Context(), store.AuditFilter{})
	if err != nil || len(log) != 2 || log[1].Person != "olga" || log[1].Result != "done" || log[0].Result == "done" {
		t.Errorf("%+v %v", log, err)
	}
}
