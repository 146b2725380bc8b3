package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// secret is a row of what is sealed.
type secret struct {
	Name    string
	Login   string    // of a session
	Expires time.Time // the same; zero: never
	Value   []byte    // sealed or open
}

// seal stores a secret, in place of an earlier one of its name.
func (s *Store) seal(t *transaction, v secret) (err error) {
	if v.Value, err = s.keys.seal(v.Name, v.Value); err != nil {
		return err
	}
	return t.insert("ralph_secrets", &v, " ON CONFLICT (name) DO UPDATE SET login = excluded.login, "+
		"expires = excluded.expires, sealed = excluded.sealed")
}

// unsealed reads a secret by its name, or returns ErrNotFound.
func (s *Store) unsealed(ctx context.Context, doing, name string) (secret, error) {
	v, err := one[secret](ctx, s, doing, "SELECT * FROM ralph_secrets WHERE name = ?", name)
	if err == nil {
		v.Value, err = s.keys.open(name, v.Value)
	}
	return v, err
}

// Seal stores a secret by its name, encrypted, in place of an earlier one.
func (s *Store) Seal(ctx context.Context, name string, value []byte) error {
	return s.write(ctx, "storing a secret", func(t *transaction) error { return s.seal(t, secret{Name: name, Value: value}) })
}

// Unseal reads a secret by its name, or returns ErrNotFound.
func (s *Store) Unseal(ctx context.Context, name string) ([]byte, error) {
	v, err := s.unsealed(ctx, "reading a secret", name)
	return v.Value, err
}

// Sealed returns the names of secrets that start with a text.
func (s *Store) Sealed(ctx context.Context, prefix string) ([]string, error) {
	return list[string](ctx, s, "listing secrets", "SELECT name FROM ralph_secrets WHERE substr(name, 1, ?) = ?",
		len(prefix), prefix)
}

// Remove removes a secret. A missing secret is no error.
func (s *Store) Remove(ctx context.Context, name string) error {
	return s.exec(ctx, "removing a secret", "DELETE FROM ralph_secrets WHERE name = ?", name)
}

// Session is a person who has signed in.
type Session struct {
	Login   string    // GitHub takes all spellings of one for the same
	OAuth   []byte    // the person's token of GitHub, sealed in the database
	Expires time.Time // from then on the session is not found
}

// PutSession stores a session under a random token, of which the database gets only the SHA-256. The same token's
// session is replaced.
func (s *Store) PutSession(ctx context.Context, token string, p Session) error {
	return s.write(ctx, "storing a session", func(t *transaction) error {
		return s.seal(t, secret{hashed(token), p.Login, p.Expires, p.OAuth})
	})
}

// Session is the session of a token; ErrNotFound when it does not exist or has expired.
func (s *Store) Session(ctx context.Context, token string) (Session, error) {
	v, err := s.unsealed(ctx, "reading a session", hashed(token))
	if err == nil && !v.Expires.After(s.clock()) {
		return Session{}, fmt.Errorf("reading a session: %w", ErrNotFound)
	}
	return Session{v.Login, v.Value, v.Expires}, err
}

// EndSession ends the session of a token, or with everywhere all sessions of its person. A missing session is no error.
func (s *Store) EndSession(ctx context.Context, token string, everywhere bool) error {
	return s.exec(ctx, "ending a session", `DELETE FROM ralph_secrets WHERE name = ?1
		OR ?2 AND login <> '' AND login = (SELECT login FROM ralph_secrets WHERE name = ?1)`, hashed(token), everywhere)
}

// hashed is what the database knows of a token. A token is random and long, so nothing slower than a hash is needed.
func hashed(token string) string {
	sum := sha256.Sum256([]byte(token))
	return "session " + hex.EncodeToString(sum[:])
}

// keyCheck is a secret without a secret in it: it opens with the keys of this database and no others.
const keyCheck = "the keys are these"

// checkKeys refuses keys that do not open what is sealed, before anything is sealed with them.
func (s *Store) checkKeys(ctx context.Context) error {
	_, err := s.Unseal(ctx, keyCheck)
	if errors.Is(err, ErrNotFound) {
		return s.Seal(ctx, keyCheck, nil)
	}
	if err != nil {
		err = fmt.Errorf("the keys are not those of this database; set RALPH_DATA_KEY, or put the file ralph.key "+
			"of its directory where it was: %w", err)
	}
	return err
}
