package store

import (
	"context"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/invalid"
)

// Delivery is one webhook of GitHub, as it was received.
type Delivery struct {
	Number       int64  // given in the order of storing
	ID           string // GitHub's X-GitHub-Delivery, at most 200 bytes
	Event        string // "issues"
	Action       string // "labeled"
	Installation int64
	Repository   string // "owner/name"; "" for events of an installation
	Sender       string // a login
	Received     time.Time
	Due          time.Time // when it is due for a decision
	Tries        int       // how often it was postponed
	Decision     Decision
	Payload      []byte // the body as it came; nil once it is forgotten
}

// Decision is what happened to a delivery.
type Decision struct {
	Step    string    // what is done: "work", "stop", "nothing"
	Why     string    // a sentence; until it is decided, why it was postponed
	Subject string    // "issue-42"
	Run     string    // its last run; "": none
	At      time.Time // when it was decided; zero: it is not
}

// longestWait is how long a delivery is postponed at most: one that seems to wait longer does so since the clock was set
// back.
const longestWait = 10 * time.Minute

// Deliver stores a delivery with its payload, once by its ID; fresh is false for one that already exists. Received is now
// if it is not set.
func (s *Store) Deliver(ctx context.Context, d Delivery) (fresh bool, err error) {
	if d.ID == "" || len(d.ID) > longestID {
		return false, invalid.Errorf("the id of a delivery has %d bytes: it has to have between 1 and %d",
			len(d.ID), longestID)
	}
	if d.Received.IsZero() {
		d.Received = s.clock()
	}
	stored := false
	err = s.together(ctx, func(t *transaction) error {
		n, err := t.exec(`INSERT INTO ralph_deliveries SELECT NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, 0, '', '', '', '', ?8
			WHERE NOT EXISTS (SELECT 1 FROM ralph_deliveries WHERE id = ?1)`, d.ID, d.Event, d.Action, d.Installation,
			d.Repository, d.Sender, d.Received, time.Time{})
		if err == nil && n > 0 && d.Payload != nil {
			_, err = t.exec("INSERT INTO ralph_payloads VALUES (last_insert_rowid(), ?)", d.Payload)
		}
		stored = n > 0
		return err
	})
	if err != nil {
		return false, fmt.Errorf("storing a delivery: %w", err)
	}
	return stored, nil
}

// withPayloads reads deliveries, and payloads that are not forgotten.
const withPayloads = `SELECT ralph_deliveries.*, body FROM ralph_deliveries LEFT JOIN ralph_payloads ON delivery = number
	WHERE `

// Undecided are deliveries that are due for a decision, the oldest first, with payloads. The same ones come again until
// they are decided or postponed.
func (s *Store) Undecided(ctx context.Context, limit int) ([]Delivery, error) {
	now := s.clock()
	return list[Delivery](ctx, s, "reading deliveries to decide", withPayloads+`decided < 0 AND (due <= ? OR due > ?)
		ORDER BY number LIMIT ?`, now, now.Add(longestWait), limited(limit, 1000))
}

// Postpone has a delivery that cannot be decided now wait until that time, ten minutes from now at the latest, and
// counts the try. why is shown meanwhile.
func (s *Store) Postpone(ctx context.Context, id string, until time.Time, why string) error {
	return s.must(ctx, "postponing a delivery", `UPDATE ralph_deliveries SET due = min(?, ?), why = ?, tries = tries + 1
		WHERE id = ? AND decided < 0`, until, s.clock().Add(longestWait), why, id)
}

// Decided is what happened to one delivery.
type Decided struct {
	ID       string
	Decision Decision
	Run      *Run // that it started; nil: none
}

// Decide stores what happened to deliveries, with the runs that they start: all of it, or nothing. A run that exists
// already stays as it is, and a delivery that is forgotten meanwhile is left out.
func (s *Store) Decide(ctx context.Context, made ...Decided) error {
	return s.write(ctx, "storing decisions", func(t *transaction) error {
		for _, m := range made {
			d := m.Decision
			_, err := t.exec("UPDATE ralph_deliveries SET decided = ?, step = ?, why = ?, subject = ?, run = ? WHERE id = ?",
				s.clock(), d.Step, d.Why, d.Subject, d.Run, m.ID)
			if err == nil && m.Run != nil {
				err = s.storeRun(t, *m.Run, keepRun)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Undecide has a delivery decided again; ErrNotFound when its payload is forgotten.
func (s *Store) Undecide(ctx context.Context, id string) error {
	return s.must(ctx, "handing out a delivery again", `UPDATE ralph_deliveries
		SET decided = ?, due = ?, step = '', why = '', subject = '', run = ''
		WHERE id = ? AND EXISTS (SELECT 1 FROM ralph_payloads WHERE delivery = number)`, time.Time{}, s.clock(), id)
}

// Delivery is one delivery with its payload, or ErrNotFound.
func (s *Store) Delivery(ctx context.Context, id string) (Delivery, error) {
	return one[Delivery](ctx, s, "reading a delivery", withPayloads+"id = ?", id)
}

// Deliveries are the newest deliveries of the filter, without payloads.
func (s *Store) Deliveries(ctx context.Context, f Filter) ([]Delivery, error) {
	return page[Delivery](ctx, s, "listing deliveries", "SELECT *, NULL FROM ralph_deliveries WHERE 1 = 1", f)
}

// Delivered is how many deliveries were ever stored.
func (s *Store) Delivered(ctx context.Context) (int64, error) {
	return one[int64](ctx, s, "counting deliveries", `SELECT coalesce(max(seq), 0) FROM sqlite_sequence
		WHERE name = 'ralph_deliveries'`)
}
