package web

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/ralph-loop/ralph/internal/report/html"
	"github.com/ralph-loop/ralph/internal/store"
)

// ErrSignedOut is what an Access answers for a token that GitHub no longer accepts.
var ErrSignedOut = errors.New("GitHub no longer accepts this sign-in")

// Identity is a person who has signed in, with what the server needs to ask GitHub about them. No page shows the token.
type Identity struct {
	Login string // "alice"; "" is no one
	Token string // the person's OAuth token
}

// Permission is what a person may do in a repository. A greater one includes the lesser.
type Permission int

// From nothing to everything that pages ask for.
const (
	NoPermission Permission = iota
	MaySeeRuns              // that they exist: state, branch and pull request
	MayRead                 // everything
	MayWrite
)

// Run is a run as lists show it, and as the head of its page shows it before there are records.
type Run struct {
	store.Run
	Shown
}

// Shown is what the row of a run holds for pages in its Detail, as JSON, beside what lists can be asked by.
type Shown struct {
	Issue     int     `json:"issue,omitempty"` // 0: none
	Agent     string  `json:"agent,omitempty"` // "claude"
	Pull      int     `json:"pull,omitempty"`  // its pull request; 0: none yet
	Branch    string  `json:"branch,omitempty"`
	Doing     string  `json:"doing,omitempty"` // what it does now, in a few words
	Iteration int     `json:"iteration,omitempty"`
	Of        int     `json:"of,omitempty"` // 0: without a limit
	Dollars   float64 `json:"dollars,omitempty"`
	Tokens    int64   `json:"tokens,omitempty"`
	Journal   string  `json:"run,omitempty"` // the run's name there; the newest row with it includes what earlier ones took
}

// shown is a row as pages show it. What a newer version has written for them is left out.
func shown(row store.Run) Run {
	run := Run{Run: row}
	_ = json.Unmarshal(row.Detail, &run.Shown)
	return run
}

// outside is what outsiders see of a run.
func (r Run) outside() Run {
	r.Reason, r.Times.Resume = "", time.Time{}
	r.Shown = Shown{Issue: r.Issue, Pull: r.Pull, Branch: r.Branch}
	return r
}

// The states of a run besides the outcomes of loop.
const (
	Queued     = "queued"
	Running    = "running"
	Waiting    = "waiting"
	Dispatched = "dispatched" // a workflow of the repository does it
)

// Active are the states of runs that have not ended.
var Active = []string{Queued, Running, Waiting}

// The kinds of records; others are skipped.
const (
	FactRecord   = "fact"   // Body: a loop.Record as JSON
	OutputRecord = "output" // Body: what agent and checks printed, as a console shows it
	ShownRecord  = "shown"  // Body: a ShownBody as JSON
)

// ShownBody is what is shown of one iteration besides its facts: one of Prompt and Diff.
type ShownBody struct {
	Iteration int        `json:"iteration"`
	Prompt    string     `json:"prompt,omitempty"` // the prompt of its agent
	Diff      *html.Diff `json:"diff,omitempty"`   // what it changed
}

// Repository is everything that its page shows besides its runs.
type Repository struct {
	Name     string
	Settings []Setting
	Doctor   []Finding
	Checked  time.Time // when the doctor looked; zero: never
	Ended    int       // runs that ended in the last 30 days
	Done     int       // of these, those that were done
	Took               // in the last 30 days
}

// Took is what runs took.
type Took struct {
	Runs    int
	Dollars float64
	Tokens  int64
}

// Setting is one setting with where its value is from.
type Setting struct{ Key, Value, From string }

// Finding is one thing that the doctor found.
type Finding struct {
	Level  string // "ok", "warning" or "error"
	What   string // "contents: write is granted"
	Advice string // what to do; empty: nothing
	URL    string // where to do it; empty: nowhere
}

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
	Audits(ctx context.Context, f store.Filter) ([]store.Entry, error)
}

// Repositories are those that ralph is installed on.
type Repositories interface {
	Repository(ctx context.Context, name string) (Repository, error)
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
	// End ends the session of a token, or with everywhere all sessions of its person.
	End(ctx context.Context, token string, everywhere bool) error
}

// SignIn is GitHub's way to say who someone is.
type SignIn interface {
	// AuthorizeURL is where to send the browser; "" before the setup is done. verifier is PKCE's; only its S256
	// challenge may be in the address.
	AuthorizeURL(state, verifier, redirect string) string
	// Exchange asks GitHub for whom code was made.
	Exchange(ctx context.Context, code, verifier, redirect string) (Identity, error)
}

// Action is something that a person asks for on a page. The person's permission was checked before.
type Action struct {
	Kind       string // Stop, Retry, Hint, Approve or Redeliver
	By         Identity
	Repository string
	Run        string // of all but Redeliver
	Delivery   string // of Redeliver
	Text       string // of Hint: what the agent gets; of Retry: the same, or empty; of Approve: what is accepted
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

// Refusal is why something cannot be done, one sentence for the requester.
type Refusal struct{ Why string }

func (r *Refusal) Error() string { return r.Why }

// Setup is how the server gets its GitHub App.
type Setup interface {
	// Redeem reports whether code is the one-time code of the setup, and uses it up.
	Redeem(ctx context.Context, code string) bool
	Standing(ctx context.Context) (SetupStanding, error)
	// Manifest is the form that creates the App, for an organization or, where that is empty, for the person.
	Manifest(organization, state string) (ManifestForm, error)
	// Complete makes the App's credentials ours, with the code that GitHub gave for it.
	Complete(ctx context.Context, code string, by string) error
	// RotateSecret gives the webhook a new secret, writes that down, and returns a *Refusal where it cannot.
	RotateSecret(ctx context.Context, by string) error
}

// ManifestForm is a form that is sent to GitHub.
type ManifestForm struct {
	Address  string // "https://github.com/settings/apps/new?state=…"
	Manifest string // JSON
}

// SetupStanding is how far the setup has come.
type SetupStanding struct {
	App         string // its name; empty: not created yet
	AppURL      string // its page on GitHub
	InstallURL  string // where to install it
	OwnSecret   bool   // RotateSecret replaces the webhook's secret; false: it comes from the server's environment
	Credentials []Finding
	Doctor      []RepositoryDoctor
}

// RepositoryDoctor is what the doctor says of one repository.
type RepositoryDoctor struct {
	Repository string
	Findings   []Finding
}
