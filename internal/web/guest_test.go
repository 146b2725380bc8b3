package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/fake/webpages"
	"github.com/ralph-loop/ralph/internal/web"
)

// TestGuest: whoever is at this machine reads what the installation sees, and does nothing.
func TestGuest(t *testing.T) {
	s := open(t, func(o *web.Options) { o.Open = true })
	for _, may := range []struct {
		repository string
		web.Permission
	}{{webpages.Demo, web.MayWrite}, {webpages.Docs, web.MayRead}} { // a Source that says too much is not believed
		s.world.Let("a guest", may.repository, may.Permission)
	}
	seen := 0
	for _, rt := range web.Table() {
		method, pattern, _ := strings.Cut(rt.Pattern, " ")
		for _, address := range addresses(pattern) {
			got, text := s.asks("", method, address, "text=x", nil)
			if got.StatusCode == http.StatusOK && rt.Guarded {
				seen++
			}
			for _, word := range secrets {
				if got.StatusCode != http.StatusSeeOther && strings.Contains(strings.ReplaceAll(text, address, ""), word) {
					t.Errorf("%s %s tells a guest %q", method, address, word)
				}
			}
			if strings.Contains(text, `<form method="post"`) && rt.Guarded {
				t.Errorf("%s %s has a button for a guest", method, address)
			}
			if done := s.world.Done(); len(done) > 0 {
				t.Fatalf("%s %s: a guest did %+v", method, address, done)
			}
		}
	}
	if seen < 15 {
		t.Errorf("a guest sees %d pages", seen)
	}
}

// TestNoGuest: what comes from elsewhere, or under another name, has to sign in; and pages that others can reach are
// not open.
func TestNoGuest(t *testing.T) {
	s := open(t, func(o *web.Options) { o.Open = true })
	s.world.Let("a guest", webpages.Demo, web.MayRead)
	for name, c := range map[string]struct {
		edit   func(*http.Request)
		status int
	}{
		"near":               {nil, http.StatusOK},
		"passed on":          {func(r *http.Request) { r.Header.Set("X-Forwarded-For", "192.0.2.1") }, http.StatusSeeOther},
		"passed on, by name": {func(r *http.Request) { r.Header.Set("Forwarded", "for=192.0.2.1") }, http.StatusSeeOther},
		"another name":       {func(r *http.Request) { r.Host = "evil.example" }, http.StatusMisdirectedRequest},
	} {
		if got, _ := s.asks("", "GET", "/runs/run-3", "", c.edit); got.StatusCode != c.status {
			t.Errorf("%s: %d, want %d", name, got.StatusCode, c.status)
		}
	}
	o := s.world.Options(&url.URL{Scheme: "https", Host: "ralph.example"})
	o.Open = true
	if _, err := web.New(o); err == nil {
		t.Error("pages are open that others can reach")
	}
	closed := open(t, nil)
	closed.world.Let("a guest", webpages.Demo, web.MayRead)
	if got, _ := closed.asks("", "GET", "/runs/run-3", "", nil); got.StatusCode != http.StatusSeeOther {
		t.Errorf("without --open: %d", got.StatusCode)
	}
}
