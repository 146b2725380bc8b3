package serve

import (
	"context"
	"fmt"
)

// Names of the database's counters.
const (
	countDeliveries = "ralph_deliveries_total"
	countRuns       = "ralph_runs_total"
	countTokens     = "ralph_tokens_total"
	countCost       = "ralph_cost_microdollars_total"
)

// figures reads what the metrics tell.
func (sv *Server) figures(ctx context.Context) (figures, error) {
	f := figures{Deliveries: map[string]int64{}, Runs: map[string]int64{}, Tokens: map[string]int64{}}
	counters, err := sv.s.Counters(ctx)
	if err != nil {
		return f, err
	}
	for _, c := range counters {
		switch c.Name {
		case countDeliveries:
			f.Deliveries[c.Label] = c.Value
		case countRuns:
			f.Runs[c.Label] = c.Value
		case countTokens:
			f.Tokens[c.Label] = c.Value
		case countCost:
			f.Cost = float64(c.Value) / 1e6
		}
	}
	depth, err := sv.q.Depth(ctx)
	f.Queued, f.Delayed, f.Running, f.Oldest = depth.Waiting, depth.Delayed, depth.Running, depth.Oldest
	if others, e := sv.q.Old(ctx); e == nil {
		f.OtherVersions = map[string]int64{"older": int64(others.Older), "newer": int64(others.Newer)}
	}
	if app, _, none := sv.in.current(ctx); none == nil {
		f.Budgets = app.Budgets()
	}
	return f, err
}

// probes are what this process needs.
func (sv *Server) probes() []probe {
	return []probe{
		{"database", sv.s.Check},
		diskProbe(sv.o.Data, freeBytes),
		clockProbe(sv.drift),
		{"app", func(ctx context.Context) error {
			_, _, err := sv.in.current(ctx)
			return err
		}},
		{"queue", sv.otherVersions},
	}
}

// otherVersions notes jobs that another version of this program has enqueued.
func (sv *Server) otherVersions(ctx context.Context) error {
	others, err := sv.q.Old(ctx)
	switch {
	case err != nil:
		return err
	case others.Newer > 0:
		return noteError(fmt.Sprintf("%s for a newer ralph serve than this one: start it again, or end this one",
			count(others.Newer)))
	case others.Older > 0:
		return noteError(fmt.Sprintf("%s that an older ralph serve has enqueued; they run here", count(others.Older)))
	}
	return nil
}

func count(jobs int) string {
	if jobs == 1 {
		return "1 job waits"
	}
	return fmt.Sprintf("%d jobs wait", jobs)
}
