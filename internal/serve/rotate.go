package serve

import (
	"context"
	"errors"
	"time"

	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

const (
	oldHolds    = time.Hour // as long a secret counts beside the one that has replaced it
	mostSecrets = 3
)

// holding are the secrets that a delivery may be signed with at a time.
func (a App) holding(now time.Time) []string {
	if len(a.WebhookSecrets) > 1 && !a.Rotated.IsZero() && now.Sub(a.Rotated) >= oldHolds {
		return a.WebhookSecrets[:1]
	}
	return a.WebhookSecrets
}

// RotateSecret implements web.Setup. The new secret holds before GitHub has it, so that nothing is lost.
func (s *setup) RotateSecret(ctx context.Context, by string) error {
	err := s.in.rotate(ctx)
	result := "done"
	if err != nil {
		result = wrong(err).What
	}
	return errors.Join(err, s.in.s.Audit(ctx, store.Entry{Person: by, Action: "app.rotate secret", Result: result}))
}

func (in *installed) rotate(ctx context.Context) error {
	in.rotating.Lock()
	defer in.rotating.Unlock()
	if in.given != nil {
		return &web.Refusal{Why: "The App's credentials come from the environment. Put a new secret before the old one in " +
			"RALPH_WEBHOOK_SECRET, with a comma between them, start the server again, and set it on the App's page then."}
	}
	app, before, err := in.current(ctx)
	if err != nil {
		return err
	}
	fresh := github.NewSecret()
	after := before
	after.Rotated = time.Time{} // all hold until GitHub has answered
	after.WebhookSecrets = append([]string{fresh}, before.holding(in.clock())...)
	after.WebhookSecrets = after.WebhookSecrets[:min(len(after.WebhookSecrets), mostSecrets)]
	if err := in.store(ctx, after); err != nil {
		return err
	}
	if err := app.RotateSecret(ctx, fresh); err != nil {
		in.log.Warn("the webhook's secret could not be replaced", "error", err)
		return &web.Refusal{Why: "GitHub did not answer that it has taken the new secret, so both go on to count. Try " +
			"again. The server's log says more."}
	}
	after.Rotated = in.clock()
	return in.store(ctx, after)
}

// secret is how the webhook's secret stands, for the setup page.
func (in *installed) secret(c App) web.SecretStanding {
	st := web.SecretStanding{Ours: in.given == nil, Made: c.Rotated, Several: len(c.holding(in.clock())) > 1}
	if st.Several && !c.Rotated.IsZero() {
		st.Until = c.Rotated.Add(oldHolds)
	}
	return st
}
