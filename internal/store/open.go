package store

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/invalid"
)

// Options say where the database is.
type Options struct {
	// URL is a Postgres, "postgres://user@host/name". Without it the database is the file Dir/ralph.db.
	URL string
	// Dir is made, with mode 0700, if it is not there.
	Dir string
	// Keys seal what is secret. Without keys Seal, Unseal and sessions fail. See LoadKeys.
	Keys Keys
	// Clock is time.Now unless a test says otherwise.
	Clock func() time.Time
	// Beside opens the file beside a server that uses it, to read: for a backup. Nothing can be stored then.
	Beside bool
}

// Open opens the database, makes it if it is not there, and brings its tables up to date. It refuses, with an error
// that package invalid marks, a database of a newer program, a file that another process uses, and keys that do not
// open what is sealed.
func Open(ctx context.Context, o Options) (*Store, error) {
	s := &Store{clock: o.Clock, keys: o.Keys}
	if s.clock == nil {
		s.clock = time.Now
	}
	err := s.connect(ctx, o)
	if err == nil && !o.Beside {
		err = s.migrate(ctx)
	}
	if err == nil {
		err = s.known(ctx)
	}
	if err == nil && !o.Beside {
		err = s.checkKeys(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	if !o.Beside {
		s.beginCounting()
	}
	return s, nil
}

// connect opens what the options name.
func (s *Store) connect(ctx context.Context, o Options) error {
	if o.URL == "" {
		return s.openSQLite(ctx, o)
	}
	where, err := url.Parse(o.URL)
	if err != nil || !strings.HasPrefix(where.Scheme, "postgres") {
		// Neither the address nor the parser's error is quoted: there is a password in them.
		return invalid.Errorf("the address of the database is not one of Postgres: " +
			"it has to be like postgres://user:password@host:5432/name")
	}
	return s.openPostgres(ctx, o.URL)
}

// Check writes one small row. An error says why nothing can be stored now.
func (s *Store) Check(ctx context.Context) error {
	return s.exec(ctx, "checking the database",
		`INSERT INTO ralph_about (name, value) VALUES ('checked', ?)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, micros(s.clock()))
}

// Close writes the counters, ends what the store has begun, and closes the handles.
func (s *Store) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return errors.Join(s.endCounting(ctx), s.close())
}
