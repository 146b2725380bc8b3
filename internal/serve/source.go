package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/launch"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// detail is what a run's row holds for its page, beside what lists can be asked by.
type detail struct {
	Job       string    `json:"job,omitempty"`   // the id of the job that goes on with it; empty: the run's own
	Run       string    `json:"run,omitempty"`   // as its journal names it
	Known     int       `json:"known,omitempty"` // how many records of the journal are stored
	Issue     int       `json:"issue,omitempty"`
	Permitted permitted `json:"permitted,omitzero"` // as decided
	Agent     string    `json:"agent,omitempty"`
	Pull      int       `json:"pull,omitempty"`
	Branch    string    `json:"branch,omitempty"`
	Doing     string    `json:"doing,omitempty"`
	Iteration int       `json:"iteration,omitempty"`
	Of        int       `json:"of,omitempty"`
	Dollars   float64   `json:"dollars,omitempty"`
	Tokens    int64     `json:"tokens,omitempty"`
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

// source shows what the database holds.
type source struct {
	s      *store.Store
	doctor *examiner
	self   func() string // the App's login; "" until GitHub has answered
	allow  config.Allowances
	clock  func() time.Time
}

// Run implements web.Runs.
func (o source) Run(ctx context.Context, id string) (web.Run, error) {
	r, err := o.s.Run(ctx, id)
	return shownRun(r), notFound(err)
}

// activeStates are those of runs that have not ended.
var activeStates = []string{web.Queued, web.Running, web.Waiting}

// Runs implements web.Runs.
func (o source) Runs(ctx context.Context, q web.Query) ([]web.Run, error) {
	f := store.Filter{Repositories: withOthers(q), Since: q.Since, Before: q.Before, Limit: q.Limit}
	if q.All {
		f.Repositories = nil // an empty list is no repository, nil is every one
	}
	if q.Active {
		f.States = activeStates
	}
	list, err := o.s.Runs(ctx, f)
	return shown(list, shownRun), err
}

// shown are rows as pages show them.
func shown[F, T any](rows []F, show func(F) T) []T {
	list := make([]T, 0, len(rows))
	for _, r := range rows {
		list = append(list, show(r))
	}
	return list
}

func notFound(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return web.ErrNotFound
	}
	return err
}

// shownRun is a row as pages show it.
func shownRun(r store.Run) web.Run {
	d := detailOf(r)
	return web.Run{
		ID: r.ID, Number: r.Number, Repository: r.Repository, Issue: d.Issue, Title: r.Title, By: r.Person, Agent: d.Agent, Pull: d.Pull, Branch: d.Branch,
		Standing: web.Standing{State: r.State, Doing: d.Doing, Reason: r.Reason, Until: r.Times.Resume,
			Iteration: d.Iteration, Of: d.Of},
		Queued: r.Times.Created, Began: r.Times.Started, Ended: r.Times.Ended,
		Spent: web.Amount{Dollars: d.Dollars, Tokens: d.Tokens},
	}
}

// Records implements web.Records.
func (o source) Records(ctx context.Context, run string, after int64, limit int) ([]web.Record, error) {
	list, err := o.s.Records(ctx, run, after, limit)
	return shown(list, func(r store.Record) web.Record { return web.Record(r) }), err
}

// wordIDs are the form in which the records of a run name what was said to it.
const wordIDs = "word-%d"

func wordID(w store.Word) string { return fmt.Sprintf(wordIDs, w.Number) }

// Hints implements web.Hints.
func (o source) Hints(ctx context.Context, run string) (given []web.HintGiven, err error) {
	said, err := o.s.Words(ctx, run, 0)
	for _, w := range said {
		if w.Kind == web.Hint {
			given = append(given, web.HintGiven{ID: wordID(w), By: w.Person, At: w.At, Text: w.Text})
		}
	}
	return given, err
}

// Watch implements web.Records.
func (o source) Watch(run string) (changed <-chan struct{}, stop func()) { return o.s.Watch(run) }

const month = 30 * 24 * time.Hour

// Repository implements web.Repositories.
func (o source) Repository(ctx context.Context, name string) (web.Repository, error) {
	r, err := o.doctor.of(ctx, name)
	if err != nil {
		return r, err
	}
	since := o.clock().Add(-month)
	runs, err := o.s.Runs(ctx, store.Filter{Repositories: []string{name}, Since: since, Limit: 1000})
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
	spent, err := o.s.Spend(ctx, store.Filter{Since: since, Repositories: []string{name}, Limit: 10_000})
	for _, p := range spent {
		of := amount(p.Took)
		r.Spent.Dollars, r.Spent.Tokens = r.Spent.Dollars+of.Dollars, r.Spent.Tokens+of.Tokens
	}
	return r, err
}

func amount(t store.Took) web.Amount {
	return web.Amount{Dollars: float64(t.Cost) / 1e6, Tokens: t.Input + t.Output + t.CacheRead + t.CacheWrite}
}

