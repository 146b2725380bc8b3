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
	GUID          string // the delivery's own, the same for each attempt: X-GitHub-Delivery
	ID            int64  // of the newest attempt: what Redeliver takes
	Event, Action string
	Installation  int64 // 0: none
	Status        string
	Code          int // of the answer; 0: no answer
	First, Last   time.Time
	Attempts      int
}

// mostDeliveryPages bounds how far FailedDeliveries looks back: 100 attempts a page.
const mostDeliveryPages = 300

// FailedDeliveries are the deliveries since a time that no attempt has brought here, oldest first. GitHub keeps them
// for three days, an Enterprise Server for seven. When there are too many to read, what was read comes with an error.
func (a *App) FailedDeliveries(ctx context.Context, since time.Time) ([]FailedDelivery, error) {
	found, arrived := map[string]*FailedDelivery{}, map[string]bool{}
	opts := &github.ListCursorOptions{PerPage: 100}
	for page := 1; ; page++ {
		list, resp, err := a.api.Apps.ListHookDeliveries(ctx, opts)
		if err != nil {
			return nil, a.explain("listing the App's deliveries", err)
		}
		for _, d := range list { // newest first
			if d.GetDeliveredAt().Before(since) {
				return failures(found, arrived), nil
			}
			if d.GetStatus() == "OK" || d.GetStatusCode()/100 == 2 {
				arrived[d.GetGUID()] = true
				continue
			}
			found[d.GetGUID()] = found[d.GetGUID()].with(d)
		}
		switch {
		case resp.Cursor == "" || len(list) == 0:
			return failures(found, arrived), nil
		case page == mostDeliveryPages:
			return failures(found, arrived), fmt.Errorf("listing the App's deliveries: there are more than %d; ask for those "+
				"of a shorter time", page*opts.PerPage)
		}
		opts.Cursor = resp.Cursor
	}
}

func (f *FailedDelivery) with(d *github.HookDelivery) *FailedDelivery {
	if f == nil {
		f = &FailedDelivery{GUID: d.GetGUID(), ID: d.GetID(), Event: d.GetEvent(), Action: d.GetAction(),
			Installation: d.GetInstallationID(), Status: oneLine(d.GetStatus()), Code: d.GetStatusCode(),
			Last: d.GetDeliveredAt().Time}
	}
	f.First = d.GetDeliveredAt().Time
	f.Attempts++
	return f
}

func failures(found map[string]*FailedDelivery, arrived map[string]bool) []FailedDelivery {
	var list []FailedDelivery
	for guid, f := range found {
		if !arrived[guid] {
			list = append(list, *f)
		}
	}
	slices.SortFunc(list, func(a, b FailedDelivery) int {
		if order := a.First.Compare(b.First); order != 0 {
			return order
		}
		return int(a.ID - b.ID)
	})
	return list
}

// Redeliver has GitHub send a delivery once more, with the same GUID. GitHub does it later: nil says that it will.
func (a *App) Redeliver(ctx context.Context, id int64) error {
	_, _, err := a.api.Apps.RedeliverHookDelivery(ctx, id)
	var accepted *github.AcceptedError // is success here
	if err == nil || errors.As(err, &accepted) {
		return nil
	}
	return a.explain(fmt.Sprintf("having the delivery %d sent again", id), err)
}

// Hook is where and how GitHub delivers the App's webhooks. GitHub tells no one the secret.
type Hook struct {
	URL      string
	JSON     bool // false: as a form, which ralph does not read
	Insecure bool // GitHub does not check the certificate
	Signed   bool // there is a secret
}

// Hook asks GitHub for the App's webhook.
func (a *App) Hook(ctx context.Context) (Hook, error) {
	h, _, err := a.api.Apps.GetHookConfig(ctx)
	if err != nil {
		return Hook{}, a.explain("reading the App's webhook", err)
	}
	return Hook{URL: h.GetURL(), JSON: h.GetContentType() == "json", Insecure: h.GetInsecureSSL() == "1",
		Signed: h.GetSecret() != ""}, nil
}

// RotateSecret gives the webhook a new secret. GitHub signs with it from then on; deliveries already sent are signed
// with the one before, so that both count for a while.
func (a *App) RotateSecret(ctx context.Context, secret string) error {
	if len(secret) < 20 {
		return errors.New("setting the webhook's secret: it has less than 20 characters; NewSecret makes one")
	}
	_, _, err := a.api.Apps.UpdateHookConfig(ctx, &github.HookConfig{Secret: &secret})
	if err != nil {
		return a.explain("setting the webhook's secret", err)
	}
	return nil
}

// NewSecret is a secret for a webhook, a state or a setup code: 26 characters of 130 random bits.
func NewSecret() string { return rand.Text() }
