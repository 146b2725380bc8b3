package serve

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/bot"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
	"github.com/ralph-loop/ralph/internal/work"
)

const (
	gatherTime  = 200 * time.Millisecond // what comes within it is stored at once
	mostGather  = 256 << 10              // bytes that are stored at the latest
	mostShown   = 1 << 20                // bytes of a prompt or a diff as JSON; whoever sends them stays far below
	storeAgain  = time.Second
	mostStoring = 64 << 20 // bytes that wait for a database that does not answer; older ones go first
)

// recorder writes down what a job's process tells: its row, and the records that pages show.
type recorder struct {
	s     *store.Store
	log   *slog.Logger
	clock func() time.Time
	m     *metrics

	mu sync.Mutex
	progress
	unstored
	wake, over, done chan struct{}
}

// progress is how the run stands, as far as it has told.
type progress struct {
	row     store.Run
	detail  detail
	state   loop.State
	begun   bool      // a run began, or went on
	step    time.Time // when the turn, or the checks, began
	silent  bool      // nothing is stored before
	settled bool      // earlier runs of the task wait no more
}

// unstored is what waits for the database.
type unstored struct {
	next    int64 // number of the next record
	waiting []store.Record
	size    int  // bytes of waiting
	changed bool // the row is to be stored
}

// newRecorder begins to write down an attempt of a run, whose last record has this number. silent says that the run has
// no row, and gets one only if it begins.
func newRecorder(r *recorder, row store.Run, last int64, silent bool) *recorder {
	r.progress = progress{row: row, silent: silent}
	r.next = last + 1
	r.wake, r.over, r.done = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	_ = json.Unmarshal(row.Detail, &r.detail) // of a newer version it is made anew
	go r.write()
	return r
}

// Begun implements launch.Listener.
func (r *recorder) Begun(b bot.Begun) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.detail.Run != b.Run { // another run, whose records are all new
		r.detail.Run, r.detail.Known = b.Run, 0
	}
	r.detail.Known = min(r.detail.Known, b.Records)
	r.state, r.begun = loop.State{}, true
	r.row.Title, r.row.Subject, r.detail.Issue, r.detail.Branch = b.Title, b.Task, b.Issue, b.Branch
	r.touch()
}

// Record implements launch.Listener. What an earlier process of the run has told is not written down again.
func (r *recorder) Record(m work.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = r.state.With(m.Record)
	r.describe(m.Record)
	if m.Number <= r.detail.Known {
		return
	}
	body, err := json.Marshal(m.Record)
	if err != nil {
		return // it came as JSON
	}
	r.detail.Known = m.Number
	r.measure(m.Record)
	r.add(web.FactRecord, m.Record.At, body)
}

// measure notes how long turns and checks take; the caller holds the lock.
func (r *recorder) measure(of loop.Record) {
	switch of.Type {
	case loop.TurnBegun, loop.Committed:
		r.step = of.At
	case loop.Turned:
		if !r.step.IsZero() {
			r.m.turns.observe(of.At.Sub(r.step))
		}
	case loop.Judged:
		if !r.step.IsZero() {
			r.m.checks.observe(of.At.Sub(r.step))
		}
	}
}

// Shown implements launch.Listener.
func (r *recorder) Shown(m work.Shown) {
	kind, what := web.PromptRecord, any(web.PromptBody{Iteration: m.Iteration, Text: m.Prompt})
	if m.Diff != nil {
		kind, what = web.DiffRecord, web.DiffBody{Iteration: m.Iteration, Text: m.Diff.Text, Note: m.Diff.Note}
	}
	body, err := json.Marshal(what)
	if err != nil {
		return // it came as JSON
	}
	if len(body) > mostShown {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(kind, r.clock(), body)
}

// Output implements launch.Listener.
func (r *recorder) Output(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.waiting); n > 0 && r.waiting[n-1].Kind == web.OutputRecord && len(r.waiting[n-1].Body) < 16<<10 {
		r.waiting[n-1].Body = append(r.waiting[n-1].Body, text...)
		r.size += len(text)
		return
	}
	r.add(web.OutputRecord, r.clock(), []byte(text))
}

