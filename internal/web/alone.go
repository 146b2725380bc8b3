package web

import (
	"log/slog"
	"net/url"
	"sync/atomic"
	"time"
)

// aloneRoutes are those of one run on a person's own machine.
var aloneRoutes = []route{
	{"GET /enter", anybody, (*asked).enter},
	{"GET /{$}", signedIn, (*asked).onlyRun},
	{"GET /runs/{run}", reader, (*asked).runPage},
	{"GET /runs/{run}/live", reader, (*asked).live},
	{"GET /runs/{run}/output.txt", reader, (*asked).output},
	{"GET /runs/{run}/prompts/{iteration}", reader, (*asked).prompt},
	{"GET /static/{file}", anybody, (*asked).static},
}

// Alone shows one run on its page, to whoever opens the address that Enter returns, and no one else.
type Alone struct{ *Server }

// AloneRun is the id of the only run, in addresses.
const AloneRun = "run"

// NewAlone makes the page of the run AloneRun of some; public is "http://127.0.0.1:41234".
func NewAlone(public *url.URL, runs Runs) (*Alone, error) {
	s, err := newServer(Options{Public: public, Runs: runs, Clock: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	s.alone = &alone{entry: random(), token: random()}
	s.cookie = "ralph-run-" + public.Port() // cookies do not tell ports apart
	s.handler = s.guarded(aloneRoutes)
	return &Alone{s}, nil
}

// Enter is the address that opens the page, once.
func (a *Alone) Enter() string { return a.Public.String() + "/enter?token=" + a.alone.entry }

// Finish sends what is left to the pages that are open, tells them that nothing more will come, and ends them.
func (a *Alone) Finish() { a.finish() }

// alone lets in one browser, by its cookie.
type alone struct {
	entry, token string
	entered      atomic.Bool
}

// nobodyElse is whoever has shown the token.
var nobodyElse = Identity{Login: "you"}

func (a *asked) enter() error {
	if a.who.Login == "" { // who was in before comes in again
		if !same(a.alone.entry, a.r.URL.Query().Get("token")) || !a.alone.entered.CompareAndSwap(false, true) {
			return errHidden
		}
		a.keep(a.cookie, a.alone.token, SessionLife)
	}
	return a.goTo("/")
}

func (a *asked) onlyRun() error { return a.goTo(a.runPath(AloneRun)) }
