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

const (
	refuseTime = 2 * time.Second  // a decision waits no longer for GitHub
	awayTime   = 30 * time.Second // and after that, decisions do not wait for it for a while
)

// askers checks the permission of requesters before a request becomes a job. A stranger costs one call a minute, one for
// the reaction, and no row.
type askers struct {
	in    *installed
	rules event.Rules
	may   lookups[github.Access]
	log   *slog.Logger
	clock func() time.Time
	away  time.Time // until then GitHub is not asked: it did not answer
}

// refusal returns why a delivery's requester is not authorized. It is nil for an authorized one, and when GitHub does not
// answer: the job checks again, and fails closed.
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
