package work

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// How long before its end a token is replaced, and how long a new one may take.
const (
	beforeEnd = 5 * time.Minute
	tokenWait = 30 * time.Second
)

// tokens is the token of the job, which the server renews.
type tokens struct {
	clock func() time.Time
	link  Link

	mu    sync.Mutex // held while a token is asked for: who wants one meanwhile gets that
	now   Token
	known []string // values that no one is told
}

// hide has no one told these values, and returns all of that kind.
func (t *tokens) hide(values ...string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known = append(t.known, values...)
	return slices.Clone(t.known)
}

// token is one for now. refused is one that does not count any more; "" is none. Where there is no newer one, that at
// hand is used as long as it lasts.
func (t *tokens) token(ctx context.Context, refused string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	left := t.now.Ends.Sub(t.clock())
	if refused != "" && t.now.Value != refused || refused == "" && left > beforeEnd {
		return t.now.Value, nil
	}
	wait := max(tokenWait, t.link.Patience)
	soon, cancel := context.WithTimeoutCause(ctx, wait, fmt.Errorf("the server has not answered for %s", wait))
	defer cancel()
	var newer Token
	err := t.link.ask(soon, TokenPath, Ask{t.now.Number}, &newer)
	switch {
	case err == nil && newer.Problem != "":
		err = errors.New(newer.Problem)
	case err == nil && newer.Number > t.now.Number:
		t.now, t.known = newer, append(t.known, newer.Value)
		return newer.Value, nil
	case err == nil:
		err = errors.New("the server has no newer one")
	}
	if refused == "" && left > 0 {
		return t.now.Value, nil
	}
	return "", fmt.Errorf("renewing the token of the job: %w", err)
}
