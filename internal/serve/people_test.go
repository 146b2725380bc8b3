package serve

import (
	"encoding/base64"
	"slices"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// TestSessionsAreAudited: that somebody signs out is in the audit log, once, and of a session that is there.
func TestSessionsAreAudited(t *testing.T) {
	keys, err := store.ParseKeys(base64.StdEncoding.EncodeToString(make([]byte, 32)))
	must(t, err)
	s, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Keys: keys})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	p := &people{s: s, clock: time.Now}
	for _, token := range []string{"one", "two", "three"} {
		must(t, p.Start(t.Context(), token, web.Identity{Person: web.Person{Login: "alice"}, Token: "ghu_made-up"}))
	}
	must(t, p.End(t.Context(), "one"))
	if err := p.End(t.Context(), "one"); err == nil {
		t.Error("a session ended twice")
	}
	must(t, p.EndAll(t.Context(), "alice"))
	for _, token := range []string{"one", "two", "three"} {
		if _, err := p.Find(t.Context(), token); err == nil {
			t.Errorf("the session %s goes on", token)
		}
	}
	rows, err := s.Audits(t.Context(), store.AuditFilter{})
	must(t, err)
	var did []string
	for _, e := range rows {
		did = append(did, e.Action+" "+e.Result)
	}
	if want := []string{"session.end everywhere done", "session.end done"}; !slices.Equal(did, want) {
		t.Errorf("the audit log has %q, want %q", did, want)
	}
}
