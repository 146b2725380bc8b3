package local

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/html"
	"github.com/ralph-loop/ralph/internal/session"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// Page shows the run of this process in a browser on this machine, for as long as the process lives.
type Page struct {
	// Address opens the page, once. It gives access to everything of the run.
	Address string

	pages  *web.Alone
	server *http.Server
	book   pageBook
}

// OpenPage listens on a port of the loopback interface that no one else has.
func OpenPage() (*Page, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for the run's page: %w", err)
	}
	p := &Page{book: pageBook{changed: make(chan struct{}),
		shown: store.Run{ID: web.AloneRun, Title: "The run is being prepared", State: web.Running}}}
	p.pages, err = web.NewAlone(&url.URL{Scheme: "http", Host: listener.Addr().String()}, &p.book)
	if err != nil {
		_ = listener.Close()
		return nil, err
	}
	p.Address = p.pages.Enter()
	p.server = &http.Server{Handler: p.pages, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	go func() { _ = p.server.Serve(listener) }() // until Close
	return p, nil
}

// Watch is what tells the page of the run.
func (p *Page) Watch() session.Watch {
	return session.Watch{Opened: p.book.opened, Stored: p.book.stored,
		Shown: engine.Shown{
			Prompt: func(iteration int, text string) { p.book.show(web.ShownBody{Iteration: iteration, Prompt: text}) },
			Diff:   func(iteration int, d html.Diff) { p.book.show(web.ShownBody{Iteration: iteration, Diff: &d}) },
		}}
}

// Write takes what is printed. It never fails.
func (p *Page) Write(text []byte) (int, error) {
	p.book.print(text)
	return len(text), nil
}

// Close tells the pages that are open that the run is over, and stops listening. They stay readable in their browser.
func (p *Page) Close() {
	p.pages.Finish()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if p.server.Shutdown(ctx) != nil {
		_ = p.server.Close()
	}
}

// How much of what is shown beside the run's records is kept: the newest.
const (
	pageOutput = 16 << 20 // bytes
	pagePiece  = 16 << 10
)

// pageBook is what the page shows: a run's records in memory.
type pageBook struct {
	mu      sync.Mutex
	shown   store.Run
	records []store.Record
	number  int64
	beside  int    // bytes of output, prompts and diffs among them
	pending []byte // printed, and in no record yet
	changed chan struct{}
}

// Run implements web.Runs: there is one, by the same address whatever it turns out to be.
func (b *pageBook) Run(_ context.Context, id string) (store.Run, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if id != web.AloneRun {
		return store.Run{}, store.ErrNotFound
	}
	return b.shown, nil
}

// opened takes over what a run that continues has recorded before.
func (b *pageBook) opened(records []loop.Record) {
	for _, r := range records {
		b.stored(r)
	}
}

func (b *pageBook) stored(r loop.Record) {
	body, err := json.Marshal(r)
	if err != nil { // the journal holds it as JSON
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flush()
	b.add(store.Record{At: r.At, Kind: web.FactRecord, Body: body})
	switch {
	case r.Start != nil:
		b.shown = store.Run{ID: web.AloneRun, Repository: r.Start.Task, Title: r.Start.Title, State: web.Running,
			Times: store.Times{Created: r.At, Started: r.At}}
	case r.Resume != nil:
		b.shown.State, b.shown.Times.Ended = web.Running, time.Time{}
	case r.End != nil:
		b.shown.State, b.shown.Reason, b.shown.Times.Ended = string(r.End.Outcome), r.End.Reason, r.At
	}
	b.tell()
}

// show keeps something that is shown besides the records.
func (b *pageBook) show(what web.ShownBody) {
	body, err := json.Marshal(what)
	if err != nil { // strings and numbers
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flush()
	b.add(store.Record{Kind: web.ShownRecord, Body: body})
	b.tell()
}

func (b *pageBook) print(text []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending = append(b.pending, text...)
	if len(b.pending) >= pagePiece {
		b.flush()
	}
	b.tell()
}

// flush makes a record of what was printed since the last one; b is locked.
func (b *pageBook) flush() {
	if len(b.pending) == 0 {
		return
	}
	b.add(store.Record{Kind: web.OutputRecord, Body: b.pending})
	b.pending = nil
}

// add numbers a record, and removes the oldest ones beside the run's; b is locked.
func (b *pageBook) add(r store.Record) {
	b.number++
	r.Number = b.number
	b.records = append(b.records, r)
	if r.Kind == web.FactRecord {
		return
	}
	for b.beside += len(r.Body); b.beside > pageOutput; {
		i := slices.IndexFunc(b.records, func(r store.Record) bool { return r.Kind != web.FactRecord })
		b.beside -= len(b.records[i].Body)
		b.records = slices.Delete(b.records, i, i+1)
	}
}

// tell wakes the pages that wait for more; b is locked.
func (b *pageBook) tell() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// Records implements web.Runs.
func (b *pageBook) Records(_ context.Context, _ string, after int64, limit int) ([]store.Record, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flush()
	i, _ := slices.BinarySearchFunc(b.records, after+1, func(r store.Record, n int64) int { return int(r.Number - n) })
	return slices.Clone(b.records[i:min(i+limit, len(b.records))]), nil
}

// Watch implements web.Runs.
func (b *pageBook) Watch(string) (changed <-chan struct{}, stop func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed, func() {}
}

// Words implements web.Runs: what is said to a run here is in its records alone.
func (b *pageBook) Words(context.Context, string, int64) ([]store.Word, error) { return nil, nil }
