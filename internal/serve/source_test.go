package serve

import (
	"context"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/web"
)

// TestLimitsBesideSpend: those of the account, and of repositories that were looked at, but not what is the same.
func TestLimitsBesideSpend(t *testing.T) {
	x := newExaminer(time.Now, func(_ context.Context, name string) web.Repository {
		return web.Repository{Name: name, Limits: []web.Limit{{What: "cost of a run", Value: "$5", From: config.SettingsFile},
			{What: "minutes of a run", Value: "60", From: config.Default}}}
	})
	if _, err := x.of(t.Context(), "acme/demo"); err != nil {
		t.Fatal(err)
	}
	o := source{parts: &parts{}, doctor: x}
	o.o.Allow = config.Allowances{"acme": {MaxCostUSD: 20, MaxIterations: 4}}
	got := o.Limits([]string{"acme/demo", "acme/docs", "other/x"})
	if len(got) != 3 || got[0] != (web.Limit{Of: "acme", What: "cost of a run", Value: "$20",
		From: config.Allowed}) || got[2].Of != "acme/demo" || got[2].Value != "$5" {
		t.Errorf("%+v", got)
	}
}
