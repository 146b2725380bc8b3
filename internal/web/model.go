package web

import (
	"errors"
	"time"

	"github.com/ralph-loop/ralph/internal/report/html"
)

// ErrNotFound is what a Source, Sessions or Setup answers about something that does not exist. Pages never tell it from
// something that the person cannot see. An Access returns ErrSignedOut for a token that GitHub no longer accepts.
var (
	ErrNotFound  = errors.New("there is no such thing")
	ErrSignedOut = errors.New("GitHub no longer accepts this sign-in")
)

// Identity is a person who has signed in, with what the server needs to ask GitHub about them. No page shows the token.
type Identity struct {
	Login string // "alice"; "" is no one
	Token string // the person's OAuth token
	Guest bool   // no one has signed in, and the pages are open to whoever is at this machine
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
	ID         string
	Number     int64  // names it as Query.Before
	Repository string // "owner/name"
	Issue      int    // 0: none
	Title      string
	By         string // login of who asked
	Agent      string // "claude"
	Pull       int    // its pull request; 0: none yet
	Branch     string // empty: none yet
	Standing
	Queued time.Time // when it was asked for
	Began  time.Time // zero: it has not
	Ended  time.Time // zero: it has not
	Spent  Amount
}

// outside is what outsiders see of a run.
func (r Run) outside() Run {
	r.Agent, r.Spent, r.Standing = "", Amount{}, Standing{State: r.State}
	return r
}

// Standing is how a run stands.
type Standing struct {
	State         string    // Queued, Running, or an outcome: "done", "waiting", "failed", ...
	Doing         string    // what it does now, in a few words
	Reason        string    // why it waits or ended, one sentence
	Until         time.Time // of waiting: when it continues by itself; zero: when someone answers
	Iteration, Of int       // Of is 0 without a limit
}

// The states of a run besides the outcomes of loop.
const (
	Queued     = "queued"
	Running    = "running"
	Waiting    = "waiting"
	Dispatched = "dispatched" // a workflow of the repository does it
)

// Amount is what something took.
type Amount struct {
	Dollars float64
	Tokens  int64
}

// Record is one fact of a run in the order in which it became known.
type Record struct {
	Number int64 // from 1, rising
	At     time.Time
	Kind   string // FactRecord, OutputRecord or ShownRecord; others are skipped
	Body   []byte
}

// The kinds of records.
const (
	FactRecord   = "fact"   // Body: a loop.Record as JSON
	OutputRecord = "output" // Body: what agent and checks printed, as a console shows it
	ShownRecord  = "shown"  // Body: a ShownBody as JSON
)

// ShownBody is what is shown of one iteration besides its facts: one of Prompt and Diff.
type ShownBody struct {
	Iteration int        `json:"iteration"`
	Prompt    string     `json:"prompt,omitempty"` // what its agent was told
	Diff      *html.Diff `json:"diff,omitempty"`   // what it changed
}

// Delivery is a webhook that came, and what was decided about it.
type Delivery struct {
	ID         string
	Number     int64 // names it as Query.Before
	At         time.Time
	Event      string // "issues.labeled"
	Repository string // empty: it concerns none
	Subject    string // "issue 42"
	By         string // login of whoever did it
	Step       string // what was decided: "work", "stop", "not ours", "refused", ...; empty: not decided yet
	Why        string // one sentence
	Run        string // the run that came of it; empty: none
}

// Repository is everything that its page shows besides its runs.
type Repository struct {
	Name     string
	Settings []Setting
	Doctor   []Finding
	Checked  time.Time // when the doctor looked; zero: never
	Ended    int       // runs that ended in the last 30 days
	Done     int       // of these, those that were done
	Spent    Amount    // in the last 30 days
	Limits   []Limit   // those of its settings
}

// Limit is the most that something may take.
type Limit struct {
	Of    string // an account, "acme", or a repository, "acme/demo"; empty: of what it stands at
	What  string // "cost of a run"
	Value string // "$20"
	From  string // as of a Setting
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

// Spend is what one person's runs with one model took in one repository on one day.
type Spend struct {
	Day        string // "2026-11-22"
	Repository string
	Person     string
	Model      string
	Requests   int // to the model; turns of the agent, where its requests do not pass through the server
	Amount
}

// Audit is one thing that someone did.
type Audit struct {
	Number     int64 // names it as Query.Before
	At         time.Time
	By         string // login; empty: the server itself
	Did        string // "stopped the run"
	Repository string // empty: it concerns none
	Run        string // empty: it concerns none
	Delivery   string // empty: it concerns none
	Detail     string
}

// Query says which rows a page wants: those of the repositories, in lower case, and with Others also those that belong
// to none. The newest come first.
type Query struct {
	Repositories []string
	Others       bool
	NoOwn        bool      // of deliveries: without those that ralph itself has caused
	Active       bool      // of runs: those that are queued, running or waiting
	All          bool      // those of every repository, for what is shown without names
	Since        time.Time // zero: from the beginning
	Before       int64     // the number of the last row of the page before, for rows that have one; 0: from the newest
	Limit        int
}
