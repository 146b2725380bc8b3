package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/store"
	"github.com/ralph-loop/ralph/internal/web"
	"github.com/ralph-loop/ralph/internal/work"
)

// Options are what a server is made with. The zero value of most is no option: cmd fills them in.
type Options struct {
	Place
	Identity
	Work
	Clock func() time.Time
	Log   *slog.Logger
	// Notify reports the state of this process to its supervisor: READY=1, STOPPING=1.
	Notify func(state string)
}

// Place is where a server is and keeps things.
type Place struct {
	Listen  string   // "127.0.0.1:8080"
	Public  *url.URL // what GitHub and people reach it by; nil: where it listens
	Data    string   // a directory
	Keys    store.Keys
	Version string
	// MetricsToken lets others than this machine read the metrics, as a bearer; empty: no one else.
	MetricsToken string
}

// Identity is whom a server is on GitHub.
type Identity struct {
	GitHub    github.Server
	App       *App     // of the environment; nil: the setup makes it
	AppName   string   // that the setup proposes
	Operators []string // logins that may see everything
	Outsiders string   // what people see of a public repository who do not work on it: "nothing", "runs" or "all"
}

// Work is how jobs are done.
type Work struct {
	Program string // ralph itself
	Environ []string
	Base    work.Order
	Rules   event.Rules
	Allow   config.Allowances // what the repositories of each account may have
	Slots   int
	// PerInstallation is how many of all runs may be of one installation; 0: any number.
	PerInstallation int
	Mirrors         int64 // bytes
	Drain           time.Duration
	// Runner is a repository, "acme/ralph-runner", whose workflow does the runs; empty: this machine does.
	Runner string
	// Keep is for how many days deliveries, records, runs and audit are kept, by these words.
	Keep map[string]int
}

// Addresses are where a server is reached.
type Addresses struct {
	Pages string // "https://ralph.example.com"
	Setup string // with the one-time code; empty: there is an App
}

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

// parts are what everything here stands on.
type parts struct {
	o  Options
	s  *store.Store
	in *installed
}

// sealedApp is the name of the credentials among the database's secrets.
const sealedApp = "app"

// errNoApp says that the setup is still to be done.
var errNoApp = errors.New("there is no GitHub App yet: open the setup page, whose address ralph serve prints at its " +
	"start")

// installed is the current App; before the setup it has no credentials.
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
	key, err := github.ReadKey(c.Key)
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

// Given is an App of the environment; nil when the environment names nothing of one.
func Given(id int64, key, secrets, clientID, clientSecret string) (*App, error) {
	if id == 0 && key == "" && secrets == "" {
		return nil, nil //nolint:nilnil // said above
	}
	if id == 0 || key == "" {
		return nil, invalid.Errorf("the environment names a part of an App: RALPH_APP_ID and RALPH_APP_PRIVATE_KEY " +
			"(or RALPH_APP_PRIVATE_KEY_FILE) go together; with neither, the setup page makes an App")
	}
	read, err := github.ReadKey(key)
	if err != nil {
		return nil, invalid.Mark(err)
	}
	some := slices.DeleteFunc(safetext.Map(strings.Split(secrets, ","), strings.TrimSpace), func(s string) bool { return s == "" })
	return &App{ID: id, Key: string(read.PEM()), ClientID: clientID, ClientSecret: clientSecret, WebhookSecrets: some}, nil
}

// brief is an error in one line of at most that many characters.
func brief(err error, most int) string {
	return safetext.FirstRunes(safetext.OneLine(err.Error()), most)
}

// wrong is an error as pages show it.
func wrong(err error) web.Finding {
	return web.Finding{Level: "error", What: brief(err, 300)}
}

const (
	lookTime    = 30 * time.Second // of one lookup
	lookupsKept = 10_000
)

// lookups remembers answers, such as GitHub's, each for a while. Concurrent callers share one request. Errors
// are not remembered. It is safe for concurrent use.
type lookups[T any] struct {
	clock func() time.Time
	keeps time.Duration // 0: a minute

	one  singleflight.Group
	mu   sync.Mutex
	kept map[string]lookup[T]
}

type lookup[T any] struct {
	value T
	until time.Time
}

// of returns the remembered answer for a key, or calls find. When ctx ends, it returns ctx's error, and find continues
// for the next caller.
func (l *lookups[T]) of(ctx context.Context, key string, find func(context.Context) (T, error)) (T, error) {
	now := l.clock()
	l.mu.Lock()
	known := l.kept[key]
	l.mu.Unlock()
	if now.Before(known.until) {
		return known.value, nil
	}
	found := l.one.DoChan(key, func() (any, error) {
		looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
		defer cancel()
		value, err := find(looking)
		if err != nil {
			return value, err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.kept == nil || len(l.kept) >= lookupsKept {
			l.kept = map[string]lookup[T]{}
		}
		l.kept[key] = lookup[T]{value, now.Add(cmp.Or(l.keeps, time.Minute))}
		return value, nil
	})
	select {
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	case got := <-found:
		value, _ := got.Val.(T) // nothing else is returned
		return value, got.Err
	}
}

// last returns the latest answer for a key, also an expired one.
func (l *lookups[T]) last(key string) T {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kept[key].value
}

func (p *parts) logf(format string, args ...any) { p.o.Log.Info(fmt.Sprintf(format, args...)) }
