package store

import (
	"context"
	"database/sql"
	"errors"
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
	Tries    int       // how often it was postponed
	Waits    string    // why it was postponed, until it is decided
	Decision *Decision // nil until Decide
}

// Decision is what became of a delivery.
type Decision struct {
	Step    string    // what is done: "work", "stop", "nothing"
	Why     string    // a sentence
	Subject string    // "issue-42"
	Run     string    // its last run; "": none
	At      time.Time // when it was decided; Decide fills it in
}

const longestID = 200

// longestWait is how long a delivery is postponed at most: one that seems to wait longer does so since the clock was set
// back.
const longestWait = 10 * time.Minute

// Deliver stores a delivery, once by its ID; fresh is false for one that already exists. Received is now if it is not
// set.
func (s *Store) Deliver(ctx context.Context, d Delivery) (fresh bool, err error) {
	if d.ID == "" || len(d.ID) > longestID {
		return false, invalid.Errorf("the id of a delivery has %d bytes: it has to have between 1 and %d",
			len(d.ID), longestID)
	}
	if d.Received.IsZero() {
		d.Received = s.clock()
	}
	return s.together(ctx, d)
}

// deliver stores a delivery, and its payload beside it: what happens to a delivery later writes its row anew, and not
// the payload.
func (t *transaction) deliver(d Delivery) (fresh bool, err error) {
	at := micros(d.Received)
	var number int64
	err = t.one(`INSERT INTO ralph_deliveries (id, event, action, installation, repository, sender, received, due)
		SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7 WHERE NOT EXISTS (SELECT 1 FROM ralph_deliveries WHERE id = ?1)
		RETURNING number`, d.ID, d.Event, d.Action, d.Installation, d.Repository, d.Sender, at).Scan(&number)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err == nil && d.Payload != nil:
		_, err = t.exec("INSERT INTO ralph_payloads (delivery, body) VALUES (?, ?)", number, d.Payload)
	}
	return true, err
}

const deliveryColumns = `number, id, event, action, installation, repository, sender, received, tries, decided, step,
	why, subject, run`

// fromPayloads has a row of a delivery go on with its payload, NULL when that is forgotten.
const fromPayloads = ", body FROM ralph_deliveries LEFT JOIN ralph_payloads ON delivery = number "

// deliveryOf reads deliveryColumns, and more columns after them.
func deliveryOf(row scan, more ...any) (d Delivery, err error) {
	var received, decided int64
	var made Decision
	err = row(append([]any{&d.Number, &d.ID, &d.Event, &d.Action, &d.Installation, &d.Repository, &d.Sender, &received,
		&d.Tries, &decided, &made.Step, &made.Why, &made.Subject, &made.Run}, more...)...)
	d.Received = fromMicros(received)
	if d.Waits = made.Why; decided != 0 {
		d.Waits = ""
		made.At = fromMicros(decided)
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

// Undecided are deliveries that are to be decided now, the oldest first, with payloads. The same ones come again until
// they are decided or postponed.
func (s *Store) Undecided(ctx context.Context, limit int) ([]Delivery, error) {
	now := s.clock()
	return list(ctx, s, ask("reading deliveries to decide", "SELECT "+deliveryColumns+fromPayloads+`WHERE decided = 0
		AND (due <= ? OR due > ?) ORDER BY number LIMIT ?`, micros(now), micros(now.Add(longestWait)), several(limit, 1000)),
		withPayload)
}

// Postpone has a delivery that cannot be decided now wait until that time, ten minutes from now at the latest, and
// counts the try. why is shown meanwhile.
func (s *Store) Postpone(ctx context.Context, id string, until time.Time, why string) error {
	return s.must(ctx, "postponing a delivery", `UPDATE ralph_deliveries SET due = ?, why = ?, tries = tries + 1
		WHERE id = ? AND decided = 0`, min(micros(until), micros(s.clock().Add(longestWait))), why, id)
}

// Decided is what became of one delivery.
type Decided struct {
	ID       string
	Decision Decision
	Run      *Run // that came of it; nil: none
}

// Decide stores what became of deliveries, with the runs that came of them: all of it, or nothing. A run that is there
// already stays as it is, and a delivery that is forgotten meanwhile is left out.
func (s *Store) Decide(ctx context.Context, made ...Decided) error {
	if len(made) == 0 {
		return nil
	}
	return s.write(ctx, "storing decisions", func(t *transaction) error {
		for _, m := range made {
			d := m.Decision
			if _, err := t.exec(`UPDATE ralph_deliveries SET decided = ?, step = ?, why = ?, subject = ?, run = ?
				WHERE id = ?`, micros(s.clock()), d.Step, d.Why, d.Subject, d.Run, m.ID); err != nil {
				return err
			}
			if m.Run == nil {
				continue
			}
			if _, err := t.exec(insertRun+ifNew, s.columnsOf(*m.Run)...); err != nil {
				return err
			}
		}
		return nil
	})
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
		id), withPayload)
}

