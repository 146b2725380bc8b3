package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/invalid"
)

// schemaVersion is the version of the tables. A database or a backup with another one is refused.
const schemaVersion = 3

// tables are all of the store. Times are microseconds since 1970, 0 when not set; days are "2006-01-02" in UTC; what is
// called detail is JSON. What is large stands last, so that whoever reads the rest of a row does not read over it.
// AUTOINCREMENT gives no number twice, not even after its row was removed. The audit log is only added to: the database
// itself refuses the rest, but for what is older than it is kept. A statement ends with its line.
const tables = `
CREATE TABLE ralph_deliveries (
	number INTEGER PRIMARY KEY AUTOINCREMENT,
	id TEXT NOT NULL UNIQUE,
	event TEXT NOT NULL,
	action TEXT NOT NULL,
	installation BIGINT NOT NULL,
	repository TEXT NOT NULL,
	sender TEXT NOT NULL,
	received BIGINT NOT NULL,
	due BIGINT NOT NULL,
	tries BIGINT NOT NULL DEFAULT 0,
	decided BIGINT NOT NULL DEFAULT 0,
	step TEXT NOT NULL DEFAULT '',
	why TEXT NOT NULL DEFAULT '',
	subject TEXT NOT NULL DEFAULT '',
	run TEXT NOT NULL DEFAULT ''
);
CREATE INDEX ralph_deliveries_due ON ralph_deliveries (due, number) WHERE decided = 0;
CREATE INDEX ralph_deliveries_repository ON ralph_deliveries (repository, number);

CREATE TABLE ralph_payloads (
	delivery INTEGER PRIMARY KEY REFERENCES ralph_deliveries (number) ON DELETE CASCADE,
	body BLOB NOT NULL
);

CREATE TABLE ralph_runs (
	number INTEGER PRIMARY KEY AUTOINCREMENT,
	id TEXT NOT NULL UNIQUE,
	delivery TEXT NOT NULL,
	installation BIGINT NOT NULL,
	repository TEXT NOT NULL,
	subject TEXT NOT NULL,
	title TEXT NOT NULL,
	person TEXT NOT NULL,
	kind TEXT NOT NULL,
	key TEXT NOT NULL,
	state TEXT NOT NULL,
	reason TEXT NOT NULL,
	attempt BIGINT NOT NULL,
	kills BIGINT NOT NULL,
	created BIGINT NOT NULL,
	started BIGINT NOT NULL,
	ended BIGINT NOT NULL,
	resume BIGINT NOT NULL,
	detail BLOB
);
CREATE INDEX ralph_runs_repository ON ralph_runs (repository, number);
CREATE INDEX ralph_runs_state ON ralph_runs (state, number);
CREATE INDEX ralph_runs_ended ON ralph_runs (ended);
CREATE INDEX ralph_runs_due ON ralph_runs (resume) WHERE state IN ('queued', 'waiting');

CREATE TABLE ralph_records (
	run TEXT NOT NULL,
	number BIGINT NOT NULL,
	at BIGINT NOT NULL,
	kind TEXT NOT NULL,
	body BLOB NOT NULL,
	PRIMARY KEY (run, number)
);

CREATE TABLE ralph_spend (
	day TEXT NOT NULL,
	installation BIGINT NOT NULL,
	repository TEXT NOT NULL,
	person TEXT NOT NULL,
	model TEXT NOT NULL,
	turns BIGINT NOT NULL,
	input BIGINT NOT NULL,
	cacheread BIGINT NOT NULL,
	cachewrite BIGINT NOT NULL,
	output BIGINT NOT NULL,
	cost BIGINT NOT NULL,
	PRIMARY KEY (day, installation, repository, person, model)
);
CREATE TABLE ralph_spent (
	mark TEXT NOT NULL PRIMARY KEY,
	at BIGINT NOT NULL
);
CREATE INDEX ralph_spent_at ON ralph_spent (at);

CREATE TABLE ralph_audit (
	number INTEGER PRIMARY KEY AUTOINCREMENT,
	at BIGINT NOT NULL,
	person TEXT NOT NULL,
	action TEXT NOT NULL,
	repository TEXT NOT NULL,
	subject TEXT NOT NULL,
	result TEXT NOT NULL
);
CREATE INDEX ralph_audit_repository ON ralph_audit (repository, number);
CREATE TRIGGER ralph_audit_same BEFORE UPDATE ON ralph_audit
	BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END;
CREATE TRIGGER ralph_audit_there BEFORE DELETE ON ralph_audit
	WHEN OLD.at >= (SELECT coalesce(max(value), 0) FROM ralph_about WHERE name = 'audit from')
	BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END;
CREATE INDEX ralph_audit_at ON ralph_audit (at);

CREATE TABLE ralph_secrets (
	name TEXT NOT NULL PRIMARY KEY,
	at BIGINT NOT NULL,
	value BLOB NOT NULL
);

CREATE TABLE ralph_sessions (
	token TEXT NOT NULL PRIMARY KEY,
	login TEXT NOT NULL COLLATE NOCASE,
	expires BIGINT NOT NULL,
	oauth BLOB NOT NULL
);
CREATE INDEX ralph_sessions_login ON ralph_sessions (login);
CREATE INDEX ralph_sessions_expires ON ralph_sessions (expires);

CREATE TABLE ralph_counters (
	name TEXT NOT NULL,
	label TEXT NOT NULL,
	value BIGINT NOT NULL,
	PRIMARY KEY (name, label)
);

CREATE TABLE ralph_words (
	number INTEGER PRIMARY KEY AUTOINCREMENT,
	run TEXT NOT NULL,
	at BIGINT NOT NULL,
	kind TEXT NOT NULL,
	person TEXT NOT NULL,
	text TEXT NOT NULL,
	told BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX ralph_words_run ON ralph_words (run, number)`

// migrate makes the tables of a new database, in one transaction.
func (s *Store) migrate(ctx context.Context) error {
	return s.write(ctx, "making the tables", func(t *transaction) error {
		if _, err := t.exec(`CREATE TABLE IF NOT EXISTS ralph_about (name TEXT NOT NULL PRIMARY KEY,
			value BIGINT NOT NULL)`); err != nil {
			return err
		}
		if err := t.one("SELECT value FROM ralph_about WHERE name = 'version'").Scan(new(int)); !errors.Is(err, sql.ErrNoRows) {
			return err // known refuses another version
		}
		for statement := range strings.SplitSeq(tables, ";\n") {
			if _, err := t.tx.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("%w in %q", err, strings.TrimSpace(statement))
			}
		}
		_, err := t.exec(`INSERT INTO ralph_about (name, value) VALUES ('version', ?)`, schemaVersion)
		return err
	})
}

// known refuses tables of another version.
func (s *Store) known(ctx context.Context) error {
	q := ask("reading the version of the tables", "SELECT value FROM ralph_about WHERE name = 'version'")
	version, err := one(ctx, s, q, column[int])
	if err == nil && version != schemaVersion {
		return invalid.Errorf("the tables of the database have version %d, this program has version %d: use the ralph that "+
			"wrote them, or restore a backup", version, schemaVersion)
	}
	return err
}
