package serve

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// Spend implements web.Ledger.
func (o source) Spend(ctx context.Context, q web.Query) ([]web.Spend, error) {
	f := store.SpendFilter{Repositories: q.Repositories, By: []string{"day", "repository", "person", "model"},
		Limit: cmp.Or(q.Limit, 1000)}
	if f.Repositories == nil {
		f.Repositories = []string{} // no one's, not everyone's
	}
	if !q.Since.IsZero() {
		f.From = q.Since.UTC().Format(time.DateOnly)
	}
	list, err := o.s.Spend(ctx, f)
	return shown(list, func(p store.Spend) web.Spend {
		return web.Spend{Day: p.Day, Repository: p.Repository, Person: p.Person, Model: p.Model,
			Requests: int(p.Took.Turns), Amount: amount(p.Took)}
	}), err
}

// Audit implements web.Ledger.
func (o source) Audit(ctx context.Context, q web.Query) ([]web.Audit, error) {
	list, err := o.s.Audits(ctx, store.AuditFilter{Repositories: withOthers(q), Before: q.Before, Limit: q.Limit})
	return shown(list, shownEntry), err
}

// deeds are the actions of the audit log in words.
var deeds = map[string]string{
	"run.stop": "stopped the run", "run.retry": "had the run go on", "run.hint": "gave a hint",
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

// mostLimited is how many repositories the limits of a page are of.
const mostLimited = 100

// Limits implements web.Ledger. Those of repositories are what was found out when someone looked at their page: no one
// is asked.
func (o source) Limits(_ context.Context, q web.Query) (limits []web.Limit, err error) {
	accounts := map[string]bool{}
	for _, name := range q.Repositories {
		accounts[accountOf(name)] = true
	}
	for _, account := range slices.Sorted(maps.Keys(accounts)) {
		for _, l := range allowedLimits(o.allow.Of(account)) {
			l.Of, l.From = account, config.Allowed
			limits = append(limits, l)
		}
	}
	of := 0
	for _, name := range q.Repositories {
		known, ok := o.doctor.last(name)
		if !ok || of == mostLimited {
			continue
		}
		of++
		for _, l := range known.value.Limits {
			if l.Of = known.value.Name; l.From != config.Allowed && l.From != config.Default {
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
