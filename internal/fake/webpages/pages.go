// Package webpages has something to show on every page of the server, for tests: people with and without access, runs
// in every state, and texts that try to become part of a page.
package webpages

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// World is a server's database, and stands in for GitHub and for actions. Its methods are safe for concurrent use.
type World struct {
	*store.Store
	mu       sync.Mutex
	sessions map[string]web.Identity
	may      map[string]map[string]web.Permission // login → repository in lower case
	ops      map[string]bool
	done     []web.Action

	Repos      map[string]web.Repository // by name in lower case
	App        web.SetupStanding
	Code       string // of the setup; used up: ""
	SignsIn    string // who GitHub says it is
	Unanswered bool   // GitHub does not say what people may do
}

// New is a world without anything, until the end of a test.
func New(t testing.TB) *World {
	db, err := store.Open(context.Background(), store.Options{Dir: t.TempDir(), Clock: func() time.Time { return Now }})
	must(err)
	t.Cleanup(func() { _ = db.Close() }) // in the test's directory
	return &World{Store: db, sessions: map[string]web.Identity{}, may: map[string]map[string]web.Permission{},
		ops: map[string]bool{}, Repos: map[string]web.Repository{}}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func text(v any) []byte {
	raw, err := json.Marshal(v)
	must(err)
	return raw
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
	run.Detail = text(run.Shown)
	must(w.PutRun(context.Background(), run.Run))
}

// Facts adds what a journal reports of a run.
func (w *World) Facts(run string, records ...loop.Record) {
	var all []store.Record
	for _, r := range records {
		all = append(all, store.Record{At: r.At, Kind: web.FactRecord, Body: text(r)})
	}
	w.add(run, all...)
}

// Print adds what an agent prints.
func (w *World) Print(run, text string) {
	w.add(run, store.Record{Kind: web.OutputRecord, Body: []byte(text)})
}

// Shown adds a prompt, or what an iteration changed.
func (w *World) Shown(run string, b web.ShownBody) {
	w.add(run, store.Record{Kind: web.ShownRecord, Body: text(b)})
}

func (w *World) add(id string, records ...store.Record) {
	defer w.lock()()
	run, err := w.Run(context.Background(), id)
	must(err)
	last, err := w.LastRecord(context.Background(), id)
	must(err)
	for i := range records {
		records[i].Number = last + int64(i) + 1
	}
	must(w.PutProgress(context.Background(), store.Progress{Run: run, Records: records}))
}

// Hint adds one that someone has given on the page.
func (w *World) Hint(run, person, text string) {
	must(w.Say(context.Background(), store.Word{Run: run, Kind: web.Hint, Person: person, Text: text}))
}

// Done are the actions so far.
func (w *World) Done() []web.Action {
	defer w.lock()()
	return w.done[:len(w.done):len(w.done)]
}

// Repository implements web.Repositories.
func (w *World) Repository(_ context.Context, name string) (web.Repository, error) {
	defer w.lock()()
	r, ok := w.Repos[strings.ToLower(name)]
	if !ok {
		return r, store.ErrNotFound
	}
	return r, nil
}

// Self implements web.Repositories.
func (w *World) Self() string { return "ralph[bot]" }
