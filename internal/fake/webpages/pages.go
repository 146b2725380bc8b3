// Package webpages has something to show on every page of the server, for tests: people with and without access, runs
// in every state, and texts that try to become part of a page.
package webpages

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// World is a server's database, GitHub and actions in one. Its methods are safe for concurrent use.
type World struct {
	mu       sync.Mutex
	runs     []store.Run
	records  map[string][]store.Record
	changed  map[string]chan struct{}
	sessions map[string]web.Identity
	may      map[string]map[string]web.Permission // login → repository in lower case
	ops      map[string]bool
	done     []web.Action

	Books
	App        web.SetupStanding
	Code       string // of the setup; used up: ""
	SignsIn    string // who GitHub says it is
	Fails      error  // what every read ends with; nil: nothing
	Unanswered bool   // GitHub does not say what people may do
}

// Books are what is on record besides the runs.
type Books struct {
	Hooks   []store.Delivery
	Entries []store.Entry
	Repos   map[string]web.Repository // by name in lower case
	Said    map[string][]store.Word   // by run
}

// New is a world without anything.
func New() *World {
	return &World{records: map[string][]store.Record{}, changed: map[string]chan struct{}{},
		sessions: map[string]web.Identity{},
		may:      map[string]map[string]web.Permission{}, ops: map[string]bool{},
		Books: Books{Repos: map[string]web.Repository{}, Said: map[string][]store.Word{}}}
}

// Options are those of pages that show the world.
func (w *World) Options(public *url.URL) web.Options {
	return web.Options{Runs: w, Lists: w, Repositories: w, Access: w, Sessions: w, SignIn: w, Actions: w, Setup: w, Public: public,
		GitHub: "https://github.com", Version: "1.2.3", Clock: time.Now, Log: slog.New(slog.DiscardHandler)}
}

func (w *World) lock() (unlock func()) {
	w.mu.Lock()
	return w.mu.Unlock
}

// Let says what someone may do in a repository from now on.
func (w *World) Let(login, repository string, may web.Permission) {
	defer w.lock()()
	if w.may[login] == nil {
		w.may[login] = map[string]web.Permission{}
	}
	w.may[login][strings.ToLower(repository)] = may
}

// Operate makes someone an operator.
func (w *World) Operate(login string) {
	defer w.lock()()
	w.ops[login] = true
}

// Enter signs someone in and returns the session's token.
func (w *World) Enter(login string) string {
	defer w.lock()()
	token := "session-of-" + login
	w.sessions[token] = web.Identity{Login: login, Token: "gho-" + login}
	return token
}

// Put adds a run, or replaces it.
func (w *World) Put(run web.Run) {
	detail, err := json.Marshal(run.Shown)
	if err != nil {
		panic(err)
	}
	run.Detail = detail
	defer w.lock()()
	w.runs = slices.DeleteFunc(w.runs, func(r store.Run) bool { return r.ID == run.ID })
	w.runs = append(w.runs, run.Run)
}

// Facts adds what a journal reports of a run.
func (w *World) Facts(run string, records ...loop.Record) {
	for _, r := range records {
		w.add(run, web.FactRecord, r.At, r)
	}
}

// Print adds what an agent prints.
func (w *World) Print(run, text string) { w.append(run, web.OutputRecord, time.Time{}, []byte(text)) }

// Shown adds a prompt, or what an iteration changed.
func (w *World) Shown(run string, b web.ShownBody) { w.add(run, web.ShownRecord, time.Time{}, b) }

func (w *World) add(run, kind string, at time.Time, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	w.append(run, kind, at, body)
}

func (w *World) append(run, kind string, at time.Time, body []byte) {
	defer w.lock()()
	w.records[run] = append(w.records[run],
		store.Record{Number: int64(len(w.records[run]) + 1), At: at, Kind: kind, Body: body})
	if c := w.changed[run]; c != nil {
		close(c)
		delete(w.changed, run)
	}
}

// Done are the actions so far.
func (w *World) Done() []web.Action {
	defer w.lock()()
	return slices.Clone(w.done)
}

// Run implements web.Runs.
func (w *World) Run(_ context.Context, id string) (store.Run, error) {
	defer w.lock()()
	for _, r := range w.runs {
		if r.ID == id {
			return r, w.Fails
		}
	}
	return store.Run{}, store.ErrNotFound
}

// Runs implements web.Lists. It answers with those of everyone, so that a page that does not look itself is found out.
func (w *World) Runs(_ context.Context, f store.Filter) ([]store.Run, error) {
	defer w.lock()()
	return slices.DeleteFunc(slices.Clone(w.runs), func(r store.Run) bool {
		return f.States != nil && !slices.Contains(f.States, r.State)
	}), w.Fails
}

// Records implements web.Runs.
func (w *World) Records(_ context.Context, run string, after int64, limit int) ([]store.Record, error) {
	defer w.lock()()
	all := w.records[run]
	from := min(int(after), len(all))
	return slices.Clone(all[from:min(from+limit, len(all))]), w.Fails
}

// Watch implements web.Runs.
func (w *World) Watch(run string) (changed <-chan struct{}, stop func()) {
	defer w.lock()()
	if w.changed[run] == nil {
		w.changed[run] = make(chan struct{})
	}
	return w.changed[run], func() {}
}

// Repository implements web.Repositories.
func (w *World) Repository(_ context.Context, name string) (web.Repository, error) {
	defer w.lock()()
	r, ok := w.Repos[strings.ToLower(name)]
	if !ok {
		return r, store.ErrNotFound
	}
	return r, w.Fails
}

// Delivery implements web.Lists.
func (w *World) Delivery(_ context.Context, id string) (store.Delivery, error) {
	for _, d := range w.Hooks {
		if d.ID == id {
			return d, w.Fails
		}
	}
	return store.Delivery{}, store.ErrNotFound
}

// Deliveries implements web.Lists.
func (w *World) Deliveries(context.Context, store.Filter) ([]store.Delivery, error) {
	return w.Hooks, w.Fails
}

// Words implements web.Runs.
func (w *World) Words(_ context.Context, run string, _ int64) ([]store.Word, error) {
	defer w.lock()()
	return slices.Clone(w.Said[run]), w.Fails
}

// Hint adds one that someone has given on the page.
func (w *World) Hint(run string, h store.Word) {
	h.Kind = web.Hint
	defer w.lock()()
	w.Said[run] = append(w.Said[run], h)
}

// Self implements web.Repositories.
func (w *World) Self() string { return "ralph[bot]" }

// Audits implements web.Lists.
func (w *World) Audits(context.Context, store.Filter) ([]store.Entry, error) {
	return w.Entries, w.Fails
}
