package serve

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/gateway"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/store"
)

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
