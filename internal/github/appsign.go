package github

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// signed carries requests of the App itself. What it signs counts for two minutes by GitHub's clock, which it learns
// from answers: a machine whose clock is an hour off is let in at the second try.
type signed struct {
	next http.RoundTripper
	id   int64
	key  *rsa.PrivateKey
	now  func() time.Time

	mu    sync.Mutex
	ahead time.Duration // GitHub's clock minus ours
}

// mostOff is how far the clocks may be apart before it is taken into account: GitHub's times are whole seconds, and an
// answer takes a while.
const mostOff = 20 * time.Second

// RoundTrip implements http.RoundTripper.
func (s *signed) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := replay(req)
	if err != nil {
		return nil, err
	}
	resp, before, err := s.once(req, body)
	if err != nil || resp.StatusCode != http.StatusUnauthorized || (s.off()-before).Abs() <= mostOff {
		return resp, err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be used again
	_ = resp.Body.Close()
	resp, _, err = s.once(req, body)
	return resp, err
}

// once sends the request, and tells by which offset of the clock it was signed.
func (s *signed) once(req *http.Request, body []byte) (*http.Response, time.Duration, error) {
	ahead := s.off()
	token, err := s.token(s.now().Add(ahead))
	if err != nil {
		return nil, ahead, err
	}
	again := withBody(req, body)
	again.Header.Set("Authorization", "Bearer "+token)
	resp, err := s.next.RoundTrip(again)
	if err == nil {
		s.learn(resp.Header)
	}
	return resp, ahead, err
}

func (s *signed) learn(h http.Header) {
	at, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return
	}
	ahead := at.Sub(s.now())
	if ahead.Abs() <= mostOff {
		ahead = 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead = ahead
}

func (s *signed) off() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ahead
}

// token is a JSON web token as GitHub wants it: whole seconds, and a beginning a little in the past.
func (s *signed) token(now time.Time) (string, error) {
	claims, err := json.Marshal(map[string]any{
		"iat": now.Add(-30 * time.Second).Unix(), "exp": now.Add(90 * time.Second).Unix(),
		"iss": strconv.FormatInt(s.id, 10),
	})
	if err != nil {
		return "", fmt.Errorf("writing the App's web token: %w", err)
	}
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." +
		base64.RawURLEncoding.EncodeToString(claims)
	digest := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, s.key, crypto.SHA256, digest[:])
	if err != nil {
		return "", fmt.Errorf("signing as the App: %w", err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

func escape(s string) string { return url.QueryEscape(s) }
