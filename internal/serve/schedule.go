package serve

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

const (
	redeliverFor = 3 * 24 * time.Hour // as long as GitHub keeps deliveries
	forgetAfter  = 30 * 24 * time.Hour
	sweptHourly  = 24 * time.Hour
)

// redeliver has GitHub send again what did not arrive. What arrived twice is one delivery.
func (sv *Server) redeliver(ctx context.Context) error {
	app, err := sv.in.current(ctx)
	if errors.Is(err, errNoApp) {
		return nil
	}
	if err != nil {
		return err
	}
	missing, err := app.FailedDeliveries(ctx, sv.o.Clock().Add(-redeliverFor))
	for _, d := range missing {
		if !heard[d.Event] {
			continue
		}
		if _, known := sv.s.Delivery(ctx, d.GUID); known == nil { // it was stored, and the answer was lost
			continue
		}
		sv.o.Log.Info("a delivery did not arrive and is requested again", "delivery", d.GUID, "event", d.Event,
			"status", d.Status)
		err = errors.Join(err, app.Redeliver(ctx, d.ID))
	}
	if err != nil && ctx.Err() == nil {
		sv.o.Log.Warn("ralph requested deliveries that did not arrive", "error", err)
	}
	return err
}

// sweep has each repository looked through that had a run lately: for runs whose process died where no one saw it, and
// for labels that no one heard of. What a workflow has done for a day is searched every hour, since this server does not
// know until when its run waits.
func (sv *Server) sweep(ctx context.Context) error {
	runs, err := sv.s.Runs(ctx, store.Filter{Since: sv.o.Clock().Add(-forgetAfter), Limit: 1000})
	if err != nil {
		return err
	}
	now, swept := sv.o.Clock().UTC(), map[string]bool{}
	for _, run := range runs {
		waits := run.State == web.Dispatched && now.Sub(run.Times.Created) < sweptHourly
		if swept[run.Repository] || now.Hour()%6 != 0 && !waits {
			continue
		}
		swept[run.Repository] = true
		err = errors.Join(err, sv.s.Add(ctx, store.Run{ID: fmt.Sprintf("sweep-%s-%d", run.ID, now.Unix()/60), Kind: sweepJob,
			Repository: run.Repository, Installation: run.Installation, Key: run.Repository + "#sweep", State: web.Queued}))
	}
	sv.pool.wake()
	return err
}

// timetable has done now and then what nothing else asks for.
func (sv *Server) timetable(ctx context.Context) (*cron.Cron, error) {
	table := cron.New(cron.WithLocation(time.UTC))
	for at, do := range map[string]func(context.Context) error{
		"*/10 * * * *": sv.redeliver, "17 * * * *": sv.sweep, "41 3 * * *": sv.forget,
	} {
		if _, err := table.AddFunc(at, func() {
			if err := do(ctx); err != nil && ctx.Err() == nil {
				sv.o.Log.Warn("what is done now and then was not done", "error", err)
			}
		}); err != nil {
			return nil, err
		}
	}
	table.Start()
	return table, nil
}

// forget removes what is old.
func (sv *Server) forget(ctx context.Context) error {
	before := func(kind string) time.Time { return sv.o.Clock().AddDate(0, 0, -sv.o.Keep[kind]) }
	return sv.s.Forget(ctx, store.Retention{Deliveries: before("deliveries"), Records: before("records"),
		Runs: before("runs"), Audit: before("audit")})
}
