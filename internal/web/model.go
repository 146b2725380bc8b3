package web

import (
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
	Prompt    string     `json:"prompt,omitempty"` // what its agent was told
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
	Dollars  float64   // in the last 30 days
	Tokens   int64     // the same
	Limits   []Limit   // those of its settings
}

// Limit is the most that something may take.
type Limit struct {
	Of    string // an account, "acme", or a repository, "acme/demo"; empty: of what it is at
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
