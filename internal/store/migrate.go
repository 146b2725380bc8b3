package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/invalid"
)

// migrations bring the tables from one version to the next; the version is how many of them were done. They are only
// ever added to, and go one way. {number} is a column that counts by itself, {key} one of numbers that come from
// elsewhere, {bytes} one of bytes.
func migrations() []string { return []string{tables, words, told, payloads} }

// tables are version 1. Times are microseconds since 1970, 0 when not set; days are "2006-01-02" in UTC; what is called
// detail is JSON. What is large stands last, so that whoever reads the rest of a row does not read over it.
const tables = `
CREATE TABLE ralph_deliveries (
	number {number},
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
	queued BIGINT NOT NULL DEFAULT 0,
	detail {bytes},
	payload {bytes}
);
CREATE INDEX ralph_deliveries_due ON ralph_deliveries (due, number) WHERE decided = 0;
CREATE INDEX ralph_deliveries_repository ON ralph_deliveries (repository, number);
CREATE INDEX ralph_deliveries_payload ON ralph_deliveries (received) WHERE payload IS NOT NULL;

CREATE TABLE ralph_runs (
	number {number},
	id TEXT NOT NULL UNIQUE,
	delivery TEXT NOT NULL,
	installation BIGINT NOT NULL,
	repository TEXT NOT NULL,
	subject TEXT NOT NULL,
	title TEXT NOT NULL,
	person TEXT NOT NULL,
	state TEXT NOT NULL,
	reason TEXT NOT NULL,
	attempt BIGINT NOT NULL,
	created BIGINT NOT NULL,
	started BIGINT NOT NULL,
	ended BIGINT NOT NULL,
	resume BIGINT NOT NULL,
	detail {bytes}
);
CREATE INDEX ralph_runs_repository ON ralph_runs (repository, number);
CREATE INDEX ralph_runs_state ON ralph_runs (state, number);
CREATE INDEX ralph_runs_ended ON ralph_runs (ended);

CREATE TABLE ralph_records (
	run TEXT NOT NULL,
	number BIGINT NOT NULL,
	at BIGINT NOT NULL,
	kind TEXT NOT NULL,
	body {bytes} NOT NULL,
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
	number {number},
	at BIGINT NOT NULL,
	person TEXT NOT NULL,
	action TEXT NOT NULL,
	repository TEXT NOT NULL,
	subject TEXT NOT NULL,
	result TEXT NOT NULL,
	detail {bytes}
);
CREATE INDEX ralph_audit_repository ON ralph_audit (repository, number);
{audit stays}

CREATE TABLE ralph_secrets (
	name TEXT NOT NULL PRIMARY KEY,
	at BIGINT NOT NULL,
	value {bytes} NOT NULL
);

CREATE TABLE ralph_sessions (
	token TEXT NOT NULL PRIMARY KEY,
	login TEXT NOT NULL,
	person BIGINT NOT NULL,
	created BIGINT NOT NULL,
	expires BIGINT NOT NULL,
	oauth {bytes}
);
CREATE INDEX ralph_sessions_login ON ralph_sessions (login);
CREATE INDEX ralph_sessions_expires ON ralph_sessions (expires);

CREATE TABLE ralph_counters (
	name TEXT NOT NULL,
	label TEXT NOT NULL,
	value BIGINT NOT NULL,
	PRIMARY KEY (name, label)
)`

// words is version 2: what people say to runs.
const words = `
CREATE TABLE ralph_words (
	number {number},
	run TEXT NOT NULL,
	at BIGINT NOT NULL,
	kind TEXT NOT NULL,
	person TEXT NOT NULL,
	text TEXT NOT NULL
);
CREATE INDEX ralph_words_run ON ralph_words (run, number)`

// told is version 3: which record of the run's journal a word has become; 0 for none.
const told = `ALTER TABLE ralph_words ADD COLUMN told BIGINT NOT NULL DEFAULT 0`

// payloads is version 4: payloads are apart from what is written again and again about their deliveries.
const payloads = `
CREATE TABLE ralph_payloads (
	delivery {key} REFERENCES ralph_deliveries (number) ON DELETE CASCADE,
	at BIGINT NOT NULL,
	body {bytes} NOT NULL
);
INSERT INTO ralph_payloads SELECT number, received, payload FROM ralph_deliveries WHERE payload IS NOT NULL;
CREATE INDEX ralph_payloads_at ON ralph_payloads (at);
DROP INDEX ralph_deliveries_payload;
ALTER TABLE ralph_deliveries DROP COLUMN payload`

