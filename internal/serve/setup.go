package serve

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"sync"

	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
)

// setup gets the App from GitHub, for whoever has the code that was printed at the start.
type setup struct {
	in     *installed
	public string
	name   string // of the App, as it is proposed
	doctor func(context.Context) []web.RepositoryDoctor
	// dispatch asks for an App that may start workflows
	dispatch bool

	mu   sync.Mutex
	code string // "" once it was used
}

// newCode is printed where only who has started ralph reads it.
func newCode() string { return rand.Text() }

// Redeem implements web.Setup.
func (s *setup) Redeem(_ context.Context, code string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.code == "" || subtle.ConstantTimeCompare([]byte(code), []byte(s.code)) != 1 {
		return false
	}
	s.code = ""
	return true
}

// Standing implements web.Setup.
func (s *setup) Standing(ctx context.Context) (web.SetupStanding, error) {
	app, c, err := s.in.current(ctx)
	if errors.Is(err, errNoApp) {
		return web.SetupStanding{}, nil
	}
	if err != nil {
		return web.SetupStanding{}, err
	}
	out := web.SetupStanding{App: c.Name, AppURL: c.Page, Secret: s.in.secret(c)}
	self, err := app.Self(ctx)
	if err != nil {
		out.Credentials = []web.Finding{{Level: "error", What: err.Error(),
			Advice: "Look at the App's page on GitHub, and make a new private key there if this one was removed."}}
		return out, nil
	}
	out.App, out.AppURL, out.InstallURL = self.Name, self.Page, app.InstallPage(self.Slug, "setup")
	out.Credentials = []web.Finding{{Level: "ok", What: "GitHub knows the App by its key"}}
	if len(c.WebhookSecrets) == 0 {
		out.Credentials = append(out.Credentials, web.Finding{Level: "error", What: "the webhook secret is missing",
			Advice: "Set RALPH_WEBHOOK_SECRET to the secret on the App's page."})
	}
	if c.ClientID == "" {
		out.Credentials = append(out.Credentials, web.Finding{Level: "warning", What: "nobody can sign in",
			Advice: "Set RALPH_CLIENT_ID and RALPH_CLIENT_SECRET; both are on the App's page."})
	}
	out.Credentials = append(out.Credentials, s.hook(ctx, app)...)
	out.Doctor = s.doctor(ctx)
	return out, nil
}

// hook says whether GitHub delivers here. Its address is for operators alone: who knows that of a service which passes
// deliveries on may be able to read them there.
func (s *setup) hook(ctx context.Context, app *github.App) []web.Finding {
	h, err := app.Hook(ctx)
	switch here := s.public + "/webhook"; {
	case err != nil:
		return []web.Finding{wrong(err)}
	case h.URL != here:
		return []web.Finding{{Level: "warning", What: "GitHub delivers to " + h.URL + ", and not to " + here,
			Advice: "Set the webhook's address on the App's page, unless something passes the deliveries on."}}
	case !h.JSON || !h.Signed:
		return []web.Finding{{Level: "error", What: "GitHub delivers forms, or does not sign what it delivers",
			Advice: "Set the content type application/json and a secret on the App's page."}}
	}
	return []web.Finding{{Level: "ok", What: "GitHub delivers here"}}
}

// Manifest implements web.Setup.
func (s *setup) Manifest(organisation, state string) (web.ManifestForm, error) {
	form, err := github.Manifest{BaseURL: s.public, Name: s.name, Organisation: organisation, State: state,
		Dispatch: s.dispatch}.On(s.in.server)
	return web.ManifestForm{Address: form.Action, Manifest: form.Manifest}, err
}

// Complete implements web.Setup.
func (s *setup) Complete(ctx context.Context, code string, by web.Person) error {
	made, err := github.CompleteManifest(ctx, s.in.server, code)
	if err != nil {
		return err
	}
	if err := s.in.store(ctx, App{ID: made.ID, Slug: made.Slug, Name: made.Name, Owner: made.Owner,
		Page: made.Page, Key: string(made.Key.PEM()), ClientID: made.ClientID, ClientSecret: made.ClientSecret,
		WebhookSecrets: []string{made.WebhookSecret}}); err != nil {
		return err
	}
	return s.in.s.Audit(ctx, store.Entry{Person: by.Login, Action: "app.create", Subject: made.Slug, Result: "done"})
}
