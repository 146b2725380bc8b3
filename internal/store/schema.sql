-- The tables of the store, with their columns in the order of the fields that Go reads and writes. Times are microseconds
-- since 1970, and negative when not set; what is called detail is JSON. What is large
-- stands last, so that whoever reads the rest of a row does not read over it. AUTOINCREMENT gives no number twice, not
-- even after its row was removed. The audit log is only added to: the database itself refuses the rest, but for what is
-- older than it is kept. GitHub takes all spellings of a repository's name and of a login for the same.

CREATE TABLE ralph_about (
	name TEXT NOT NULL PRIMARY KEY,
	at TIMESTAMP NOT NULL
);

CREATE TABLE ralph_deliveries (
	number INTEGER PRIMARY KEY AUTOINCREMENT,
	id TEXT NOT NULL UNIQUE,
	event TEXT NOT NULL,
	action TEXT NOT NULL,
	installation BIGINT NOT NULL,
	repository TEXT NOT NULL COLLATE NOCASE,
	sender TEXT NOT NULL,
	received TIMESTAMP NOT NULL,
	due TIMESTAMP NOT NULL,
	tries BIGINT NOT NULL,
	step TEXT NOT NULL,
	why TEXT NOT NULL,
	subject TEXT NOT NULL,
	run TEXT NOT NULL,
	decided TIMESTAMP NOT NULL
);
CREATE INDEX ralph_deliveries_due ON ralph_deliveries (due, number) WHERE decided < 0;
CREATE INDEX ralph_deliveries_repository ON ralph_deliveries (repository, number);

-- What happens to a delivery later writes its row anew, and not its payload.
CREATE TABLE ralph_payloads (
	delivery INTEGER PRIMARY KEY REFERENCES ralph_deliveries (number) ON DELETE CASCADE,
	body BLOB NOT NULL
);

CREATE TABLE ralph_runs (
	number INTEGER PRIMARY KEY AUTOINCREMENT,
	id TEXT NOT NULL UNIQUE,
	delivery TEXT NOT NULL,
	installation BIGINT NOT NULL,
	repository TEXT NOT NULL COLLATE NOCASE,
	subject TEXT NOT NULL,
	title TEXT NOT NULL,
	person TEXT NOT NULL,
	kind TEXT NOT NULL,
	key TEXT NOT NULL,
	state TEXT NOT NULL,
	reason TEXT NOT NULL,
	attempt BIGINT NOT NULL,
	kills BIGINT NOT NULL,
	created TIMESTAMP NOT NULL,
	started TIMESTAMP NOT NULL,
	ended TIMESTAMP NOT NULL,
	resume TIMESTAMP NOT NULL,
	detail BLOB
);
CREATE INDEX ralph_runs_repository ON ralph_runs (repository, number);
CREATE INDEX ralph_runs_state ON ralph_runs (state, number);
CREATE INDEX ralph_runs_ended ON ralph_runs (ended);
CREATE INDEX ralph_runs_due ON ralph_runs (resume) WHERE state IN ('queued', 'waiting');

CREATE TABLE ralph_records (
	run TEXT NOT NULL,
	number BIGINT NOT NULL,
	at TIMESTAMP NOT NULL,
	kind TEXT NOT NULL,
	body BLOB,
	PRIMARY KEY (run, number)
);

CREATE TABLE ralph_audit (
	number INTEGER PRIMARY KEY AUTOINCREMENT,
	at TIMESTAMP NOT NULL,
	person TEXT NOT NULL,
	action TEXT NOT NULL,
	repository TEXT NOT NULL COLLATE NOCASE,
	subject TEXT NOT NULL,
	result TEXT NOT NULL
);
CREATE INDEX ralph_audit_repository ON ralph_audit (repository, number);
CREATE INDEX ralph_audit_at ON ralph_audit (at);
CREATE TRIGGER ralph_audit_same BEFORE UPDATE ON ralph_audit
	BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END;
CREATE TRIGGER ralph_audit_there BEFORE DELETE ON ralph_audit
	WHEN OLD.at >= (SELECT coalesce(max(at), 0) FROM ralph_about WHERE name = 'audit from')
	BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END;

-- Sessions are among them: sealed is the person's token of GitHub.
CREATE TABLE ralph_secrets (
	name TEXT NOT NULL PRIMARY KEY,
	login TEXT NOT NULL COLLATE NOCASE,
	expires TIMESTAMP NOT NULL,
	sealed BLOB NOT NULL
);
CREATE INDEX ralph_secrets_expires ON ralph_secrets (expires) WHERE expires > 0;

CREATE TABLE ralph_ended (
	state TEXT NOT NULL PRIMARY KEY,
	runs BIGINT NOT NULL
);

CREATE TABLE ralph_words (
	number INTEGER PRIMARY KEY AUTOINCREMENT,
	run TEXT NOT NULL,
	kind TEXT NOT NULL,
	person TEXT NOT NULL,
	text TEXT NOT NULL,
	at TIMESTAMP NOT NULL
);
CREATE INDEX ralph_words_run ON ralph_words (run, number);
