package serve

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/bot"
	"github.com/ralph-loop/ralph/internal/gateway"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
	"github.com/ralph-loop/ralph/internal/work"
)

const (
	gatherTime = 200 * time.Millisecond // what comes within it is stored at once
	mostGather = 256 << 10              // bytes that are stored at the latest
	storeAgain = time.Second
	mostShown  = 1 << 20 // bytes of a prompt or a diff as JSON; whoever sends them stays far below
)

// recorder writes down what a job's process tells: its row, and the records that pages show.
type recorder struct {
	s     *store.Store
	log   *slog.Logger
	clock func() time.Time
	m     *metrics
	// notices tells others how the run ended; nil: nobody does
	notices *notices
	id      string // of the run

	mu sync.Mutex
	progress
	numbered
	meter
	hints
	wake, over, done chan struct{}
	attached         chan struct{} // closed once the meter can be read
}

// progress is how the run stands, as far as it has told.
type progress struct {
	row     store.Run
	detail  detail
	state   loop.State
	begun   bool      // a run began, or went on
	step    time.Time // when the turn, or the checks, began
	settled bool      // earlier runs of the task wait no more; of write alone
}

// newRecorder begins to write down an attempt of a run, whose last record has this number. Of an
// answer and of a sweep nothing is stored before a run begins.
func newRecorder(r *recorder, row store.Run, last int64) *recorder {
	r.progress = progress{row: row}
	r.id, r.next = row.ID, last+1
	r.wake, r.over, r.done = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	r.attached = make(chan struct{})
	r.detail = detailOf(row)
	go r.write()
	return r
}

// Begun implements launch.Listener.
func (r *recorder) Begun(b bot.StartedRun) {
	<-r.attached
	r.mu.Lock()
	defer r.mu.Unlock()
	r.earlier = b.Records
	if r.detail.Run != b.Run { // another run, whose records are all new; what the one before was told is told
		r.detail.Run, r.detail.Known, r.earlier = b.Run, 0, math.MaxInt
	}
	r.detail.Known = min(r.detail.Known, b.Records)
	r.state, r.begun = loop.State{}, true
	r.row.Kind, r.row.Title, r.row.Subject, r.detail.Issue, r.detail.Branch = "", b.Title, b.Task, b.Issue, b.Branch
	r.touch()
}

// Record implements launch.Listener. What an earlier process of the run has told is not written down again.
//
// A run that is further than any process of it was before begins to count its kills anew: it has taken a turn or judged
// one. A turn that has only begun is nothing, since it may be what kills the process.
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
	r.pay(m.Record, m.Number)
	r.heard(m.Record, m.Number)
	if len(body) > store.LargestBody {
		r.log.Error("a record of the run is too large to be stored", "number", m.Number, "bytes", len(body))
	} else {
		r.add(web.FactRecord, m.Record.At, body)
		r.gather()
	}
	if slices.Contains([]loop.RecordType{loop.Baselined, loop.Turned, loop.Committed, loop.Judged}, m.Record.Type) {
		r.row.Kills = 0
	}
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
	body, err := json.Marshal(web.ShownBody(m))
	if err != nil || len(body) > mostShown { // it came as JSON
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(web.ShownRecord, r.clock(), body)
	r.gather()
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

// end stores the rest, with the row as it is in the end.
func (r *recorder) end(final func(*store.Run, *detail)) {
	r.mu.Lock()
	final(&r.row, &r.detail)
	r.payRest(fmt.Sprintf("%s/%d/end", r.row.ID, r.row.Attempt))
	r.detail.Doing, r.changed = "", true
	r.mu.Unlock()
	close(r.over)
	<-r.done
}

// hints are what people have said for the agent. Each becomes a record of the run's journal, and is told to no later
// process then.
type hints struct {
	last    int64 // the highest number of a word that the process has got
	earlier int   // how many records of the journal the process began with
}

// heardUpTo is the number after which words are new.
func (r *recorder) heardUpTo() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// untold are the hints that the process is to get: none before it has said where it stands.
func (r *recorder) untold(said []store.Word) (list []store.Word) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.begun {
		return nil
	}
	for _, w := range said {
		if w.Number <= r.last {
			continue
		}
		r.last = w.Number
		if w.Record > 0 && w.Record <= r.earlier { // a later record never left the process that died
			continue
		}
		list = append(list, w)
	}
	return list
}