// DeliveryFilter selects the deliveries of a page.
type DeliveryFilter struct {
	Repositories []string // nil for all; an empty list for none
	NotBy        string   // without those of this sender; empty: of everyone
	Before       int64    // only smaller numbers: the number of the last one of the page before
	Limit        int      // at most 1000, by default 100
}

// Deliveries are the newest deliveries of the filter, without payloads.
func (s *Store) Deliveries(ctx context.Context, f DeliveryFilter) ([]Delivery, error) {
	q := ask("listing deliveries", "SELECT "+deliveryColumns+" FROM ralph_deliveries WHERE 1 = 1").
		in("repository", f.Repositories).
		andIf(f.NotBy != "", "AND sender <> ?", f.NotBy).
		andIf(f.Before != 0, "AND number < ?", f.Before).
		and("ORDER BY number DESC LIMIT ?", several(f.Limit, 1000))
	return list(ctx, s, q, func(row scan) (Delivery, error) { return deliveryOf(row) })
}

const (
	storing      = "storing a delivery"
	mostTogether = 100 // deliveries of one write, so that each write ends in time
	mostArriving = 1000
)

// arrived is a delivery that is to be stored together with others.
type arrived struct {
	Delivery
	waits context.Context // of whoever waits for it
	fresh bool
	done  chan error // holds one
}

// together stores a delivery in one transaction with others that come while another one is written: a disk that is slow
// to sync makes them wait for one sync, and not for each other's.
func (s *Store) together(ctx context.Context, d Delivery) (fresh bool, err error) {
	own := &arrived{Delivery: d, waits: ctx, done: make(chan error, 1)}
	select {
	case s.arriving <- own:
	case <-ctx.Done():
	}
	select {
	case err = <-own.done:
		return own.fresh, err
	case <-ctx.Done():
		return false, failed(ctx, ctx.Err())
	case <-s.closed:
		return false, ErrUnavailable
	}
}

// storeArriving stores what comes, until the database is closed.
func (s *Store) storeArriving() {
	for {
		select {
		case first := <-s.arriving:
			s.storeSome([]*arrived{first})
		case <-s.closed:
			return
		}
	}
}

// storeSome stores deliveries with those that have come when it is their turn, and tells whoever waits for them.
func (s *Store) storeSome(some []*arrived) {
	ctx := context.Background()
	err := s.write(ctx, storing, func(t *transaction) error {
		for more := true; more && len(some) < mostTogether; {
			select {
			case next := <-s.arriving:
				some = append(some, next)
			default:
				more = false
			}
		}
		return t.deliverAll(some)
	})
	for _, a := range some {
		if err != nil && !errors.Is(err, ErrUnavailable) && len(some) > 1 { // one of them cannot be stored, for all that is known
			a.done <- s.write(ctx, storing, func(t *transaction) error { return t.deliverAll([]*arrived{a}) })
		} else {
			a.done <- err
		}
	}
}

// deliverAll stores deliveries that somebody waits for still.
func (t *transaction) deliverAll(all []*arrived) (err error) {
	for _, a := range all {
		if a.waits.Err() != nil {
			continue
		}
		if a.fresh, err = t.deliver(a.Delivery); err != nil {
			return err
		}
	}
	return nil
}
