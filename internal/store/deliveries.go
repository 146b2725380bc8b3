package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/invalid"
)

// Delivery is one webhook of GitHub, as it was received.
type Delivery struct {
	ID           string // GitHub's X-GitHub-Delivery, at most 200 bytes
	Event        string // "issues"
	Action       string // "labeled"
	Installation int64
	Repository   string // "owner/name"; "" for events of an installation
	Sender       string // a login
	Received     time.Time
	Payload      []byte // the body as it came; nil once it is forgotten

	Number   int64     // given in the order of storing; ignored by Deliver
	Tries    int       // how often it was handed out by Undecided
	Waits    string    // why it was postponed, until it is decided
	Decision *Decision // nil until Decided
}

// Decision is what became of a delivery.
type Decision struct {
	Step    string          // what is done: "work", "stop", "nothing"
	Why     string          // a sentence
	Subject string          // "issue-42"
	Queued  bool            // a job was made of it
	Detail  json.RawMessage // for the page; may be nil
	At      time.Time       // when it was decided; Decided fills it in
}

const longestID = 200

// LongestHold is how long a delivery is handed out to nobody else, or postponed, at most.
const LongestHold = 10 * time.Minute

// Deliver stores a delivery, once by its ID; fresh is false for one that already exists. Received is now if it is not
// set.
func (s *Store) Deliver(ctx context.Context, d Delivery) (fresh bool, err error) {
	if d.ID == "" || len(d.ID) > longestID || plain(d.ID) != d.ID {
		return false, invalid.Errorf("the id of a delivery has %d bytes: it has to have between 1 and %d, of a text",
			len(d.ID), longestID)
	}
	if d.Received.IsZero() {
		d.Received = s.clock()
	}
	if s.kind == kindSQLite {
		return s.together(ctx, d)
	}
	err = s.write(ctx, storing, func(t *transaction) (err error) { // Postgres syncs for several at once by itself
		fresh, err = t.deliver(d)
		return err
	})
	return fresh && err == nil, err
}

// deliver stores a delivery, and its payload beside it: what happens to a delivery later writes its row anew, and not
// the payload.
func (t *transaction) deliver(d Delivery) (fresh bool, err error) {
	at := micros(d.Received)
	var number int64
	err = t.one(`INSERT INTO ralph_deliveries (id, event, action, installation, repository, sender, received, due)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING number`, d.ID, plain(d.Event),
		plain(d.Action), d.Installation, plain(d.Repository), plain(d.Sender), at, at).Scan(&number)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err == nil && d.Payload != nil:
		_, err = t.exec("INSERT INTO ralph_payloads (delivery, at, body) VALUES (?, ?, ?)", number, at, d.Payload)
	}
	return true, err
}

const deliveryColumns = `number, id, event, action, installation, repository, sender, received, tries, decided, step,
	why, subject, queued, detail`

// fromPayloads has a row of a delivery go on with its payload, NULL when that is forgotten.
const fromPayloads = ", body FROM ralph_deliveries LEFT JOIN ralph_payloads ON delivery = number "

// deliveryOf reads deliveryColumns, and more columns after them.
func deliveryOf(row scan, more ...any) (d Delivery, err error) {
	var received, decided, queued int64
	var made Decision
	var detail []byte
	err = row(append([]any{&d.Number, &d.ID, &d.Event, &d.Action, &d.Installation, &d.Repository, &d.Sender, &received,
		&d.Tries, &decided, &made.Step, &made.Why, &made.Subject, &queued, &detail}, more...)...)
	d.Received = fromMicros(received)
	if d.Waits = made.Why; decided != 0 {
		d.Waits = ""
		made.At, made.Queued, made.Detail = fromMicros(decided), queued != 0, detail
		d.Decision = &made
	}
	return d, err
}

// withPayload reads deliveryColumns and the payload.
func withPayload(row scan) (Delivery, error) {
	var payload []byte
	d, err := deliveryOf(row, &payload)
	d.Payload = payload
	return d, err
}

// Undecided hands out deliveries that nobody has decided, the oldest first, with payloads. For the time of hold nobody
// else gets them; one that is not decided by then is handed out again. So two servers decide different ones, and what
// a dead one had is done by another. A clock that was set back keeps nothing waiting for longer than LongestHold.
func (s *Store) Undecided(ctx context.Context, limit int, hold time.Duration) (found []Delivery, err error) {
	now := s.clock()
	locked := ""
	if s.kind == kindPostgres {
		locked = "FOR UPDATE OF ralph_deliveries SKIP LOCKED" // else two servers wait for each other, and take the same
	}
	q := ask("", "SELECT "+deliveryColumns+fromPayloads+`WHERE decided = 0 AND (due <= ? OR due > ?)
		ORDER BY due, number LIMIT ? `+locked, micros(now), micros(now.Add(2*LongestHold)), several(limit, 1000))
	err = s.write(ctx, "taking deliveries to decide", func(t *transaction) (err error) {
		found, err = rowsOf(ctx, t.tx, q, withPayload)
		if err != nil || len(found) == 0 {
			return err
		}
		args := []any{micros(now.Add(min(hold, LongestHold)))}
		for i := range found {
			found[i].Tries++
			args = append(args, found[i].Number)
		}
		_, err = t.exec("UPDATE ralph_deliveries SET due = ?, tries = tries + 1 WHERE number IN (?"+
			strings.Repeat(", ?", len(found)-1)+")", args...)
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b Delivery) int { return cmp.Compare(a.Number, b.Number) })
	return found, nil
}