// add appends a record; the caller holds the lock.
func (r *recorder) add(kind string, at time.Time, body []byte) {
	r.waiting = append(r.waiting, store.Record{Number: r.next, At: at, Kind: kind, Body: body})
	r.next++
	r.size += len(body)
	if r.size > mostGather {
		r.touch()
	}
}

func (r *recorder) touch() {
	r.changed = true
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// describe brings the row up to date; the caller holds the lock.
func (r *recorder) describe(of loop.Record) {
	s := &r.state
	r.detail.Agent, r.detail.Pull = s.Start.Agent, s.Post.Pull
	r.detail.Iteration, r.detail.Of = len(s.Iterations), s.MaxIterations
	r.detail.Dollars, r.detail.Tokens = s.Usage.CostUSD, s.Usage.Input+s.Usage.Output+s.Usage.CacheRead+s.Usage.CacheWrite
	switch of.Type {
	case loop.Started, loop.Resumed:
		r.detail.Doing = "preparing"
	case loop.Baselined:
		r.detail.Doing = "checks have run on the base"
	case loop.TurnBegun:
		r.detail.Iteration = of.Iteration
		r.detail.Doing = "the agent works"
	case loop.Turned, loop.Committed:
		r.detail.Doing = "checks run"
	case loop.Paused:
		r.detail.Doing = "waits before the next try"
	case loop.Judged:
		r.detail.Doing = "checks have run"
	case loop.Ended:
		r.detail.Doing = "tells the end"
	}
	r.touch()
}

// write stores what comes until end is called.
func (r *recorder) write() {
	defer close(r.done)
	tick := time.NewTicker(gatherTime)
	defer tick.Stop()
	for {
		over := false
		select {
		case <-tick.C:
		case <-r.wake:
		case <-r.over:
			over = true
		}
		for !r.flush() && over {
			time.Sleep(storeAgain)
			if r.lost() {
				return
			}
		}
		if over {
			return
		}
	}
}

// lost reports whether so much waits that the database is given up for this attempt. The journal on GitHub has the
// facts.
func (r *recorder) lost() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.size > mostStoring
}

// flush stores what waits; false when the database has not taken it.
func (r *recorder) flush() bool {
	r.mu.Lock()
	if r.silent && !r.begun {
		r.waiting, r.size, r.changed = nil, 0, false
		r.mu.Unlock()
		return true
	}
	list, changed, row, settled := r.waiting, r.changed, r.row, r.settled || !r.begun
	row.Detail = r.detail.text()
	r.waiting, r.size, r.changed = nil, 0, false
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := r.s.Append(ctx, row.ID, list)
	if err == nil && changed {
		err = r.s.PutRun(ctx, row)
	}
	if err == nil && !settled {
		err = r.settle(ctx, row)
	}
	if err == nil || errors.Is(err, store.ErrOutdated) { // a later attempt writes the row now
		return true
	}
	r.log.Warn("what the run tells waits for the database", "error", err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting, r.changed = append(list, r.waiting...), true
	r.size = 0
	for _, record := range r.waiting {
		r.size += len(record.Body)
	}
	return false
}

// settle ends the rows of runs of the same task that waited: this one goes on where they stand.
func (r *recorder) settle(ctx context.Context, row store.Run) error {
	waiting, err := r.s.Runs(ctx, store.RunFilter{Repositories: []string{row.Repository}, Subject: row.Subject,
		States: []string{web.Waiting}})
	if err != nil {
		return err
	}
	for _, other := range waiting {
		if other.ID == row.ID {
			continue
		}
		other.State, other.Reason, other.Times.Ended = continued, "a later request went on with it", r.clock()
		if err := r.s.PutRun(ctx, other); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settled = true
	return nil
}

// end stores the rest, with the row as it is in the end.
func (r *recorder) end(final func(*store.Run, *detail)) {
	r.mu.Lock()
	final(&r.row, &r.detail)
	r.detail.Doing, r.changed = "", true
	r.mu.Unlock()
	close(r.over)
	<-r.done
}

func (d detail) text() json.RawMessage {
	text, _ := json.Marshal(d) // of strings and numbers
	return text
}
