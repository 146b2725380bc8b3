package gateway

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// keys are the credentials of a way, which may be renewed while it is open.
type keys struct {
	renew func(ctx context.Context, refused []Credential) ([]Credential, bool)

	mu   sync.Mutex
	held *[]Credential // replaced, never changed
	lost bool          // held was refused, and there are no others
}

func (k *keys) now() *[]Credential {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.held
}

// renewed reports whether there are other credentials than those that the provider has refused. Whoever comes while
// they are renewed waits, and finds the new ones.
func (k *keys) renewed(ctx context.Context, refused *[]Credential) bool {
	if k.renew == nil || refused == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held != refused {
		return true
	}
	if k.lost {
		return false
	}
	fresh, ok := k.renew(ctx, *refused)
	if k.lost = !ok; ok {
		k.held = &fresh
	}
	return ok
}

// askAgain makes a refusal of credentials that have been renewed an answer after which each CLI asks again at once.
func askAgain(r *http.Response, p Protocol) {
	_ = r.Body.Close()
	text := failure(p, http.StatusServiceUnavailable, "ralph: the login has been renewed: ask again")
	r.StatusCode, r.Status = http.StatusServiceUnavailable, ""
	r.Header = http.Header{"Content-Type": {"application/json"}, "Content-Length": {strconv.Itoa(len(text))},
		"X-Should-Retry": {"true"}, "Retry-After": {"0"}}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
}