// Delivery implements web.Deliveries.
func (o source) Delivery(ctx context.Context, id string) (web.Delivery, error) {
	d, err := o.s.Delivery(ctx, id)
	return shownDelivery(d), notFound(err)
}

// Deliveries implements web.Deliveries.
func (o source) Deliveries(ctx context.Context, q web.Query) ([]web.Delivery, error) {
	f := store.Filter{Repositories: withOthers(q), Before: q.Before, Limit: q.Limit}
	if q.NoOwn {
		f.NotBy = o.self()
	}
	list, err := o.s.Deliveries(ctx, f)
	return shown(list, shownDelivery), err
}

// withOthers are the repositories of a query, and "" for what belongs to none. It is never nil, which is every one.
func withOthers(q web.Query) []string {
	if q.Others {
		return append(slices.Clone(q.Repositories), "")
	}
	return append([]string{}, q.Repositories...)
}

func shownDelivery(d store.Delivery) web.Delivery {
	out := web.Delivery{ID: d.ID, Number: d.Number, At: d.Received, Event: d.Event, Repository: d.Repository, By: d.Sender,
		Step: d.Decision.Step, Why: d.Decision.Why, Subject: d.Decision.Subject, Run: d.Decision.Run}
	if d.Action != "" {
		out.Event += "." + d.Action
	}
	return out
}

// Spend implements web.Ledger.
func (o source) Spend(ctx context.Context, q web.Query) ([]web.Spend, error) {
	list, err := o.s.Spend(ctx, store.Filter{Repositories: withOthers(q), Since: q.Since, Limit: cmp.Or(q.Limit, 1000)})
	return shown(list, func(p store.Spend) web.Spend {
		return web.Spend{Day: p.Day, Repository: p.Repository, Person: p.Person, Model: p.Model,
			Requests: int(p.Took.Turns), Amount: amount(p.Took)}
	}), err
}

// Audit implements web.Ledger.
func (o source) Audit(ctx context.Context, q web.Query) ([]web.Audit, error) {
	list, err := o.s.Audits(ctx, store.Filter{Repositories: withOthers(q), Before: q.Before, Limit: q.Limit})
	return shown(list, shownEntry), err
}

// deeds are the actions of the audit log in words.
var deeds = map[string]string{
	"run.stop": "stopped the run", "run.retry": "resumed the run", "run.hint": "gave a hint",
	"run.approve": "accepted what was found", "delivery.redeliver": "had a delivery decided again",
	"session.begin": "signed in", "session.end": "signed out", "session.end everywhere": "signed out everywhere", "app.create": "created the App",
	"app.rotate secret": "gave the webhook a new secret",
}

// shownEntry is an entry as the page shows it.
func shownEntry(e store.Entry) web.Audit {
	a := web.Audit{Number: e.Number, At: e.At, By: e.Person, Repository: e.Repository,
		Did: cmp.Or(deeds[e.Action], strings.ReplaceAll(e.Action, ".", " "))}
	switch kind, _, _ := strings.Cut(e.Action, "."); kind {
	case "run":
		a.Run = e.Subject
	case "delivery":
		a.Delivery = e.Subject
	default:
		a.Detail = e.Subject
	}
	if e.Result != "done" {
		a.Did, a.Detail = "tried: "+a.Did, e.Result
	}
	return a
}

// mostLimits is how many limits a page has.
const mostLimits = 500

// Limits implements web.Ledger. Those of repositories are what was found out when someone looked at their page: no one
// is asked.
func (o source) Limits(_ context.Context, q web.Query) (limits []web.Limit, err error) {
	for _, account := range slices.Compact(safetext.Map(q.Repositories, accountOf)) { // they are sorted
		for _, l := range allowedLimits(o.allow.Of(account)) {
			l.Of, l.From = account, config.Allowed
			limits = append(limits, l)
		}
	}
	for _, name := range q.Repositories {
		known, _ := o.doctor.last(name)
		for _, l := range known.value.Limits {
			if l.Of = known.value.Name; l.From != config.Allowed && l.From != config.Default && len(limits) < mostLimits {
				limits = append(limits, l)
			}
		}
	}
	return limits, nil
}

// allowedLimits are those of an account's runs.
func allowedLimits(a config.Allowance) []web.Limit {
	return limitsOf([]web.Setting{{Key: "maxCostUsd", Value: fmt.Sprint(a.MaxCostUSD)},
		{Key: "maxCostUsdPerIssue", Value: fmt.Sprint(a.MaxCostUSDPerIssue)},
		{Key: "maxTokens", Value: fmt.Sprint(a.MaxTokens)}, {Key: "maximumIterations", Value: fmt.Sprint(a.MaxIterations)},
		{Key: "timeoutMinutes", Value: fmt.Sprint(a.MaxMinutes)}})
}