// Postpone hands a delivery that cannot be decided now back, to be handed out again at that time, LongestHold from now
// at the latest. why is shown meanwhile.
func (s *Store) Postpone(ctx context.Context, id string, until time.Time, why string) error {
	return s.must(ctx, "postponing a delivery", `UPDATE ralph_deliveries SET due = ?, why = ?
		WHERE id = ? AND decided = 0`, min(micros(until), micros(s.clock().Add(LongestHold))), plain(why), id)
}

// Decided stores what became of a delivery. Whoever makes a job of it does so before: a delivery that is handed out
// twice makes the same job, and one that is decided is not handed out again.
func (s *Store) Decided(ctx context.Context, id string, d Decision) error {
	return s.must(ctx, deciding, updateDecided, s.decision(id, d)...)
}

// DecidedTogether is Decided for several, by their IDs: all of it is stored, or nothing. One that is forgotten
// meanwhile is left out.
func (s *Store) DecidedTogether(ctx context.Context, made map[string]Decision) error {
	if len(made) == 0 {
		return nil
	}
	return s.write(ctx, deciding, func(t *transaction) error {
		for _, id := range slices.Sorted(maps.Keys(made)) { // two servers wait for each other in one order
			if _, err := t.exec(updateDecided, s.decision(id, made[id])...); err != nil {
				return err
			}
		}
		return nil
	})
}

const (
	deciding      = "storing a decision"
	updateDecided = `UPDATE ralph_deliveries SET decided = ?, step = ?, why = ?, subject = ?, queued = ?, detail = ?
		WHERE id = ?`
)

// decision are the values of updateDecided.
func (s *Store) decision(id string, d Decision) []any {
	return []any{micros(s.clock()), plain(d.Step), plain(d.Why), plain(d.Subject), number(d.Queued), []byte(d.Detail),
		id}
}

// Undecide has a delivery decided anew; ErrNotFound when its payload is forgotten.
func (s *Store) Undecide(ctx context.Context, id string) error {
	return s.must(ctx, "handing out a delivery again", `UPDATE ralph_deliveries SET decided = 0, due = ?
		WHERE id = ? AND EXISTS (SELECT 1 FROM ralph_payloads WHERE delivery = number)`, micros(s.clock()), id)
}

// must executes a statement that has to change a row: ErrNotFound otherwise.
func (s *Store) must(ctx context.Context, doing, statement string, args ...any) error {
	n, err := s.changed(ctx, doing, statement, args...)
	if err == nil && n == 0 {
		err = notFound(doing)
	}
	return err
}

// Delivery is one delivery with its payload; ErrNotFound if there is none.
func (s *Store) Delivery(ctx context.Context, id string) (Delivery, error) {
	return one(ctx, s, ask("reading a delivery", "SELECT "+deliveryColumns+fromPayloads+"WHERE id = ?",
		plain(id)), withPayload)
}

// DeliveryFilter says which deliveries a page shows. Empty fields ask for nothing.
type DeliveryFilter struct {
	Repositories []string // nil for all; an empty list for none
	Event        string
	Step         string
	Undecided    bool  // only those that nobody has decided
	Before       int64 // only smaller numbers: the number of the last one of the page before
	Limit        int   // at most 1000, by default 100
}

// Deliveries are the newest deliveries of the filter, without payloads.
func (s *Store) Deliveries(ctx context.Context, f DeliveryFilter) ([]Delivery, error) {
	q := ask("listing deliveries", "SELECT "+deliveryColumns+" FROM ralph_deliveries WHERE 1 = 1").
		in("repository", f.Repositories).
		andIf(f.Event != "", "AND event = ?", plain(f.Event)).
		andIf(f.Step != "", "AND step = ?", plain(f.Step)).
		andIf(f.Undecided, "AND decided = 0").
		andIf(f.Before != 0, "AND number < ?", f.Before).
		and("ORDER BY number DESC LIMIT ?", several(f.Limit, 1000))
	return list(ctx, s, q, func(row scan) (Delivery, error) { return deliveryOf(row) })
}

// Outbox is how many deliveries nobody has decided, and since when the oldest waits; the zero time for none.
func (s *Store) Outbox(ctx context.Context) (waiting int, oldest time.Time, err error) {
	q := ask("counting deliveries", "SELECT count(*), coalesce(min(received), 0) FROM ralph_deliveries WHERE decided = 0")
	_, err = one(ctx, s, q, func(row scan) (struct{}, error) {
		var since int64
		err := row(&waiting, &since)
		oldest = fromMicros(since)
		return struct{}{}, err
	})
	return waiting, oldest, err
}

const (
	// everyCheckpoint is how often what was written to SQLite's log is copied into its file. Nobody waits for that.
	everyCheckpoint = 500 * time.Millisecond
	// longestLog is how many pages, of 4 KB, the log has before writers wait until all of it is copied and it begins anew.
	// Under steady writing there is always something left, and it would grow for ever.
	longestLog = 4000
)

// beginCheckpoints copies the log in the background. SQLite would have a writer do it in between, and all others wait.
func (s *Store) beginCheckpoints() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(everyCheckpoint)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				s.checkpoint(ctx)
			}
		}
	}()
	s.shut = append(s.shut, func() error {
		cancel()
		<-done
		return nil
	})
}

// checkpoint copies the log, and has it begin anew when it is long. Errors are left to whoever writes next: a disk that
// takes no copy takes no new record either, and the log is tried again.
func (s *Store) checkpoint(ctx context.Context) {
	var busy, pages, copied int
	if err := s.db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &pages, &copied); err != nil ||
		pages < longestLog || s.turn.enter(ctx) != nil {
		return
	}
	defer s.turn.leave()
	_ = s.db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(RESTART)").Scan(&busy, &pages, &copied) // only a little is left
}
