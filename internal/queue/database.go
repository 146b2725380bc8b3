package queue

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"
)

// database is SQLite or Postgres through database/sql. Statements are written for Postgres; the few differences are
// here.
type database struct {
	*sql.DB
	postgres bool
}

// Numbers of advisory locks in Postgres, one for each thing that only one process does at a time. They are ours
// alone if nobody else uses the two-number form with the first one.
const (
	lockSpace  = 0x72616c66 // "ralf"
	lockJobs   = 1          // claims and takeovers
	lockSchema = 2          // first start: tables of ours and of DBOS
)

const schema = `
CREATE TABLE IF NOT EXISTS ralph_queue_jobs (
	number   SERIAL_KEY,
	id       TEXT NOT NULL UNIQUE,
	key      TEXT NOT NULL,
	tenant   TEXT NOT NULL,
	priority BIGINT NOT NULL,
	body     BYTES NOT NULL,
	version  BIGINT NOT NULL,
	state    TEXT NOT NULL,
	due      BIGINT NOT NULL,
	created  BIGINT NOT NULL,
	attempt  BIGINT NOT NULL DEFAULT 0,
	kills    BIGINT NOT NULL DEFAULT 0,
	executor TEXT NOT NULL DEFAULT '',
	cancel   TEXT NOT NULL DEFAULT '',
	started  BIGINT NOT NULL DEFAULT 0,
	ended    BIGINT NOT NULL DEFAULT 0,
	why      TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX IF NOT EXISTS ralph_queue_one_of_a_key ON ralph_queue_jobs (key) WHERE state = 'running';
CREATE INDEX IF NOT EXISTS ralph_queue_waiting ON ralph_queue_jobs (key, priority, number, due, version, tenant)
	WHERE state = 'waiting';
CREATE INDEX IF NOT EXISTS ralph_queue_due ON ralph_queue_jobs (due) WHERE state = 'waiting';
CREATE INDEX IF NOT EXISTS ralph_queue_running ON ralph_queue_jobs (executor) WHERE state = 'running';
CREATE INDEX IF NOT EXISTS ralph_queue_ended ON ralph_queue_jobs (ended) WHERE ended > 0;
CREATE TABLE IF NOT EXISTS ralph_queue_tenants (
	tenant TEXT PRIMARY KEY,
	served BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS ralph_queue_executors (
	id      TEXT PRIMARY KEY,
	beat    BIGINT NOT NULL,
	seen    BIGINT NOT NULL,
	machine TEXT NOT NULL,
	slots   BIGINT NOT NULL
);`

// create makes the tables, if they are not there, and then whatever else has to be made by one process alone.
func (d *database) create(ctx context.Context, also func() error) error {
	conn, err := d.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	types := strings.NewReplacer("SERIAL_KEY", "INTEGER PRIMARY KEY AUTOINCREMENT", "BYTES", "BLOB")
	if d.postgres {
		types = strings.NewReplacer("SERIAL_KEY", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "BYTES", "BYTEA")
		if err := first(ctx, conn); err != nil {
			return err
		}
		defer func() {
			over := context.WithoutCancel(ctx)
			_, _ = conn.ExecContext(over, "SELECT pg_advisory_unlock($1, $2)", lockSpace, lockSchema)
		}()
	}
	if _, err := conn.ExecContext(ctx, types.Replace(schema)); err != nil {
		return err
	}
	return also()
}

// first waits until no other process makes tables. It asks again and again: a statement that waits for a lock would
// be waited for by DBOS, which makes its indexes concurrently, and both would wait for ever.
func first(ctx context.Context, conn *sql.Conn) error {
	for got := false; ; {
		row := conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1, $2)", lockSpace, lockSchema)
		if err := row.Scan(&got); err != nil || got {
			return err
		}
		if !wait(ctx, 50*time.Millisecond) {
			return ctx.Err()
		}
	}
}

// alone runs do in a transaction that excludes every other one of these, in all processes. A process that is
// stopped in the middle of it does not keep the others waiting for long.
func (d *database) alone(ctx context.Context, do func(*transaction) error) (err error) {
	conn, err := d.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	begin := "BEGIN IMMEDIATE"
	if d.postgres {
		begin = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '5s'; SET LOCAL lock_timeout = '20s'; " +
			fmt.Sprintf("SELECT pg_advisory_xact_lock(%d, %d)", lockSpace, lockJobs)
	}
	tx := &transaction{conn: conn, of: d}
	if _, err := conn.ExecContext(ctx, begin); err != nil {
		tx.abandon(ctx)
		return err
	}
	if err := do(tx); err != nil {
		tx.abandon(ctx)
		return err
	}
	if _, err := conn.ExecContext(ctx, "COMMIT"); err != nil {
		tx.abandon(ctx)
		return err
	}
	return nil
}

// transaction is one connection with a transaction that alone has begun.
type transaction struct {
	conn *sql.Conn
	of   *database
}

// abandon rolls back. Where that fails, the connection must not be used again.
func (t *transaction) abandon(ctx context.Context) {
	if _, err := t.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK"); err != nil && t.of.postgres {
		_ = t.conn.Raw(func(any) error { return driver.ErrBadConn })
	}
}

func (t *transaction) exec(ctx context.Context, statement string, args ...any) (int64, error) {
	done, err := t.conn.ExecContext(ctx, t.of.words(statement), args...)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

func (t *transaction) query(ctx context.Context, scan func(row) error, statement string, args ...any) error {
	rows, err := t.conn.QueryContext(ctx, t.of.words(statement), args...)
	return each(rows, err, scan)
}

// exec runs a statement and says how many rows it has changed.
func (d *database) exec(ctx context.Context, statement string, args ...any) (int64, error) {
	done, err := d.ExecContext(ctx, d.words(statement), args...)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

// query hands each row to scan.
func (d *database) query(ctx context.Context, scan func(row) error, statement string, args ...any) error {
	rows, err := d.QueryContext(ctx, d.words(statement), args...)
	return each(rows, err, scan)
}

type row interface{ Scan(to ...any) error }

func each(rows *sql.Rows, err error, scan func(row) error) error {
	if err != nil {
		return err
	}
	for rows.Next() {
		if err := scan(rows); err != nil {
			return errors.Join(err, rows.Close())
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

// words writes $1 as ?1 for SQLite, which takes $1 for a name.
func (d *database) words(statement string) string {
	if d.postgres {
		return statement
	}
	return strings.ReplaceAll(statement, "$", "?")
}
