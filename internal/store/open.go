package store

import (
	"context"
	"errors"
	"time"
)

// Options say where the database is.
type Options struct {
	// Dir has the database, the file File. It is made, with mode 0700, if it is not there.
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
	s := &Store{clock: o.Clock, keys: o.Keys, dir: o.Dir, turn: make(gate, 1), arriving: make(chan *arrived, mostArriving),
		closed: make(chan struct{})}
	if s.clock == nil {
		s.clock = time.Now
	}
	err := s.openSQLite(ctx, o)
	if err == nil && !o.Beside {
		err = s.migrate(ctx)
	}
	if err == nil {
		err = s.known(ctx)
	}
	if err == nil && !o.Beside {
		err = s.checkKeys(ctx)
	}
	if err == nil && !o.Beside {
		err = s.release(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	go s.storeArriving()
	s.shut = append(s.shut, func() error { close(s.closed); return nil })
	return s, nil
}

// Check writes one small row. An error says why nothing can be stored now.
func (s *Store) Check(ctx context.Context) error {
	return s.exec(ctx, "checking the database",
		`INSERT INTO ralph_about (name, value) VALUES ('checked', ?)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, micros(s.clock()))
}
