package serve

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/store"
)

// refuseTime is how long a decision waits for what GitHub says of who asks.
const refuseTime = 2 * time.Second

// askers says who may ask in which repository, before anything is made of what they ask: a stranger costs a call a
// minute and one for the reaction, and no row.
type askers struct {
	in    *installed
	rules event.Rules
	may   lookups[github.Access]
	log   *slog.Logger
	clock func() time.Time
	away  time.Time // until then GitHub is not asked: it did not answer
}

// awayTime is how long GitHub is left alone that did not answer, so that no delivery waits for it.
const awayTime = 30 * time.Second

// refusal is why the people of a delivery may not ask; nil when they may, and when GitHub does not say: the job asks
// again, and fails closed.
func (a *askers) refusal(ctx context.Context, d store.Delivery) *event.Refusal {
	ctx, cancel := context.WithTimeout(ctx, refuseTime)
	defer cancel()
	app, _, err := a.in.current(ctx)
	if err != nil || a.clock().Before(a.away) {
		return nil
	}
	ev, err := github.ParseEvent(github.Delivery{Name: d.Event, Payload: d.Payload, At: d.Received})
	if err != nil {
		return nil
	}
	facts := event.Facts{Self: a.in.self(), Labeller: ev.Sender.Login, Permissions: map[string]event.Permission{}}
	if _, own := event.IsOwn(ev, facts.Self); own {
		return nil
	}
	for _, login := range event.Identities(ev, facts.Labeller) {
		may, err := a.may.of(ctx, strings.ToLower(login+" "+ev.Repo.String()), func(ctx context.Context) (github.Access, error) {
			return app.Permission(ctx, d.Installation, ev.Repo, login)
		})
		if err != nil {
			a.away = a.clock().Add(awayTime)
			return nil
		}
		facts.Permissions[strings.ToLower(login)] = event.Permission{Level: may.String()}
	}
	refusal := event.Authorise(ev, facts, a.rules)
	if refusal == nil || ev.Comment == nil {
		return refusal
	}
	if err := app.React(ctx, d.Installation, ev, "-1"); err != nil {
		a.log.Warn("a refusal is not visible on its comment", "delivery", d.ID, "error", err)
	}
	return refusal
}
