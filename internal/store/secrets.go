package store

import (
	"context"
	"errors"
	"fmt"
)

// placeOf is what a secret is bound to.
func placeOf(name string) string { return "ralph_secrets.value " + name }

// Seal stores a secret by its name, encrypted, in place of an earlier one.
func (s *Store) Seal(ctx context.Context, name string, value []byte) error {
	sealed, err := s.keys.seal(placeOf(plain(name)), value)
	if err != nil {
		return fmt.Errorf("storing a secret: %w", err)
	}
	return s.exec(ctx, "storing a secret", `INSERT INTO ralph_secrets (name, at, value) VALUES (?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET at = excluded.at, value = excluded.value`, plain(name), micros(s.clock()), sealed)
}

// Unseal reads a secret; ErrNotFound if there is none of that name.
func (s *Store) Unseal(ctx context.Context, name string) ([]byte, error) {
	q := ask("reading a secret", "SELECT value FROM ralph_secrets WHERE name = ?", plain(name))
	sealed, err := one(ctx, s, q, column[[]byte])
	if err != nil {
		return nil, err
	}
	return s.keys.open(placeOf(plain(name)), sealed)
}

// keyCheck is a secret without a secret in it: it opens with the keys of this database and no others.
const keyCheck = "the keys are these"

// checkKeys refuses keys that do not open what is sealed, before anything is sealed with them.
func (s *Store) checkKeys(ctx context.Context) error {
	if len(s.keys.of) == 0 {
		return nil
	}
	_, err := s.Unseal(ctx, keyCheck)
	if errors.Is(err, ErrNotFound) {
		return s.Seal(ctx, keyCheck, nil)
	}
	if err != nil {
		return fmt.Errorf("the keys are not those of this database; set RALPH_DATA_KEY, or put the file ralph.key "+
			"of its directory where it was: %w", err)
	}
	return nil
}
