package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Session is a person who has signed in.
type Session struct {
	Login   string    // GitHub takes all spellings of one for the same
	OAuth   []byte    // the person's token of GitHub, sealed in the database
	Expires time.Time // from then on the session is not found
}

// PutSession stores a session under a random token, of which the database gets only the SHA-256. The same token's
// session is replaced.
func (s *Store) PutSession(ctx context.Context, token string, p Session) error {
	name := hashed(token)
	oauth, err := s.keys.seal(placeOfOAuth(name), p.OAuth)
	if err != nil {
		return fmt.Errorf("storing a session: %w", err)
	}
	return s.exec(ctx, "storing a session", `INSERT INTO ralph_sessions (token, login, expires, oauth) VALUES (?, ?, ?, ?)
		ON CONFLICT (token) DO UPDATE SET login = excluded.login, expires = excluded.expires, oauth = excluded.oauth`,
		name, p.Login, micros(p.Expires), oauth)
}

// Session is the session of a token; ErrNotFound when there is none, or it has expired.
func (s *Store) Session(ctx context.Context, token string) (Session, error) {
	name := hashed(token)
	q := ask("reading a session", "SELECT login, expires, oauth FROM ralph_sessions WHERE token = ? AND expires > ?", name,
		micros(s.clock()))
	return one(ctx, s, q, func(row scan) (p Session, err error) {
		var expires int64
		var oauth []byte
		if err = row(&p.Login, &expires, &oauth); err == nil {
			p.OAuth, err = s.keys.open(placeOfOAuth(name), oauth)
		}
		p.Expires = fromMicros(expires)
		return p, err
	})
}

// EndSession ends the session of a token; it is no error if there is none.
func (s *Store) EndSession(ctx context.Context, token string) error {
	return s.exec(ctx, "ending a session", "DELETE FROM ralph_sessions WHERE token = ?", hashed(token))
}

// EndSessions ends all sessions of a login.
func (s *Store) EndSessions(ctx context.Context, login string) error {
	return s.exec(ctx, "ending the sessions of a person", "DELETE FROM ralph_sessions WHERE login = ?", login)
}

// hashed is what the database knows of a token. A token is random and long, so nothing slower than a hash is needed.
func hashed(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

func placeOfOAuth(name string) string { return "ralph_sessions.oauth " + name }
