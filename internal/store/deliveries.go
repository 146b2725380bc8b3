package store

import (
	"context"
	"errors"
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
	Due          time.Time // when it is to be decided
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

const longestID = 200

// longestWait is how long a delivery is postponed at most: one that seems to wait longer does so since the clock was set
// back.
const longestWait = 10 * time.Minute

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

// Deliver stores a delivery, once by its ID; fresh is false for one that already exists. Received is now if it is not
// set. It is stored in one transaction with others that come while another one is written: a disk that is slow to sync
// makes them wait for one sync, and not for each other's.
func (s *Store) Deliver(ctx context.Context, d Delivery) (fresh bool, err error) {
	if d.ID == "" || len(d.ID) > longestID {
		return false, invalid.Errorf("the id of a delivery has %d bytes: it has to have between 1 and %d",
			len(d.ID), longestID)
	}
	if d.Received.IsZero() {
		d.Received = s.clock()
	}
	d.Due = d.Received
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

// storeSome stores a delivery with those that have come when it is its turn, and tells whoever waits for them.
func (s *Store) storeSome(first *arrived) {
	ctx, some := context.Background(), []*arrived{first}
	err := s.write(ctx, storing, func(t *transaction) error {
		for more := true; more && len(some) < mostTogether; {
			select {
			case next := <-s.arriving:
				some = append(some, next)
			default:
				more = false
			}
		}
		return t.deliver(some)
	})
	for _, a := range some {
		if err != nil && !errors.Is(err, ErrUnavailable) && len(some) > 1 { // one of them cannot be stored, for all that is known
			a.done <- s.write(ctx, storing, func(t *transaction) error { return t.deliver([]*arrived{a}) })
		} else {
			a.done <- err
		}
	}
}

// deliver stores deliveries that someone waits for still, with their payloads.
func (t *transaction) deliver(all []*arrived) error {
	for _, a := range all {
		if a.waits.Err() != nil {
			continue
		}
		d := a.Delivery
		n, err := t.exec(`INSERT INTO ralph_deliveries SELECT NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, 0, '', '', '', '', ?8
			WHERE NOT EXISTS (SELECT 1 FROM ralph_deliveries WHERE id = ?1)`, d.ID, d.Event, d.Action, d.Installation,
			d.Repository, d.Sender, d.Received, time.Time{})
		if err == nil && n > 0 && d.Payload != nil {
			_, err = t.exec("INSERT INTO ralph_payloads VALUES (last_insert_rowid(), ?)", d.Payload)
		}
		if err != nil {
			return err
		}
		a.fresh = n > 0
	}
	return nil
}

// withPayloads reads deliveries, and payloads that are not forgotten.
const withPayloads = `SELECT ralph_deliveries.*, body FROM ralph_deliveries LEFT JOIN ralph_payloads ON delivery = number
	WHERE `

// Undecided are deliveries that are to be decided now, the oldest first, with payloads. The same ones come again until
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
	Run      *Run // that came of it; nil: none
}

// Decide stores what happened to deliveries, with the runs that came of them: all of it, or nothing. A run that exists
// already stays as it is, and a delivery that is forgotten meanwhile is left out.
func (s *Store) Decide(ctx context.Context, made ...Decided) error {
	return s.write(ctx, "storing decisions", func(t *transaction) error {
		for _, m := range made {
			d := m.Decision
			_, err := t.exec("UPDATE ralph_deliveries SET decided = ?, step = ?, why = ?, subject = ?, run = ? WHERE id = ?",
				s.clock(), d.Step, d.Why, d.Subject, d.Run, m.ID)
			if err == nil && m.Run != nil {
				err = s.addRun(t, *m.Run)
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

// Delivery is one delivery with its payload; ErrNotFound if there is none.
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
