package gateway

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
)

// TestRenew: a login that the provider refuses is renewed once, whoever asks at the same time, and the agent is told to
// ask again. One that cannot be renewed is refused.
func TestRenew(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		fresh    string // "": there is none
		statuses map[int]bool
		after    int
	}{
		{"renewed", "fresh", map[int]bool{503: true, 200: true}, 200},
		{"gone", "", map[int]bool{401: true}, 401},
		{"renewed to one that is refused too", "stale", map[int]bool{503: true, 401: true}, 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("X-Api-Key") != "fresh" {
					w.WriteHeader(http.StatusUnauthorized)
				}
				_, _ = io.WriteString(w, messageStart+messageEnd)
			})
			var renewals atomic.Int64
			turn := opened(t, p, func(_ *Options, up *Upstream) {
				up.Renew = func(_ context.Context, refused []Credential) ([]Credential, bool) {
					if n := renewals.Add(1); n > 1 || c.fresh == "" { // "stale" is refused as well
						return nil, false
					}
					if refused[0].Value != theKey {
						t.Errorf("refused: %v", refused)
					}
					return []Credential{{"x-api-key", c.fresh}}, true
				}
			})
			var asking sync.WaitGroup
			for range 5 {
				asking.Go(func() {
					answer, said := ask(t, turn, "POST", messages, "{}", bearing)
					if !c.statuses[answer.StatusCode] ||
						answer.StatusCode == 503 && (answer.Header.Get("X-Should-Retry") != "true" || said == "") {
						t.Errorf("%s %v %s", answer.Status, answer.Header, said)
					}
				})
			}
			asking.Wait()
			if answer, _ := ask(t, turn, "POST", messages, "{}", bearing); answer.StatusCode != c.after {
				t.Errorf("afterwards: %s, want %d", answer.Status, c.after)
			}
			if n, most := renewals.Load(), int64(2); n < 1 || n > most || c.fresh != "stale" && n != 1 {
				t.Errorf("renewed %d times", n)
			}
			if used, asked := turn.Usage(); asked != (c.after == 200) {
				t.Errorf("usage = %+v", used)
			}
		})
	}
}