// heard notes that a hint has become a record; the caller holds the lock.
func (r *recorder) heard(of loop.Record, number int) {
	var word int64
	if of.Hint == nil {
		return
	}
	if _, err := fmt.Sscanf(of.Hint.ID, web.WordIDs, &word); err == nil {
		r.told = append(r.told, store.Told{Word: word, Record: number})
	}
}

// meter notes what a run's models take, with the record of the run that it was taken for: a record that is told twice,
// by this process or another, is paid once.
type meter struct {
	read    func() []gateway.Usage // of this attempt so far; nil when its models are not spoken to through us
	counted map[string]gateway.Usage
}

// attach says how the usage of the attempt is asked for. Nothing that the process tells is written down before.
func (r *recorder) attach(metered bool, usage func() []gateway.Usage) {
	r.mu.Lock()
	if metered {
		r.read = usage
	}
	r.mu.Unlock()
	close(r.attached)
}

// pay notes what was taken up to a record of the journal; the caller holds the lock.
func (r *recorder) pay(of loop.Record, number int) {
	mark := fmt.Sprintf("%s/%s/%d/%d", r.row.Repository, r.detail.Run, number, of.At.UnixNano())
	if r.read != nil {
		if of.Turn != nil || len(of.Verdicts) > 0 {
			r.payRest(mark)
		}
		return
	}
	if took := usageOf(of); took != (loop.Usage{}) {
		r.owe(mark, r.state.Start.Agent, store.Took{Turns: 1, Input: took.Input, CacheRead: took.CacheRead,
			CacheWrite: took.CacheWrite, Output: took.Output, Cost: int64(took.CostUSD * 1e6)})
	}
}

// usageOf is what a record says that a turn or reviews took.
func usageOf(of loop.Record) (sum loop.Usage) {
	if of.Turn != nil {
		sum = of.Turn.Usage
	}
	for _, v := range of.Verdicts {
		if v.Usage != nil {
			sum = sum.Plus(*v.Usage)
		}
	}
	return sum
}

// payRest notes what the gateway has seen and nobody has paid; the caller holds the lock.
func (r *recorder) payRest(mark string) {
	if r.read == nil {
		return
	}
	if r.counted == nil {
		r.counted = map[string]gateway.Usage{}
	}
	for _, u := range r.read() {
		before := r.counted[u.Model]
		took := store.Took{Turns: u.Requests - before.Requests, Input: u.Input - before.Input,
			CacheRead: u.CacheRead - before.CacheRead, CacheWrite: u.CacheWrite - before.CacheWrite,
			Output: u.Output - before.Output, Cost: int64(u.Dollars*1e6) - int64(before.Dollars*1e6)}
		if took != (store.Took{}) {
			r.owe(mark, u.Model, took)
		}
		r.counted[u.Model] = u
	}
}

// owe has spend stored once by its mark, with what the metrics count; the caller holds the lock.
func (r *recorder) owe(mark, model string, took store.Took) {
	row := r.row
	r.spent = append(r.spent, store.Spent{Mark: mark + "/" + model,
		Spend: store.Spend{Installation: row.Installation, Repository: row.Repository, Person: row.Person, Model: model,
			Took: took},
		Counts: []store.Counter{
			{Name: countTokens, Label: "input", Value: took.Input + took.CacheRead + took.CacheWrite},
			{Name: countTokens, Label: "output", Value: took.Output},
			{Name: countCost, Value: took.Cost}}})
	r.changed = true
}
