package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/invalid"
)

// rowsHead is the first line of a stream of rows, and how it is known for one.
type rowsHead struct {
	Kind    string `json:"ralph"` // rowsKind
	Version int    `json:"version"`
}

const rowsKind = "rows of a database"

// rowLine is each further line. The last one has only End, the number of the lines before it.
type rowLine struct {
	Table   string   `json:"table,omitempty"`
	Columns []string `json:"columns,omitempty"`
	Values  []value  `json:"values,omitempty"`
	End     *int     `json:"end,omitempty"`
}

// value is one of the three types that columns have, or none.
type value struct {
	Number *int64  `json:"n,omitempty"`
	Text   *string `json:"t,omitempty"`
	Bytes  []byte  `json:"b,omitempty"`
	Empty  bool    `json:"e,omitempty"` // bytes, but none: not NULL
}

func valueOf(v any) (value, error) {
	switch v := v.(type) {
	case nil:
		return value{}, nil
	case int64:
		return value{Number: &v}, nil
	case string:
		return value{Text: &v}, nil
	case []byte:
		return value{Bytes: v, Empty: len(v) == 0}, nil
	}
	return value{}, fmt.Errorf("a column has a %T", v)
}

func (v value) any() any {
	switch {
	case v.Number != nil:
		return *v.Number
	case v.Text != nil:
		return *v.Text
	case v.Bytes != nil:
		return v.Bytes
	case v.Empty:
		return []byte{}
	}
	return nil
}

// writeRows writes all rows as they are at one moment.
func (s *Store) writeRows(ctx context.Context, w io.Writer) error {
	options := &sql.TxOptions{ReadOnly: true}
	if s.kind == kindPostgres {
		options.Isolation = sql.LevelRepeatableRead
	}
	tx, err := s.db.BeginTx(ctx, options)
	if err != nil {
		return failed(ctx, err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	to := json.NewEncoder(w)
	if err := to.Encode(rowsHead{rowsKind, schemaVersion}); err != nil {
		return err
	}
	lines := 0
	for _, table := range tableNames() {
		n, err := writeTable(&transaction{ctx, tx}, table, to)
		if err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
		lines += n
	}
	return to.Encode(rowLine{End: &lines})
}

// writeTable writes the rows of one table.
func writeTable(t *transaction, table string, to *json.Encoder) (lines int, err error) {
	rows, err := t.tx.QueryContext(t.ctx, "SELECT * FROM "+table)
	if err != nil {
		return 0, failed(t.ctx, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return 0, err
	}
	for rows.Next() {
		read := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range read {
			into[i] = &read[i]
		}
		if err := rows.Scan(into...); err != nil {
			return 0, failed(t.ctx, err)
		}
		line := rowLine{Table: table, Columns: columns, Values: make([]value, len(columns))}
		for i := range read {
			if line.Values[i], err = valueOf(read[i]); err != nil {
				return 0, fmt.Errorf("%s: %w", columns[i], err)
			}
		}
		if err := to.Encode(line); err != nil {
			return 0, err
		}
		lines++
	}
	return lines, failed(t.ctx, rows.Err())
}

// readRows stores rows into empty tables, all or none.
func (s *Store) readRows(ctx context.Context, r io.Reader) error {
	from := json.NewDecoder(r)
	var head rowsHead
	if err := from.Decode(&head); err != nil || head.Kind != rowsKind {
		return invalid.Errorf("this is no backup of ralph: it begins neither as a SQLite file nor as a list of rows")
	}
	if head.Version != schemaVersion {
		return invalid.Errorf("the backup has version %d of the tables, this program has version %d: restore it with the "+
			"ralph that wrote it", head.Version, schemaVersion)
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return failed(ctx, err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	t := &transaction{ctx, tx}
	if err := empty(t); err != nil {
		return err
	}
	if err := readLines(t, from); err != nil {
		return err
	}
	if s.kind == kindPostgres {
		if err := countOn(t); err != nil {
			return failed(ctx, err)
		}
	}
	return failed(ctx, tx.Commit())
}

// readLines stores the lines up to the last.
func readLines(t *transaction, from *json.Decoder) error {
	for lines := 0; ; lines++ {
		var line rowLine
		if err := from.Decode(&line); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return invalid.Errorf("the backup ends after %d rows, before its end: take another one", lines)
		} else if err != nil {
			return invalid.Errorf("row %d of the backup cannot be read: %v", lines+1, err)
		}
		if line.End != nil {
			if *line.End != lines {
				return invalid.Errorf("the backup has %d rows, and says that it has %d: take another one", lines, *line.End)
			}
			return nil
		}
		if err := line.store(t); err != nil {
			return fmt.Errorf("row %d of the backup: %w", lines+1, err)
		}
	}
}

// store stores one row. Names go into the statement, so only known ones do.
func (l rowLine) store(t *transaction) error {
	strange := func(column string) bool {
		return column == "" || strings.Trim(column, "abcdefghijklmnopqrstuvwxyz") != ""
	}
	if !slices.Contains(tableNames(), l.Table) || len(l.Columns) != len(l.Values) || len(l.Columns) == 0 ||
		slices.ContainsFunc(l.Columns, strange) {
		return invalid.Errorf("it is of no table of ralph")
	}
	args := make([]any, len(l.Values))
	for i, v := range l.Values {
		args[i] = v.any()
	}
	_, err := t.exec("INSERT INTO "+l.Table+" ("+strings.Join(l.Columns, ", ")+") VALUES (?"+
		strings.Repeat(", ?", len(args)-1)+") ON CONFLICT DO NOTHING", args...)
	return failed(t.ctx, err)
}

// empty refuses a database that has something in it already.
func empty(t *transaction) error {
	for _, table := range []string{"ralph_deliveries", "ralph_runs", "ralph_records", "ralph_spend", "ralph_audit"} {
		var n int64
		if err := t.one("SELECT count(*) FROM (SELECT 1 FROM " + table + " LIMIT 1) AS first").Scan(&n); err != nil {
			return failed(t.ctx, err)
		}
		if n > 0 {
			return invalid.Errorf("the database is not empty: %s has rows. A backup is restored into a new one", table)
		}
	}
	return nil
}

// countOn makes columns that count by themselves go on after the highest number.
func countOn(t *transaction) error {
	for _, table := range []string{"ralph_deliveries", "ralph_runs", "ralph_audit"} {
		if _, err := t.exec("SELECT setval(pg_get_serial_sequence('" + table +
			"', 'number'), (SELECT coalesce(max(number), 0) + 1 FROM " + table + "), false)"); err != nil {
			return err
		}
	}
	return nil
}

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
