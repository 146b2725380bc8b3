package work

import (
	"context"
	"errors"
	"fmt"
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
	ask   func(Ask)
	wait  time.Duration

	mu      sync.Mutex
	now     Token
	problem error         // why there was no newer one
	answer  chan struct{} // closed with the next answer of the server
	asked   bool          // and it is on its way
}

// newTokens starts with a token. An answer of the server may take wait.
func newTokens(first Token, wait time.Duration, clock func() time.Time, ask func(Ask)) *tokens {
	return &tokens{clock: clock, ask: ask, wait: wait, now: first, answer: make(chan struct{})}
}

// again asks again for what a server that has gone did not answer.
func (t *tokens) again() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.asked {
		t.ask(Ask{Number: t.now.Number})
	}
}

// take takes in what the server answers.
func (t *tokens) take(answer Token) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.problem = nil
	if answer.Problem != "" {
		t.problem = errors.New(answer.Problem)
	} else if answer.Number > t.now.Number {
		t.now = answer
	}
	t.asked = false
	close(t.answer)
	t.answer = make(chan struct{})
}

// token is one for now. refused is one that does not count any more; "" is none. Where there is no newer one, that at
// hand is used as long as it lasts.
func (t *tokens) token(ctx context.Context, refused string) (string, error) {
	t.mu.Lock()
	now, left := t.now, t.now.Ends.Sub(t.clock())
	if refused != "" && now.Value != refused || refused == "" && left > beforeEnd {
		t.mu.Unlock()
		return now.Value, nil
	}
	if !t.asked {
		t.asked = true
		t.ask(Ask{now.Number, refused != ""})
	}
	answer := t.answer
	t.mu.Unlock()
	late := time.NewTimer(t.wait)
	defer late.Stop()
	var why error
	select {
	case <-answer:
		t.mu.Lock()
		why = t.problem
		newer := t.now
		t.mu.Unlock()
		if newer.Number > now.Number {
			return newer.Value, nil
		}
	case <-ctx.Done():
		why = context.Cause(ctx)
	case <-late.C:
		why = fmt.Errorf("the server has not answered for %s", t.wait)
		t.mu.Lock()
		t.asked = false
		t.mu.Unlock()
	}
	if refused == "" && left > 0 {
		return now.Value, nil
	}
	if why == nil {
		why = errors.New("the server has no newer one")
	}
	return "", fmt.Errorf("renewing the token of the job: %w", why)
}
