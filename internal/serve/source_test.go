package serve

import (
	"context"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// TestAuditInWords: each entry leads to what it is about, and to the entries before it.
func TestAuditInWords(t *testing.T) {
	at := time.Unix(0, 0)
	for _, c := range []struct {
		entry store.Entry
		want  web.Audit
	}{
		{store.Entry{Number: 9, Person: "alice", Action: "run.stop", Repository: "a/b", Subject: "r", Result: "done"},
			web.Audit{Number: 9, By: "alice", Did: "stopped the run", Repository: "a/b", Run: "r"}},
		{store.Entry{Number: 8, Person: "alice", Action: "run.stop", Repository: "a/b", Subject: "r", Result: "it has ended"},
			web.Audit{Number: 8, By: "alice", Did: "tried: stopped the run", Repository: "a/b", Run: "r", Detail: "it has ended"}},
		{store.Entry{Number: 7, Action: "delivery.redeliver", Subject: "d", Result: "done"},
			web.Audit{Number: 7, Did: "had a delivery decided again", Delivery: "d"}},
		{store.Entry{Number: 6, Action: "app.create", Subject: "ralph-of-a", Result: "done"},
			web.Audit{Number: 6, Did: "created the App", Detail: "ralph-of-a"}},
	} {
		c.entry.At, c.want.At = at, at
		if got := shownEntry(c.entry); got != c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
}

// TestLimitsBesideSpend: those of the account, and of repositories that were looked at, but not what is the same.
func TestLimitsBesideSpend(t *testing.T) {
	x := newExaminer(time.Now, func(_ context.Context, name string) web.Repository {
		return web.Repository{Name: name, Limits: []web.Limit{{What: "cost of a run", Value: "$5", From: config.SettingsFile},
			{What: "minutes of a run", Value: "60", From: config.Default}}}
	})
	if _, err := x.of(t.Context(), "acme/demo"); err != nil {
		t.Fatal(err)
	}
	o := source{doctor: x, allow: config.Allowances{"acme": {MaxCostUSD: 20, MaxIterations: 4}}}
	got, err := o.Limits(t.Context(), web.Query{Repositories: []string{"acme/demo", "acme/docs", "other/x"}})
	if err != nil || len(got) != 3 || got[0] != (web.Limit{Of: "acme", What: "cost of a run", Value: "$20",
		From: config.Allowed}) || got[2].Of != "acme/demo" || got[2].Value != "$5" {
		t.Errorf("%+v %v", got, err)
	}
}
