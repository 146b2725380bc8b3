package work

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/bot"
)

// Paths below the address of a job. Each takes a POST, with JSON in the request and in the answer.
const (
	OrderPath  = "/order"  // answers an Order
	TokenPath  = "/token"  // takes an Ask, answers a Token
	SyncPath   = "/sync"   // takes a Sync, answers a Synced
	ModelsPath = "/models" // the models that the job may ask are below it, each by its own protocol
)

// MostSync is how large a request may be, in bytes: a record holds what an agent has said.
const MostSync = 64 << 20

const (
	mostOrder  = 40 << 20    // bytes: an order holds a payload of GitHub's
	mostBatch  = 1 << 20     // bytes, after which messages wait for the next request
	answerTime = time.Minute // for one answer
	askAgain   = 2 * time.Second
)

// ErrGone is why a job ends whose server no longer exists, or wants nothing of it.
var ErrGone = errors.New("the server of the job is gone, or wants nothing of it")

// Link is the way from a job's process to its server. The process does all the asking, so it finds a server that was
// started again in the same way as one that did not answer for a while.
type Link struct {
	Address  string        `json:"address"` // of the job: "http://127.0.0.1:4711"
	Bearer   string        `json:"bearer"`
	Patience time.Duration `json:"patience"` // how long the server may not answer until it counts as gone

	prove func(context.Context) (string, error) // makes a bearer for each request; nil: Bearer is that of all
}

// ask asks the server until it answers. The error is an ErrGone or ctx's.
func (l Link) ask(ctx context.Context, path string, say, hear any) error {
	body, err := json.Marshal(say)
	for heard := time.Now(); err == nil; {
		status, err := l.try(ctx, path, body, hear)
		switch {
		case err == nil:
			return nil
		case status == http.StatusLocked: // it is there, and cannot answer now
			heard = time.Now()
		case slices.Contains([]int{http.StatusConflict, http.StatusGone, http.StatusRequestEntityTooLarge}, status),
			time.Since(heard) >= l.Patience:
			return fmt.Errorf("%w: %w", ErrGone, err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(askAgain):
		}
	}
	return err
}

// try asks once. Without an answer the status is 0.
func (l Link) try(ctx context.Context, path string, body []byte, hear any) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.Address+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	if l.prove != nil {
		if l.Bearer, err = l.prove(ctx); err != nil {
			return 0, err
		}
	}
	req.Header.Set("Authorization", "Bearer "+l.Bearer)
	resp, err := http.DefaultClient.Do(req)
	if without := (*url.Error)(nil); errors.As(err, &without) { // the address is a secret
		err = without.Err
	}
	if err != nil {
		return 0, fmt.Errorf("asking %s: %w", req.URL.Host, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10)) // without it the status is enough
		return resp.StatusCode, fmt.Errorf("%s answers %s: %s", req.URL.Host, resp.Status, bytes.TrimSpace(said))
	}
	return resp.StatusCode, json.NewDecoder(io.LimitReader(resp.Body, mostOrder)).Decode(hear)
}

// teller has the messages for the server, in their order. A restarted server gets those that matter again.
// It is safe for concurrent use.
type teller struct {
	wake    chan struct{} // there is something new; holds one
	printed chan struct{} // there is output; holds one

	mu      sync.Mutex
	list    []counted
	last    int // number of the newest
	heard   int // and of the last one that the server has
	held    int // bytes of output that it has not
	dropped int // bytes of output that found no room
}

// counted is a message with about how many bytes it takes.
type counted struct {
	ToServer
	size int
}

// mostHeld bounds the output that waits for the server.
const mostHeld = 1 << 20

// send has a message told. Output that finds no room is left out, and said so.
func (t *teller) send(m ToServer) {
	text, _ := json.Marshal(m) // it came as JSON, or is of plain values
	t.mu.Lock()
	defer t.mu.Unlock()
	if m.Output != "" {
		if t.held+len(text) > mostHeld {
			t.dropped += len(m.Output)
			return
		}
		t.held += len(text)
		if t.dropped > 0 {
			m.Output = fmt.Sprintf("… %d bytes are left out here\n", t.dropped) + m.Output
			t.dropped = 0
		}
	}
	t.last++
	m.Number = t.last
	t.list = append(t.list, counted{m, len(text)})
	news := t.wake
	if m.Output != "" {
		news = t.printed
	}
	select {
	case news <- struct{}{}:
	default:
	}
}

// next is the next request to the server; over says that the server has the last message.
func (t *teller) next() (s Sync, over bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.Heard = t.heard
	for size, rest := 0, t.list; len(rest) > 0 && size <= mostBatch; rest = rest[1:] {
		if m := rest[0]; m.Number > t.heard {
			s.Messages = append(s.Messages, m.ToServer)
			size += m.size
		}
	}
	return s, len(s.Messages) == 0 && len(t.list) > 0 && t.list[len(t.list)-1].End != nil
}

// ack notes what the server has. It is less than before when it was started again: what began is then told with the
// records that it has by now.
func (t *teller) ack(heard int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var begun *bot.StartedRun
	kept := t.list[:0]
	for _, m := range t.list {
		if m.Number <= heard {
			switch {
			case m.Begun != nil:
				begun = m.Begun
			case m.Record != nil && begun != nil:
				begun.Records = max(begun.Records, m.Record.Number)
			case m.Output != "":
				t.held -= m.size
				continue
			case m.Record == nil && m.End == nil: // a new server can do without
				continue
			}
		}
		kept = append(kept, m)
	}
	clear(t.list[len(kept):])
	t.list, t.heard = kept, heard
}

// How long before its end a token is replaced, and how long a new one may take.
const (
	beforeEnd = 5 * time.Minute
	tokenWait = 30 * time.Second
)

// tokens is the token of the job, which the server renews.
type tokens struct {
	clock func() time.Time
	link  Link

	mu    sync.Mutex // held while a token is requested: concurrent callers get that one
	now   Token
	known []string // values that are hidden
}

// hide has no one told these values, and returns all of that kind.
func (t *tokens) hide(values ...string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known = append(t.known, values...)
	return slices.Clone(t.known)
}

// token is one for now. refused is an expired one, or "". Where there is no newer one, that at
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
