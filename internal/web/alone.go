package web

import (
	"context"
	"net/http"
	"net/url"
	"sync/atomic"
)

// aloneRoutes are those of one run on a person's own machine.
var aloneRoutes = []route{
	{"GET /enter", anybody, ofNone, isData, (*asked).enter},
	{"GET /{$}", signedIn, ofNone, isData, (*asked).onlyRun},
	{"GET /runs/{run}", reader, ofRun, isData, (*asked).runPage},
	{"GET /runs/{run}/live", reader, ofRun, isData, (*asked).live},
	{"GET /runs/{run}/output.txt", reader, ofRun, isData, (*asked).output},
	{"GET /runs/{run}/prompts/{iteration}", reader, ofRun, isData, (*asked).prompt},
	{"GET /static/{file}", anybody, ofNone, isData, (*asked).static},
}

// Alone shows one run on its page, to whoever opens the address that Enter returns, and nobody else.
type Alone struct {
	*Server
	door *aloneDoor
}

// NewAlone makes the page of a run that records and run tell of; public is "http://127.0.0.1:41234". run is asked with
// each page. The ID of its Run stands in addresses alone.
func NewAlone(public *url.URL, run func() Run, records Records) (*Alone, error) {
	door := &aloneDoor{entry: random(), token: random(), run: run}
	s, err := newServer(Options{Public: public, Source: Source{Runs: door, Records: records}, Access: door,
		Sessions: door})
	if err != nil {
		return nil, err
	}
	s.alone = true
	s.cookie = "ralph-run-" + public.Port() // cookies do not tell ports apart
	s.handler = s.guarded(aloneRoutes)
	return &Alone{s, door}, nil
}

// Enter is the address that opens the page, once.
func (a *Alone) Enter() string { return a.Public.String() + "/enter?token=" + a.door.entry }

// Finish sends what is left to the pages that are open, tells them that nothing more will come, and ends them.
func (a *Alone) Finish() { a.finish() }

// aloneDoor knows one person and one run.
type aloneDoor struct {
	entry, token string
	run          func() Run
	entered      atomic.Bool
}

// nobodyElse is whoever has shown the token.
var nobodyElse = Identity{Person: Person{Login: "you"}}

func (a *asked) enter() error {
	door, ok := a.Sessions.(*aloneDoor)
	if !ok {
		return errHidden
	}
	if a.who.Login != "" { // who was in before comes in again
		return a.goTo("/")
	}
	if !same(door.entry, a.r.URL.Query().Get("token")) || !door.entered.CompareAndSwap(false, true) {
		return errHidden
	}
	a.keep(a.cookie, door.token, SessionLife)
	return a.goTo("/")
}

func (a *asked) onlyRun() error {
	door, ok := a.Sessions.(*aloneDoor)
	if !ok {
		return errHidden
	}
	http.Redirect(a.w, a.r, a.runPath(door.run().ID), http.StatusSeeOther)
	return nil
}

// The one person is signed in for as long as the page is there.

func (d *aloneDoor) Start(context.Context, string, Identity) error { return ErrNotFound }
func (d *aloneDoor) End(context.Context, string) error             { return nil }
func (d *aloneDoor) EndAll(context.Context, string) error          { return nil }

func (d *aloneDoor) Find(_ context.Context, token string) (Identity, error) {
	if !same(d.token, token) {
		return Identity{}, ErrNotFound
	}
	return nobodyElse, nil
}

func (d *aloneDoor) Permission(_ context.Context, _ Identity, repository string) (Permission, error) {
	return MayRead, nil
}
func (d *aloneDoor) Readable(context.Context, Identity) ([]string, error) { return nil, nil }
func (d *aloneDoor) Operator(context.Context, Identity) (bool, error)     { return false, nil }

func (d *aloneDoor) Run(_ context.Context, id string) (Run, error) {
	if run := d.run(); run.ID == id {
		return run, nil
	}
	return Run{}, ErrNotFound
}
func (d *aloneDoor) Active(context.Context, Query) ([]Run, error) { return nil, nil }
func (d *aloneDoor) Runs(context.Context, Query) ([]Run, error)   { return nil, nil }
