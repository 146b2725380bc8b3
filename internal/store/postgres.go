package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/ralph-loop/ralph/internal/invalid"
)

// openPostgres makes two pools, one for the store and one for the queue. Each is as large as pool_max_conns in the
// address says, or eight.
func (s *Store) openPostgres(ctx context.Context, address string) error {
	s.kind = kindPostgres
	own, err := s.pool(ctx, address)
	if err != nil {
		return err
	}
	s.db = stdlib.OpenDBFromPool(own)
	s.shut = append(s.shut, s.db.Close)
	s.queue.postgres, err = s.pool(ctx, address)
	return err
}

func (s *Store) pool(ctx context.Context, address string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, invalid.Errorf("the address of the database cannot be read: %v", err) // pgx leaves the password out
	}
	if _, said := config.ConnConfig.RuntimeParams["application_name"]; !said {
		config.ConnConfig.RuntimeParams["application_name"] = "ralph"
	}
	config.MaxConns = max(config.MaxConns, 8)
	config.ConnConfig.ConnectTimeout = min(or(config.ConnConfig.ConnectTimeout, patience), patience)
	config.HealthCheckPeriod = 15 * time.Second
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("opening the database: %w", failed(ctx, err))
	}
	s.shut = append(s.shut, func() error { pool.Close(); return nil })
	return pool, nil
}

func or(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}
