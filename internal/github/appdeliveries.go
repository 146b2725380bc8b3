package github

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/go-github/v60/github"
)

// FailedDelivery is a webhook delivery that did not arrive: no attempt to deliver it was answered with success.
type FailedDelivery struct {
	GUID   string // the delivery's own, the same for each attempt: X-GitHub-Delivery
	ID     int64  // of the latest attempt: what Redeliver takes
	Event  string
	Status string
}

// mostDeliveryPages bounds how far FailedDeliveries looks back: 100 attempts a page.
const mostDeliveryPages = 300

// FailedDeliveries are the deliveries since a time that no attempt has brought here, oldest first. GitHub keeps them
// for three days, an Enterprise Server for seven.
func (a *App) FailedDeliveries(ctx context.Context, since time.Time) (failed []FailedDelivery, err error) {
	seen := map[string]bool{} // by GUID, those whose latest attempt has arrived or is in failed
	opts := &github.ListCursorOptions{PerPage: 100}
	for range mostDeliveryPages {
		list, resp, err := a.api.Apps.ListHookDeliveries(ctx, opts)
		if err != nil {
			return nil, a.explain("listing the App's deliveries", err)
		}
		for _, d := range list { // latest first
			if d.GetDeliveredAt().Before(since) {
				slices.Reverse(failed)
				return failed, nil
			}
			arrived := d.GetStatus() == "OK" || d.GetStatusCode()/100 == 2
			if !seen[d.GetGUID()] && !arrived {
				failed = append(failed, FailedDelivery{d.GetGUID(), d.GetID(), d.GetEvent(), oneLine(d.GetStatus())})
			} else if arrived && seen[d.GetGUID()] {
				failed = slices.DeleteFunc(failed, func(f FailedDelivery) bool { return f.GUID == d.GetGUID() })
			}
			seen[d.GetGUID()] = true
		}
		if opts.Cursor = resp.Cursor; opts.Cursor == "" || len(list) == 0 {
			break
		}
	}
	slices.Reverse(failed)
	return failed, nil
}

// Redeliver has GitHub send a delivery once more, with the same GUID. GitHub does it later: nil says that it will.
func (a *App) Redeliver(ctx context.Context, id int64) error {
	_, _, err := a.api.Apps.RedeliverHookDelivery(ctx, id)
	var accepted *github.AcceptedError // is success here
	if errors.As(err, &accepted) {
		return nil
	}
	return a.explain(fmt.Sprintf("having the delivery %d sent again", id), err)
}

// Hook is where and how GitHub delivers the App's webhooks. GitHub tells no one the secret.
type Hook struct {
	URL    string
	JSON   bool // false: as a form, which ralph does not read
	Signed bool // there is a secret
}

// Hook asks GitHub for the App's webhook.
func (a *App) Hook(ctx context.Context) (Hook, error) {
	h, _, err := a.api.Apps.GetHookConfig(ctx)
	return Hook{URL: h.GetURL(), JSON: h.GetContentType() == "json", Signed: h.GetSecret() != ""},
		a.explain("reading the App's webhook", err)
}

// RotateSecret gives the webhook a new secret. GitHub signs with it from then on; deliveries already sent are signed
// with the one before, so that both count for a while.
func (a *App) RotateSecret(ctx context.Context, secret string) error {
	_, _, err := a.api.Apps.UpdateHookConfig(ctx, &github.HookConfig{Secret: &secret})
	return a.explain("setting the webhook's secret", err)
}

// NewSecret is a secret for a webhook, a state or a setup code: 26 characters of 130 random bits.
func NewSecret() string { return rand.Text() }
