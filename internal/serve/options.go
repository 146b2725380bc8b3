package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/proc"
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
	// Notify tells whoever supervises this process how it stands: READY=1, STOPPING=1.
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
	Open      bool     // whoever is at this machine reads without a sign-in
}

// Work is how jobs are done.
type Work struct {
	Program string // ralph itself
	Environ []string
	Limits  proc.Limits
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

// Given is an App of the environment. Nothing of it is nil: there is none there.
func Given(id int64, key, secrets, clientID, clientSecret string) (*App, error) {
	if id == 0 && key == "" && secrets == "" {
		return nil, nil //nolint:nilnil // said above
	}
	if id == 0 || key == "" {
		return nil, invalid.Errorf("the environment names a part of an App: RALPH_APP_ID and RALPH_APP_PRIVATE_KEY " +
			"(or RALPH_APP_PRIVATE_KEY_FILE) go together; with neither, the setup page makes an App")
	}
	read, err := github.ReadKey(key, nil)
	if err != nil {
		return nil, invalid.Mark(err)
	}
	c := &App{ID: id, Key: string(read.PEM()), ClientID: clientID, ClientSecret: clientSecret}
	for _, secret := range strings.Split(secrets, ",") {
		if secret = strings.TrimSpace(secret); secret != "" {
			c.WebhookSecrets = append(c.WebhookSecrets, secret)
		}
	}
	return c, nil
}

// addresses are where people go.
func (sv *Server) addresses(ctx context.Context) Addresses {
	a := Addresses{Pages: sv.o.Public.String()}
	if _, err := sv.in.current(ctx); errors.Is(err, errNoApp) {
		sv.setup.code = rand.Text()
		a.Setup = fmt.Sprintf("%s/setup/code?code=%s", a.Pages, sv.setup.code)
	}
	return a
}

// keptOpen refuses to show everything to everyone from where others than this machine could reach it.
func keptOpen(o Options, at net.Addr) error {
	tcp, ok := at.(*net.TCPAddr)
	switch {
	case !o.Open:
	case !ok || !tcp.IP.IsLoopback():
		return invalid.Errorf("--open shows every run to anyone who reaches %s, which is not a loopback address: listen on 127.0.0.1 or [::1], or leave --open away and have people sign in", o.Listen)
	case !web.Loopback(o.Public.Hostname()):
		return invalid.Errorf("--open goes with no --url %s, which is not this machine alone: leave --url "+
			"away, or leave --open away and have people sign in", o.Public.Host)
	}
	return nil
}
