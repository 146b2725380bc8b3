package serve

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/launch"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// detail is what a run's row holds beside what lists can be asked by.
type detail struct {
	web.Shown
	Job       string    `json:"job,omitempty"`      // the id of the job that continues with it; empty: the run's own
	Run       string    `json:"run,omitempty"`      // as its journal names it
	Known     int       `json:"known,omitempty"`    // how many records of the journal are stored
	Permitted permitted `json:"permitted,omitzero"` // as decided
	// Stops says that the job stops the runs of its issue, once it is known that its requester may.
	Stops bool `json:"stops,omitempty"`
	// Claim is of the runner that works on it.
	Claim launch.Claim `json:"claim,omitzero"`
}

// detailOf is the detail of a row. One that cannot be read is of a newer version, and left out.
func detailOf(r store.Run) (d detail) {
	_ = json.Unmarshal(r.Detail, &d)
	return d
}

func (d detail) text() json.RawMessage {
	text, _ := json.Marshal(d) // of strings and numbers
	return text
}

// source is what is known of repositories.
type source struct {
	*parts
	doctor *examiner
}

// Self implements web.Repositories.
func (v source) Self() string { return v.in.self() }

const month = 30 * 24 * time.Hour

// Repository implements web.Repositories.
func (v source) Repository(ctx context.Context, name string) (web.Repository, error) {
	r, err := v.doctor.of(ctx, name)
	if err != nil {
		return r, err
	}
	since := v.o.Clock().Add(-month)
	runs, err := v.s.Runs(ctx, store.Filter{Repositories: []string{name}, Since: since, Limit: 1000})
	if err != nil {
		return r, err
	}
	for _, run := range runs {
		if run.Times.Ended.IsZero() || run.State == declined || run.State == web.Dispatched {
			continue
		}
		r.Ended++
		if run.State == string(loop.Done) {
			r.Done++
		}
	}
	spent, err := v.s.Spend(ctx, store.Filter{Since: since, Repositories: []string{name}, Limit: 10_000})
	var sum store.Took
	for _, p := range spent {
		sum.Add(p.Took)
	}
	r.Dollars, r.Tokens = sum.Dollars(), sum.Tokens()
	return r, err
}

// mostLimits is how many limits a page has.
const mostLimits = 500

// Limits implements web.Repositories. Those of repositories are what was found out when someone looked at their page: no
// one is asked. The names are sorted.
func (v source) Limits(repositories []string) (limits []web.Limit) {
	for _, account := range slices.Compact(safetext.Map(repositories, accountOf)) {
		allowed, _ := judge(account, nil, nil, v.o.Allow.Of(account)) // nothing goes beyond it
		for _, l := range limitsOf(allowed.rows) {
			if l.Of = account; l.From == config.Allowed {
				limits = append(limits, l)
			}
		}
	}
	for _, name := range repositories {
		known, _ := v.doctor.last(name)
		for _, l := range known.value.Limits {
			if l.Of = known.value.Name; l.From != config.Allowed && l.From != config.Default && len(limits) < mostLimits {
				limits = append(limits, l)
			}
		}
	}
	return limits
}
