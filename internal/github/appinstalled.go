package github

import (
	"context"
	"maps"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/google/go-github/v60/github"
)

// installed is the App in one installation, reading: what pages and doctor need to know of its repositories.
type installed struct {
	api    *github.Client // reads
	talk   *github.Client // reacts
	source *Source        // of api

	mu     sync.Mutex
	budget Budget
}

// mostInstalled bounds the installations whose tokens and budgets are kept at a time.
const mostInstalled = 10_000

// as is the App in an installation. Its token is made when it is first used.
func (a *App) as(installation int64) (*installed, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if in := a.installed[installation]; in != nil {
		return in, nil
	}
	in := &installed{}
	carried := func(want Permissions) (*github.Client, *Source, error) {
		source := a.source(func(ctx context.Context) (Token, error) { return a.make(ctx, installation, nil, want) })
		api, err := dialAt(rootOf(a.o.APIURL), &http.Client{Transport: &tokenTransport{&counted{a.base, in}, source.Token},
			Timeout: mostTime})
		return api, source, err
	}
	var err error
	if in.api, in.source, err = carried(Reading()); err != nil {
		return nil, err
	}
	if in.talk, _, err = carried(Permissions{"issues": "write", "pull_requests": "write"}); err != nil {
		return nil, err
	}
	if len(a.installed) >= mostInstalled {
		a.installed = map[int64]*installed{}
	}
	a.installed[installation] = in
	return in, nil
}

// Budget is how many calls an installation may still make in this hour. All its tokens share it.
type Budget struct {
	Limit, Left int
	Resets      time.Time // when it is Limit again
	At          time.Time // when GitHub said so
}

// counted carries requests and notes what answers say of the budget.
type counted struct {
	next http.RoundTripper
	in   *installed
}

// RoundTrip implements http.RoundTripper.
func (c *counted) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := c.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resource := resp.Header.Get("X-Ratelimit-Resource"); resource == "core" || resource == "" {
		c.in.note(resp.Header)
	}
	return resp, nil
}

func (in *installed) note(h http.Header) {
	limit, err := strconv.Atoi(h.Get("X-Ratelimit-Limit"))
	left, leftErr := strconv.Atoi(h.Get("X-Ratelimit-Remaining"))
	reset, resetErr := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64)
	if err != nil || leftErr != nil || resetErr != nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.budget = Budget{Limit: limit, Left: left, Resets: time.Unix(reset, 0), At: time.Now()}
}

// Budgets are the newest known budgets by installation, without a call: of those that this process has asked something.
func (a *App) Budgets() map[int64]Budget {
	a.mu.Lock()
	known := maps.Clone(a.installed)
	a.mu.Unlock()
	budgets := map[int64]Budget{}
	for id, in := range known {
		in.mu.Lock()
		if !in.budget.At.IsZero() {
			budgets[id] = in.budget
		}
		in.mu.Unlock()
	}
	return budgets
}

// Budget asks for an installation's budget, which counts as no call: others use it too, such as jobs with tokens of
// their own.
func (a *App) Budget(ctx context.Context, installation int64) (Budget, error) {
	in, err := a.as(installation)
	if err != nil {
		return Budget{}, err
	}
	limits, _, err := in.api.RateLimit.Get(ctx)
	if err != nil {
		return Budget{}, explain("asking for the budget of calls", err)
	}
	core := limits.GetCore()
	if core == nil {
		return Budget{}, missingFieldError("asking for the budget of calls", "it")
	}
	b := Budget{Limit: core.Limit, Left: core.Remaining, Resets: core.Reset.Time, At: time.Now()}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.budget = b
	return b, nil
}
