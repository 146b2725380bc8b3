package web

import (
	"context"
	"time"

	"github.com/ralph-loop/ralph/internal/store"
)

// Runs are the runs of all repositories, each with what is known of it. An error that is no store.ErrNotFound means
// that something could not be read, and a page says so.
type Runs interface {
	Run(ctx context.Context, id string) (store.Run, error)
	// Records are those after a number, in order, at most limit of them. Fewer than limit means that there are no more
	// yet.
	Records(ctx context.Context, run string, after int64, limit int) ([]store.Record, error)
	// Watch returns a channel that is readable as soon as the run has more records than now. stop ends the watch.
	Watch(run string) (changed <-chan struct{}, stop func())
	// Words are what was said to a run after a number, in order.
	Words(ctx context.Context, run string, after int64) ([]store.Word, error)
}

// Lists are the rows of pages, the newest first, and what is behind one of them.
type Lists interface {
	Runs(ctx context.Context, f store.Filter) ([]store.Run, error)
	Deliveries(ctx context.Context, f store.Filter) ([]store.Delivery, error)
	Delivery(ctx context.Context, id string) (store.Delivery, error)
	Spend(ctx context.Context, f store.Filter) ([]store.Spend, error)
	Audits(ctx context.Context, f store.Filter) ([]store.Entry, error)
}

// Repositories are those that ralph is installed on.
type Repositories interface {
	Repository(ctx context.Context, name string) (Repository, error)
	// Limits are those of the accounts and, as far as they are known without asking anyone, of the repositories.
	Limits(repositories []string) []Limit
	// Self is ralph's own login; "" while it is not known.
	Self() string
}

// Access reports what people can see and do, at most a minute old. On an error, nothing is shown or done. It returns when
// its context ends, and can continue in the background for the next request.
type Access interface {
	// Permission is what a person may do in one repository, "owner/name" in lower case.
	Permission(ctx context.Context, who Identity, repository string) (Permission, error)
	// Readable are the repositories, "owner/name", that ralph is installed on and the person can read.
	Readable(ctx context.Context, who Identity) ([]string, error)
	// Operator says whether the person may see what belongs to no repository, and the setup.
	Operator(ctx context.Context, who Identity) (bool, error)
}

// Sessions are kept by the server: a page's cookie holds nothing but a random token.
type Sessions interface {
	Start(ctx context.Context, token string, who Identity) error
	// Find is who a token belongs to; store.ErrNotFound when it belongs to no one, any more or at all.
	Find(ctx context.Context, token string) (Identity, error)
	End(ctx context.Context, token string) error
	// EndAll ends all sessions of a person.
	EndAll(ctx context.Context, login string) error
}

// SignIn is GitHub's way to say who someone is.
type SignIn interface {
	// AuthorizeURL is where to send the browser; "" before the setup is done. verifier is PKCE's; only its S256 challenge may be in the address.
	AuthorizeURL(state, verifier, redirect string) string
	// Exchange asks GitHub for whom code was made.
	Exchange(ctx context.Context, code, verifier, redirect string) (Identity, error)
}

// Action is something that a person asks for on a page. Who may do it has been asked before.
type Action struct {
	Kind       string // Stop, Retry, Hint, Approve or Redeliver
	By         Identity
	Repository string
	Run        string // of all but Redeliver
	Delivery   string // of Redeliver
	Text       string // of Hint: what the agent is told; of Retry: the same, or empty; of Approve: what is accepted
}

// The kinds of actions.
const (
	Stop      = "stop"
	Retry     = "retry"
	Hint      = "hint"
	Approve   = "approve"
	Redeliver = "redeliver"
)

// Actions does what people ask for, and writes down in the audit log that they did.
type Actions interface {
	// Do returns a *Refusal when it cannot be done as things stand.
	Do(ctx context.Context, a Action) error
}

// Refusal is why something cannot be done, one sentence for whoever asked.
type Refusal struct{ Why string }

func (r *Refusal) Error() string { return r.Why }

// Setup is how the server gets its GitHub App.
type Setup interface {
	// Redeem reports whether code is the one-time code of the setup, and uses it up.
	Redeem(ctx context.Context, code string) bool
	Standing(ctx context.Context) (SetupStanding, error)
	// Manifest is the form that creates the App, for an organisation or, where that is empty, for the person.
	Manifest(organisation, state string) (ManifestForm, error)
	// Complete makes the App's credentials ours, with the code that GitHub gave for it.
	Complete(ctx context.Context, code string, by string) error
	// RotateSecret gives the webhook a new secret, writes that down, and returns a *Refusal where it cannot.
	RotateSecret(ctx context.Context, by string) error
}

// SecretStanding is how the webhook's secret stands.
type SecretStanding struct {
	Ours    bool      // false: whoever starts the server brings it
	Made    time.Time // zero: with the App
	Several bool      // one that was replaced counts as well
	Until   time.Time // so long; zero: until the next one is made
}

// ManifestForm is a form that is sent to GitHub.
type ManifestForm struct {
	Address  string // "https://github.com/settings/apps/new?state=…"
	Manifest string // JSON
}

// SetupStanding is how far the setup has come.
type SetupStanding struct {
	App         string // its name; empty: there is none yet
	AppURL      string // its page on GitHub
	InstallURL  string // where to install it
	Secret      SecretStanding
	Credentials []Finding
	Doctor      []RepositoryDoctor
}

// RepositoryDoctor is what the doctor says of one repository.
type RepositoryDoctor struct {
	Repository string
	Findings   []Finding
}