// withPayloadsApart is the first version whose rows can be restored here: before it they had another form.
const withPayloadsApart = 4

// tableNames are all tables with rows of their own, in the order of a backup.
func tableNames() []string {
	return []string{"ralph_deliveries", "ralph_payloads", "ralph_runs", "ralph_records", "ralph_spend", "ralph_spent",
		"ralph_audit", "ralph_secrets", "ralph_sessions", "ralph_counters", "ralph_words"}
}

// words are what a statement's {words} are in a database.
func (k kind) words() *strings.Replacer {
	if k == kindPostgres {
		return strings.NewReplacer("{number}", "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
			"{key}", "BIGINT PRIMARY KEY", "{bytes}", "BYTEA", "{audit stays}", auditStaysPostgres)
	}
	// AUTOINCREMENT: a number is never given twice, not even after its row was removed.
	return strings.NewReplacer("{number}", "INTEGER PRIMARY KEY AUTOINCREMENT", "{key}", "INTEGER PRIMARY KEY",
		"{bytes}", "BLOB", "{audit stays}", auditStaysSQLite)
}

// The audit log is only ever added to: the database itself refuses the rest. A statement ends with its line.
const (
	auditStaysSQLite = `CREATE TRIGGER ralph_audit_same BEFORE UPDATE ON ralph_audit
	BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END;
CREATE TRIGGER ralph_audit_there BEFORE DELETE ON ralph_audit
	BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END;`
	auditStaysPostgres = `CREATE FUNCTION ralph_audit_stays() RETURNS trigger LANGUAGE plpgsql AS
	$$ BEGIN RAISE EXCEPTION 'the audit log is only added to'; END $$;
CREATE TRIGGER ralph_audit_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON ralph_audit
	FOR EACH STATEMENT EXECUTE FUNCTION ralph_audit_stays();`
)

// migrationLock keeps two processes on one Postgres from making tables at the same time. The number only has to be the
// same in all of them.
const migrationLock = 0x72616c7068

// migrate does the migrations that are not done, in one transaction. A newer database is left alone.
func (s *Store) migrate(ctx context.Context) error {
	return s.write(ctx, "making the tables", func(t *transaction) error {
		if s.kind == kindPostgres {
			if _, err := t.exec("SELECT pg_advisory_xact_lock(?)", int64(migrationLock)); err != nil {
				return err
			}
		}
		if _, err := t.exec(`CREATE TABLE IF NOT EXISTS ralph_about (name TEXT NOT NULL PRIMARY KEY,
			value BIGINT NOT NULL)`); err != nil {
			return err
		}
		version, err := versionOf(t)
		if err != nil || version >= int64(len(migrations())) {
			return err
		}
		for _, migration := range migrations()[version:] {
			for statement := range strings.SplitSeq(s.kind.words().Replace(migration), ";\n") {
				if _, err := t.tx.ExecContext(ctx, statement); err != nil {
					return fmt.Errorf("%w in %q", err, strings.TrimSpace(statement))
				}
			}
		}
		_, err = t.exec(`INSERT INTO ralph_about (name, value) VALUES ('version', ?)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value`, len(migrations()))
		return err
	})
}

// versionOf is which version the tables have, 0 when there are none.
func versionOf(t *transaction) (version int64, err error) {
	err = failed(t.ctx, t.one("SELECT value FROM ralph_about WHERE name = 'version'").Scan(&version))
	if errors.Is(err, ErrNotFound) {
		return 0, nil
	}
	return version, err
}

// known refuses tables of another version: of a newer program, or, where nothing may be written, of an older one.
func (s *Store) known(ctx context.Context) error {
	q := ask("reading the version of the tables", "SELECT value FROM ralph_about WHERE name = 'version'")
	version, err := one(ctx, s, q, column[int])
	ours := len(migrations())
	switch {
	case err != nil:
		return err
	case version > ours:
		return invalid.Errorf("the database was written by a newer ralph: its tables have version %d, and this program "+
			"knows version %d. Run that ralph again, or restore a backup of before", version, ours)
	case version < ours:
		return invalid.Errorf("the tables of the database have version %d, and this program reads version %d: "+
			"start ralph serve once, which brings them up to date", version, ours)
	}
	return nil
}
