package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

const (
	mostWaiting = 8 << 20     // bytes of one run that wait for a database that does not answer
	mostAtOnce  = 500         // records that are stored at once
	onePiece    = 16 << 10    // bytes of the log in one record
	mostRefused = 20          // times that the database says no, and not that it cannot
	quietFor    = time.Minute // between two complaints about the same
)

// unstored is what waits for the database.
type unstored struct {
	next    int64 // number of the next record
	waiting []entry
	size    int // bytes of waiting
	gap     gap
	spent   []store.Spent
	told    []store.Told
	changed bool // the row is to be stored
}

// entry is a record that waits.
type entry struct {
	store.Record
	known int // how many records of the journal are stored once it is
}

// gap is what was left out, since the database did not answer for long and memory is bounded.
type gap struct {
	at     store.Record // the first that was left out
	pieces int          // of the log
	facts  int          // records of the journal
	bytes  int64
}

func (g gap) empty() bool { return g.pieces+g.facts == 0 }

// record stands where the first of what was left out would.
func (g gap) record() store.Record {
	var parts []string
	if g.pieces > 0 {
		parts = append(parts, safetext.Count(g.pieces, "piece")+" of the log")
	}
	if g.facts > 0 {
		parts = append(parts, safetext.Count(g.facts, "step")+" of the run, which its branch has")
	}
	text := fmt.Sprintf("\n… left out here: %s (%s), because the database did not answer for long.\n",
		strings.Join(parts, " and "), safetext.Bytes(g.bytes))
	return store.Record{Number: g.at.Number, At: g.at.At, Kind: web.OutputRecord, Body: []byte(text)}
}

func (g *gap) add(r store.Record) {
	if g.empty() || r.Number < g.at.Number {
		g.at = store.Record{Number: r.Number, At: r.At}
	}
	if r.Kind == web.OutputRecord {
		g.pieces++
	} else {
		g.facts++
	}
	g.bytes += int64(len(r.Body))
}

func (g *gap) join(other gap) {
	if g.empty() || !other.empty() && other.at.Number < g.at.Number {
		g.at = other.at
	}
	g.pieces, g.facts, g.bytes = g.pieces+other.pieces, g.facts+other.facts, g.bytes+other.bytes
}

// put appends a record.
func (u *unstored) put(kind string, at time.Time, body []byte, known int) {
	r := entry{store.Record{Number: u.next, At: at, Kind: kind, Body: body}, known}
	u.next++
	if len(body) > store.LargestBody {
		u.gap.add(r.Record)
		return
	}
	u.waiting = append(u.waiting, r)
	u.size += len(body)
	u.bound()
}

// bound leaves the oldest pieces of the log out when too much waits, and then the oldest records of the run; the newest
// record stays.
func (u *unstored) bound() {
	if u.size <= mostWaiting || len(u.waiting) < 2 {
		return
	}
	last := len(u.waiting) - 1
	for _, kind := range []string{web.OutputRecord, web.FactRecord} {
		u.waiting = slices.Concat(slices.DeleteFunc(u.waiting[:last:last], func(r entry) bool {
			if r.Kind != kind || u.size <= mostWaiting/2 { // half of it, so that this is seldom
				return false
			}
			u.gap.add(r.Record)
			u.size -= len(r.Body)
			return true
		}), u.waiting[last:])
		if u.size <= mostWaiting {
			return
		}
		last = len(u.waiting) - 1
	}
}

// take is all that waits, which waits no more.
func (u *unstored) take() unstored {
	all := *u
	u.waiting, u.size, u.gap, u.spent, u.told, u.changed = nil, 0, gap{}, nil, nil, false
	return all
}

// putBack is what the database has not taken.
func (u *unstored) putBack(old unstored) {
	u.waiting, u.size = append(old.waiting, u.waiting...), u.size+old.size
	u.spent, u.told = append(old.spent, u.spent...), append(old.told, u.told...)
	u.gap.join(old.gap)
	u.changed = true
	u.bound()
}

// first is how many records are stored at once: on a slow disk all of them would not be in time, ever.
func (u *unstored) first() int {
	n, size := 0, 0
	for n < len(u.waiting) && n < mostAtOnce && (n == 0 || size+len(u.waiting[n].Body) <= mostGather) {
		size += len(u.waiting[n].Body)
		n++
	}
	return n
}

// stored takes the first n records out, and all that went with them.
func (u *unstored) stored(n int) {
	for _, e := range u.waiting[:n] {
		u.size -= len(e.Body)
	}
	u.waiting, u.gap, u.spent, u.told = u.waiting[n:], gap{}, nil, nil
}

// records are the first n, with what stands for what was left out.
func (u *unstored) records(n int) (list []store.Record) {
	if !u.gap.empty() {
		list = append(list, u.gap.record())
	}
	for _, e := range u.waiting[:n] {
		list = append(list, e.Record)
	}
	return list
}

// Output implements launch.Listener.
func (r *recorder) Output(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.waiting); n > 0 && r.waiting[n-1].Kind == web.OutputRecord && len(r.waiting[n-1].Body) < onePiece {
		r.waiting[n-1].Body = append(r.waiting[n-1].Body, text...)
		r.size += len(text)
		r.bound()
		return
	}
	r.add(web.OutputRecord, r.clock(), []byte(text))
}

// add appends a record; the caller holds the lock.
func (r *recorder) add(kind string, at time.Time, body []byte) {
	r.put(kind, at, body, r.detail.Known)
	if r.size > mostGather {
		r.touch()
	}
}

// write stores what comes until end is called.
func (r *recorder) write() {
	defer close(r.done)
	tick := time.NewTicker(gatherTime)
	defer tick.Stop()
	over, refusals, told := false, 0, time.Time{}
	for {
		select {
		case <-tick.C:
		case <-r.wake:
		case <-r.over:
			over = true
		}
		err := r.flush()
		for ; err != nil; err = r.flush() {
			if !errors.Is(err, store.ErrUnavailable) {
				refusals++
			}
			if now := time.Now(); now.Sub(told) > quietFor {
				r.log.Warn("what the run tells waits for the database", "error", err)
				told = now
			}
			if refusals > mostRefused {
				r.log.Error("the end of what a run tells is not stored", "error", err)
				return
			}
			time.Sleep(storeAgain)
		}
		if refusals = 0; over {
			return
		}
	}
}

// flush stores what waits, or keeps it.
func (r *recorder) flush() error {
	r.mu.Lock()
	now := r.take()
	if r.silent && !r.begun {
		r.mu.Unlock()
		return nil
	}
	row, shown, settled := r.row, r.detail, r.settled || !r.begun
	counts := r.counts
	r.counts = nil
	r.mu.Unlock()
	ctx := context.Background() // the store bounds each statement
	for more := now.changed || len(now.waiting) > 0; more; more = len(now.waiting) > 0 {
		n, of := now.first(), shown
		if n < len(now.waiting) {
			of.Known = now.waiting[n-1].known
		}
		row.Detail = of.text()
		err := r.s.PutProgress(ctx, store.Progress{Run: row, Records: now.records(n), Spent: now.spent, Told: now.told,
			Counts: counts})
		if err != nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.putBack(now)
			r.counts = append(counts, r.counts...)
			return err
		}
		now.stored(n)
		counts = nil
	}
	if settled {
		return nil
	}
	err := r.s.EndWaiting(ctx, row, continued, "a later request resumed it") // it goes on where they stand
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settled, r.changed = err == nil, r.changed || err != nil
	return err
}
