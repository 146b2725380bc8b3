package github

import (
	"crypto/rsa"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/golang-jwt/jwt/v4"
)

// signed carries requests of the App itself. What it signs counts for two minutes by GitHub's clock, which it learns
// from answers: a machine whose clock is an hour off succeeds at the second try.
type signed struct {
	next  http.RoundTripper
	key   *rsa.PrivateKey
	now   func() time.Time
	ahead atomic.Int64 // GitHub's clock minus ours, in nanoseconds
}

func newSigned(next http.RoundTripper, id int64, key *rsa.PrivateKey, now func() time.Time) (*signed, error) {
	s := &signed{key: key, now: now}
	var err error
	s.next, err = ghinstallation.NewAppsTransportWithOptions(next, id, ghinstallation.WithSigner(s))
	return s, err
}

// mostOff is how far the clocks may be apart before it is taken into account: GitHub's times are whole seconds, and an
// answer takes a while.
const mostOff = 20 * time.Second

// Sign implements ghinstallation.Signer, by GitHub's clock: whole seconds, and a start a little in the past.
func (s *signed) Sign(claims jwt.Claims) (string, error) {
	c, ok := claims.(*jwt.RegisteredClaims)
	if !ok {
		return "", fmt.Errorf("signing as the App: ghinstallation gives claims of the type %T", claims)
	}
	now := s.now().Add(s.off()).Truncate(time.Second)
	c.IssuedAt, c.ExpiresAt = jwt.NewNumericDate(now.Add(-30*time.Second)), jwt.NewNumericDate(now.Add(90*time.Second))
	return jwt.NewWithClaims(jwt.SigningMethodRS256, c).SignedString(s.key)
}

// RoundTrip implements http.RoundTripper.
func (s *signed) RoundTrip(req *http.Request) (*http.Response, error) {
	before := s.off()
	resp, err := s.once(req)
	if err != nil || resp.StatusCode != http.StatusUnauthorized || (s.off()-before).Abs() <= mostOff {
		return resp, err
	}
	discard(resp)
	return s.once(req)
}

// once sends the request, and learns GitHub's clock from the answer.
func (s *signed) once(req *http.Request) (*http.Response, error) {
	resp, err := s.next.RoundTrip(again(req))
	if err != nil {
		return nil, err
	}
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		ahead := at.Sub(s.now())
		if ahead.Abs() <= mostOff {
			ahead = 0
		}
		s.ahead.Store(int64(ahead))
	}
	return resp, nil
}

func (s *signed) off() time.Duration { return time.Duration(s.ahead.Load()) }
