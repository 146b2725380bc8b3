package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
	"github.com/ralph-loop/ralph/internal/work"
)

// App is the credentials of a GitHub App. They come from the environment, or from the setup and are sealed in the
// database then.
type App struct {
	ID             int64    `json:"id"`
	Slug           string   `json:"slug"`
	Name           string   `json:"name"`
	Owner          string   `json:"owner"` // whose the App is
	Page           string   `json:"page"`
	Key            string   `json:"key"` // PEM
	ClientID       string   `json:"client_id"`
	ClientSecret   string   `json:"client_secret"`
	WebhookSecrets []string `json:"webhook_secrets"` // the first one is GitHub's
	// Rotated is when the first secret was made: an hour later it alone holds. Zero: all of them hold.
	Rotated time.Time `json:"rotated,omitzero"`
}

// sealedApp is the name of the credentials among the database's secrets.
const sealedApp = "app"

// errNoApp says that the setup is still to be done.
var errNoApp = errors.New("there is no GitHub App yet: open the setup page, whose address ralph serve prints at its " +
	"start")

// installed is the current App. Before the setup there is none.
type installed struct {
	o Options
	s *store.Store

	mu  sync.Mutex
	c   App
	app *github.App

	rotating sync.Mutex
}

// current is the App; errNoApp before the setup.
func (in *installed) current(ctx context.Context) (*github.App, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.app != nil {
		return in.app, nil
	}
	c := in.o.App
	if c == nil {
		text, err := in.s.Unseal(ctx, sealedApp)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return nil, errNoApp
		case err != nil:
			return nil, err
		case json.Unmarshal(text, &c) != nil:
			return nil, errors.New("the App's credentials in the database cannot be read: set the App up again")
		}
	}
	err := in.use(*c)
	return in.app, err
}

// credentials are those of the current App.
func (in *installed) credentials(ctx context.Context) (App, error) {
	_, err := in.current(ctx)
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.c, err
}

// use makes the client; the caller holds the lock.
func (in *installed) use(c App) error {
	key, err := github.ReadKey(c.Key, nil)
	if err != nil {
		return invalid.Mark(err)
	}
	app, err := github.OpenApp(github.AppOptions{Server: in.o.GitHub, ID: c.ID, Key: key, ClientID: c.ClientID,
		ClientSecret: c.ClientSecret, Now: in.o.Clock})
	if err != nil {
		return invalid.Mark(err)
	}
	in.c, in.app = c, app
	return nil
}

// self is the App's login, such as "ralph[bot]"; "" until GitHub has answered.
func (in *installed) self() string {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.app == nil {
		return ""
	}
	return in.app.KnownLogin()
}

// wrote reports whether someone is the App itself, once GitHub has answered who that is.
func (in *installed) wrote(login string) bool { return login != "" && login == in.self() }

// store seals credentials that the setup has got.
func (in *installed) store(ctx context.Context, c App) error {
	text, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("storing the App's credentials: %w", err)
	}
	if err := in.s.Seal(ctx, sealedApp, text); err != nil {
		return err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.use(c)
}

// secrets are those that a delivery may be signed with: none before there is an App.
func (in *installed) secrets(ctx context.Context) ([]string, error) {
	c, err := in.credentials(ctx)
	if errors.Is(err, errNoApp) {
		return nil, nil
	}
	return c.holding(in.o.Clock()), err
}

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
	if in.o.App != nil {
		return &web.Refusal{Why: "The App's credentials come from the environment. Put a new secret before the old one in " +
			"RALPH_WEBHOOK_SECRET, with a comma between them, start the server again, and set it on the App's page then."}
	}
	after, err := in.credentials(ctx)
	if err != nil {
		return err
	}
	fresh := github.NewSecret()
	after.WebhookSecrets = append([]string{fresh}, after.holding(in.o.Clock())...)
	after.Rotated = time.Time{} // all hold until GitHub has answered
	after.WebhookSecrets = after.WebhookSecrets[:min(len(after.WebhookSecrets), mostSecrets)]
	if err := in.store(ctx, after); err != nil {
		return err
	}
	if err := in.app.RotateSecret(ctx, fresh); err != nil {
		in.o.Log.Warn("the webhook's secret could not be replaced", "error", err)
		return &web.Refusal{Why: "GitHub did not answer that it has taken the new secret, so both still count. Try " +
			"again. The server's log says more."}
	}
	after.Rotated = in.o.Clock()
	return in.store(ctx, after)
}

// secret is how the webhook's secret stands, for the setup page.
func (in *installed) secret(c App) web.SecretStanding {
	st := web.SecretStanding{Ours: in.o.App == nil, Made: c.Rotated, Several: len(c.holding(in.o.Clock())) > 1}
	if st.Several && !c.Rotated.IsZero() {
		st.Until = c.Rotated.Add(oldHolds)
	}
	return st
}

// appTokens makes the tokens of one job.
type appTokens struct {
	app          *github.App
	installation int64
	repository   string
	s            *store.Store
	log          *slog.Logger
}

// sealedToken begins the names of tokens that are not revoked yet, among the database's secrets: the next start revokes
// those of jobs that were killed with their server.
const sealedToken = "token "

func tokenName(value string) string {
	sum := sha256.Sum256([]byte(value))
	return sealedToken + hex.EncodeToString(sum[:])
}

// Make implements launch.Tokens.
func (t appTokens) Make(ctx context.Context) (work.Token, error) {
	made, err := t.app.Token(ctx, t.installation, t.repository, github.Needed(false, false))
	if err == nil {
		if failed := t.s.Seal(ctx, tokenName(made.Value), []byte(made.Value)); failed != nil {
			t.log.Warn("a token ends only by itself if this server is killed", "error", failed)
		}
	}
	return work.Token{Value: made.Value, Ends: made.Ends}, err
}

// Revoke implements launch.Tokens.
func (t appTokens) Revoke(ctx context.Context, token string) error {
	return errors.Join(t.app.Revoke(ctx, github.Token{Value: token}), t.s.Remove(ctx, tokenName(token)))
}

// revokeLeft revokes the tokens of those names, which a killed server has left. GitHub may have ended them already.
func (sv *Server) revokeLeft(ctx context.Context, names []string) {
	for _, name := range names {
		app, err := sv.in.current(ctx)
		var token []byte
		if err == nil {
			token, err = sv.s.Unseal(ctx, name)
		}
		if err == nil {
			_ = app.Revoke(ctx, github.Token{Value: string(token)})
			err = sv.s.Remove(ctx, name)
		}
		if err != nil {
			sv.o.Log.Warn("a token of a killed server ends only by itself, within the hour", "error", err)
		}
	}
}

// wrong is an error as pages show it.
func wrong(err error) web.Finding {
	return web.Finding{Level: "error", What: safetext.FirstRunes(safetext.OneLine(err.Error()), 300)}
}
