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

// DropSecret removes a secret; it is no error if there is none.
func (s *Store) DropSecret(ctx context.Context, name string) error {
	return s.exec(ctx, "removing a secret", "DELETE FROM ralph_secrets WHERE name = ?", plain(name))
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

// sealed is a row with something sealed in it.
type sealed struct {
	name  string
	value []byte
}

// sealedColumns are where sealed values are: table, column of the name, column of the value, and their place.
func sealedColumns() []sealedColumn {
	return []sealedColumn{
		{"ralph_secrets", "name", "value", placeOf},
		{"ralph_sessions", "token", "oauth", placeOfOAuth},
	}
}

type sealedColumn struct {
	table, name, value string
	place              func(name string) string
}

// Rotate seals everything that an older key has sealed with the newest one, and says how much that was. After it the
// older keys may be taken away.
func (s *Store) Rotate(ctx context.Context) (n int, err error) {
	err = s.write(ctx, "sealing with the newest key", func(t *transaction) error {
		for _, column := range sealedColumns() {
			q := ask("", "SELECT "+column.name+", "+column.value+" FROM "+column.table+" WHERE "+column.value+" IS NOT NULL")
			rows, err := rowsOf(t.ctx, t.tx, q, func(row scan) (r sealed, err error) {
				err = row(&r.name, &r.value)
				return r, err
			})
			if err != nil {
				return err
			}
			for _, r := range rows {
				if len(r.value) > 0 && r.value[0] == s.keys.newest {
					continue
				}
				n++
				if err := column.rotate(t, s.keys, r); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// rotate seals one value anew, unless somebody has meanwhile.
func (c sealedColumn) rotate(t *transaction, keys Keys, r sealed) error {
	value, err := keys.open(c.place(r.name), r.value)
	if err != nil {
		return err
	}
	fresh, err := keys.seal(c.place(r.name), value)
	if err != nil {
		return err
	}
	_, err = t.exec("UPDATE "+c.table+" SET "+c.value+" = ? WHERE "+c.name+" = ? AND "+c.value+" = ?", fresh, r.name,
		r.value)
	return err
}
