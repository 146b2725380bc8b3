package serve

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/bot"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/store"
)

const (
	refuseTime = 2 * time.Second  // a decision waits no longer for GitHub
	awayTime   = 30 * time.Second // and after that, decisions do not wait for it for a while
	heldFor    = time.Minute      // as long a permission counts as read
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

// permitted are the permissions that a decision rests on, in the row of its run.
type permitted struct {
	At     time.Time         `json:"at,omitzero"`
	Levels map[string]string `json:"levels,omitempty"` // by login in lower case: "write"
}

// decide decides an event as far as its run does not matter: nothing, refuse, or what a job begins with. An error is
// GitHub's, which does not answer.
func (a *askers) decide(ctx context.Context, installation int64, ev event.Event) (bot.Decision, permitted, error) {
	read := permitted{a.clock(), map[string]string{}}
	app, _, err := a.in.current(ctx)
	if err != nil {
		return bot.Decision{}, read, err
	}
	reads := bot.Reads{Event: ev, Rules: a.rules, Gathered: true}
	reads.Facts = event.Facts{Self: a.in.self(), Labeller: ev.Sender.Login, Permissions: map[string]event.Permission{}}
	for _, login := range event.Identities(ev, reads.Facts.Labeller) {
		name := strings.ToLower(login)
		if strings.EqualFold(login, reads.Facts.Self) || strings.HasSuffix(name, "[bot]") { // they have no permission
			continue
		}
		may, err := a.may.of(ctx, name+" "+ev.Repo.String(), func(ctx context.Context) (github.Access, error) {
			return app.Permission(ctx, installation, ev.Repo, login)
		})
		if err != nil {
			return bot.Decision{}, read, err
		}
		read.Levels[name], reads.Facts.Permissions[name] = may.String(), event.Permission{Level: may.String()}
	}
	d := bot.Decide(reads)
	if d.Step == bot.Refuse && ev.Comment != nil {
		if err := app.React(ctx, installation, ev, "-1"); err != nil {
			a.log.Warn("a refusal is not visible on its comment", "comment", ev.Comment.ID, "error", err)
		}
	}
	return d, read, nil
}

// soon is decide for a delivery, which does not wait long for GitHub: a job asks again, and begins nothing before.
func (a *askers) soon(ctx context.Context, installation int64, ev event.Event) (bot.Decision, permitted, error) {
	if a.clock().Before(a.away) {
		return bot.Decision{}, permitted{}, context.DeadlineExceeded
	}
	ctx, cancel := context.WithTimeout(ctx, refuseTime)
	defer cancel()
	d, read, err := a.decide(ctx, installation, ev)
	if err != nil {
		a.away = a.clock().Add(awayTime)
	}
	return d, read, err
}

// again decides again for a run that has waited, since permissions can have changed; the error is a *settledError when
// nobody may ask any more.
func (a *askers) again(ctx context.Context, row store.Run, ev event.Event) (map[string]string, error) {
	read := detailOf(row).Permitted
	if age := a.clock().Sub(read.At); age >= 0 && age < heldFor {
		return read.Levels, nil
	}
	d, read, err := a.decide(ctx, row.Installation, ev)
	switch {
	case err != nil:
		return nil, err
	case d.Step == bot.Refuse:
		return nil, &settledError{string(loop.Refused), d.Why}
	case d.Step == bot.DoNothing:
		return nil, &settledError{declined, d.Why}
	}
	return read.Levels, nil
}
