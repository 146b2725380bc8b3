package serve

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
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

const (
	mostBody    = 25 << 20         // the most that GitHub sends
	mostSmall   = 1 << 20          // bytes of a body that waits for no large one
	mostReading = 64 << 20         // of all bodies that are read at the same time, as far as they are small
	mostLarge   = 2                // bodies beyond mostSmall at the same time
	readTime    = 10 * time.Second // GitHub waits no longer for an answer
	mostID      = 100              // bytes of a delivery's id; GitHub's have 36

	signatureLength = len("sha256=") + 2*sha256.Size
)

// How a delivery was answered, as the metrics count it.
const (
	taken     = "taken"
	duplicate = "duplicate"
	forged    = "forged"
	ignored   = "ignored"
	refused   = "unavailable" // it could not be stored
)

// intake answers POST /webhook. A delivery is stored before it is answered, and nothing else is done with it here.
type intake struct {
	keep    func(context.Context, store.Delivery) (fresh bool, err error)
	secrets func(ctx context.Context) ([]string, error) // that hold now, two while one is replaced
	count   func(result string)
	wake    func() // there is something to decide
	log     func(msg string, args ...any)
	clock   func() time.Time
	reading reading
}

// reading bounds the bodies that are read at the same time. Large ones, which few deliveries have and everyone can
// send, wait for each other alone.
type reading struct{ small, large *semaphore.Weighted }

func newReading() reading {
	return reading{semaphore.NewWeighted(mostReading), semaphore.NewWeighted(mostLarge)}
}

// body is one that is being read. It takes of a reading what has come, and not what was announced: a large announcement
// alone makes no other delivery wait.
type body struct {
	got   bytes.Buffer
	ctx   context.Context //nolint:containedctx // Write has none
	of    reading
	small int64
	large bool
}

var errCrowded = errors.New("too many deliveries at once; deliver it again")

// Write implements io.Writer. It waits until there is room.
func (b *body) Write(piece []byte) (int, error) {
	n := int64(b.got.Len() + len(piece))
	if more := min(n, mostSmall) - b.small; more > 0 {
		if b.of.small.Acquire(b.ctx, more) != nil {
			return 0, errCrowded
		}
		b.small += more
	}
	if n > mostSmall && !b.large {
		if b.of.large.Acquire(b.ctx, 1) != nil {
			return 0, errCrowded
		}
		b.large = true
	}
	return b.got.Write(piece)
}

func (b *body) release() {
	b.of.small.Release(b.small)
	if b.large {
		b.of.large.Release(1)
	}
}

// heard reports whether an event can concern ralph: what else GitHub sends is answered and forgotten. Where the App is
// installed is read from GitHub when needed.
func heard(event string) bool {
	return slices.Contains(append(github.NeededEvents(), "repository_dispatch"), event)
}

// ServeHTTP implements http.Handler: 202 stored, now or before; 204 an event that ralph does not hear; 401 not signed
// by GitHub; 400, 405 and 413 no delivery; 503 not stored, to be delivered again.
func (in *intake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, why := in.take(w, r)
	if why != "" {
		http.Error(w, why, status)
		return
	}
	w.WriteHeader(status)
}

// take stores a delivery; why is empty if there is nothing to say.
func (in *intake) take(w http.ResponseWriter, r *http.Request) (status int, why string) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return http.StatusMethodNotAllowed, "GitHub delivers by POST"
	}
	if len(r.Header.Get("X-Hub-Signature-256")) != signatureLength { // no one's body is read for nothing
		return in.forged(r, "X-Hub-Signature-256 is missing")
	}
	ctx, cancel := context.WithTimeout(r.Context(), readTime)
	defer cancel()
	read := &body{ctx: ctx, of: in.reading}
	defer read.release()
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(readTime))
	_, err := io.Copy(read, http.MaxBytesReader(w, r.Body, mostBody))
	switch _, tooLarge := errors.AsType[*http.MaxBytesError](err); {
	case errors.Is(err, errCrowded):
		in.count(refused)
		return http.StatusServiceUnavailable, err.Error()
	case tooLarge:
		return http.StatusRequestEntityTooLarge, "a delivery has at most 25 MB"
	case err != nil:
		return http.StatusBadRequest, "the body ended early"
	}
	body := read.got.Bytes()
	secrets, err := in.secrets(ctx)
	if err != nil {
		return in.unavailable(w, r, err)
	}
	if !signed(body, r.Header.Get("X-Hub-Signature-256"), secrets) {
		return in.forged(r, "the signature is not that of this App's webhook secret")
	}
	id, name := r.Header.Get("X-GitHub-Delivery"), r.Header.Get("X-GitHub-Event")
	if !plainWord(id) || !plainWord(name) {
		return http.StatusBadRequest, "X-GitHub-Delivery or X-GitHub-Event is missing, or is no plain word"
	}
	if !heard(name) {
		in.count(ignored)
		return http.StatusNoContent, ""
	}
	fresh, err := in.keep(ctx, delivered(id, name, body, in.clock()))
	switch {
	case err != nil:
		return in.unavailable(w, r, err)
	case fresh:
		in.count(taken)
		in.wake()
	default:
		in.count(duplicate)
	}
	return http.StatusAccepted, ""
}

// forged notes from where a delivery came that GitHub has not signed.
func (in *intake) forged(r *http.Request, why string) (int, string) {
	in.count(forged)
	in.log("a delivery was not signed by GitHub", "address", web.Address(r), "why", why)
	return http.StatusUnauthorized, why
}

// delivered is a delivery with what lists are asked by, as far as its payload says it.
func delivered(id, name string, body []byte, at time.Time) store.Delivery {
	var head struct {
		Action       string
		Installation struct{ ID int64 }
		Repository   struct {
			FullName string `json:"full_name"`
		}
		Sender struct{ Login string }
	}
	_ = json.Unmarshal(body, &head) // what cannot be read is said when it is decided
	return store.Delivery{ID: id, Event: name, Action: head.Action, Installation: head.Installation.ID,
		Repository: head.Repository.FullName, Sender: head.Sender.Login, Payload: body, Received: at}
}

func (in *intake) unavailable(w http.ResponseWriter, r *http.Request, err error) (int, string) {
	in.count(refused)
	in.log("a delivery could not be stored; GitHub shows it as failed, and ralph requests it again",
		"delivery", r.Header.Get("X-GitHub-Delivery"), "error", err)
	w.Header().Set("Retry-After", "30")
	return http.StatusServiceUnavailable, "the delivery could not be stored; deliver it again"
}

// signed reports whether a body carries the signature of one of the secrets. Every secret is tried, so that the time is
// the same for each.
func signed(body []byte, header string, secrets []string) bool {
	given, err := hex.DecodeString(strings.TrimPrefix(header, "sha256="))
	if err != nil || !strings.HasPrefix(header, "sha256=") {
		return false
	}
	ok := false
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(body)
		ok = hmac.Equal(given, mac.Sum(nil)) || ok
	}
	return ok
}

// plainWord reports whether a header's value can be a name of GitHub's.
func plainWord(s string) bool {
	return s != "" && len(s) <= mostID && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}
