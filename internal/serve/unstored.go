package serve

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

const (
	mostPrinted = 8 << 20     // bytes of the log that wait for a database that does not answer
	onePiece    = 16 << 10    // bytes of the log in one record
	mostRefused = 20          // times that the database says no, and not that it cannot
	quietFor    = time.Minute // between two complaints about the same
)

// unstored is what waits for the database, and is stored together.
type unstored struct {
	records []store.Record
	size    int // bytes of records
	printed int // of these, of the log
	spent   []store.Spent
	told    []store.Told
	counts  []store.Counter
	changed bool // the row is to be stored
}

// numbered are records with their numbers.
type numbered struct {
	unstored
	next    int64 // number of the next record
	dropped int   // bytes of the log that found no room
}

// add appends a record.
func (n *numbered) add(kind string, at time.Time, body []byte) {
	n.records = append(n.records, store.Record{Number: n.next, At: at, Kind: kind, Body: body})
	n.next++
	n.size += len(body)
}

// print appends a piece of the log. When too much waits, it is left out, and the next piece tells how much.
func (n *numbered) print(at time.Time, text string) {
	if n.printed > mostPrinted {
		n.dropped += len(text)
		return
	}
	if n.dropped > 0 {
		text = fmt.Sprintf("\n… left out here: %s of the log, because the database did not answer for long.\n%s",
			safetext.Bytes(int64(n.dropped)), text)
		n.dropped = 0
	}
	n.printed += len(text)
	if last := len(n.records) - 1; last >= 0 && n.records[last].Kind == web.OutputRecord && len(n.records[last].Body) < onePiece {
		n.records[last].Body = append(n.records[last].Body, text...)
		n.size += len(text)
		return
	}
	n.add(web.OutputRecord, at, []byte(text))
}

// Output implements launch.Listener.
func (r *recorder) Output(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.print(r.clock(), text)
	r.gather()
}

// gather has the database store now what would be too much for one write later; the caller holds the lock.
func (r *recorder) gather() {
	if r.size > mostGather {
		r.touch()
	}
}

// write stores what comes until end is called.
func (r *recorder) write() {
	defer close(r.done)
	tick := time.NewTicker(gatherTime)
	defer tick.Stop()
	for over := false; !over; {
		select {
		case <-tick.C:
		case <-r.wake:
		case <-r.over:
			over = true
		}
		r.flush()
	}
}

// flush stores what waits, with the row as it is with that.
func (r *recorder) flush() {
	r.mu.Lock()
	now, row, settled := r.unstored, r.row, r.settled || !r.begun
	r.unstored = unstored{}
	row.Detail = r.detail.text()
	r.mu.Unlock()
	if row.Kind != "" {
		return
	}
	if now.changed || len(now.records) > 0 {
		r.store(func(ctx context.Context) error {
			return r.s.PutProgress(ctx, store.Progress{Run: row, Records: now.records, Spent: now.spent, Told: now.told,
				Counts: now.counts})
		})
	}
	if !settled {
		r.settled = r.store(func(ctx context.Context) error { // the run starts from there
			return r.s.EndWaiting(ctx, row, continued, "a later request resumed it")
		})
	}
}

// store stores something, however long the database is away, and reports whether it has.
func (r *recorder) store(put func(context.Context) error) bool {
	var told time.Time
	for refusals := 0; ; time.Sleep(storeAgain) {
		err := put(context.Background()) // the store bounds each statement
		if err == nil {
			return true
		}
		if !errors.Is(err, store.ErrUnavailable) {
			refusals++
		}
		if now := time.Now(); now.Sub(told) > quietFor {
			r.log.Warn("what the run tells waits for the database", "error", err)
			told = now
		}
		if refusals > mostRefused {
			r.log.Error("a part of what a run tells is not stored", "error", err)
			return false
		}
	}
}
