// Package work runs one job of ralph serve in a process of its own: what the server and the process tell each
// other, and the process's side of it.
package work

import (
	"encoding/json"
	"time"

	"github.com/ralph-loop/ralph/internal/bot"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/lease"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/html"
)

// Order is what the server answers first: what the process shall do, and all that it is to know. It holds no key of a
// model and no secret of the App's.
type Order struct {
	Job        string          `json:"job"`     // letters, digits and hyphens: the delivery's id
	Attempt    int             `json:"attempt"` // from 1 on: how many processes the job has had, with this one
	Page       string          `json:"page"`    // address that shows the job, the same for all attempts
	Event      string          `json:"event"`   // "issues"
	Payload    json.RawMessage `json:"payload"`
	Repository string          `json:"repository"` // "owner/name"
	GitHub     GitHub          `json:"github"`
	// Inputs are those of the Action, by name: "trigger_label".
	Inputs map[string]string `json:"inputs,omitempty"`
	// Settings are those below the repository's own, the weakest first.
	Settings []config.Layer `json:"settings,omitempty"`
	// Allow is what the server allows the repository; its settings cannot go beyond it.
	Allow config.Allowance `json:"allow,omitzero"`
	// Permissions are those that the server has decided by, by login in lower case: "write".
	Permissions map[string]string `json:"permissions,omitempty"`
	// Mistake is what is wrong with the settings, so that no run may begin; "": nothing.
	Mistake string `json:"mistake,omitempty"`
	// Environ is added to what the process keeps of its environment: NAME=value.
	Environ []string `json:"environ,omitempty"`
	Machine
	Token Token `json:"token"`
}

// Machine is what the machine of a job has.
type Machine struct {
	// Workspace is where checkouts are made; "" is the directory for temporary files. The agents' user must be able to
	// pass it.
	Workspace string `json:"workspace,omitempty"`
	Mirror    string `json:"mirror,omitempty"` // a repository to borrow objects from
	AgentUser string `json:"agent_user,omitempty"`
}

// GitHub says where GitHub is, and whom ralph is there.
type GitHub struct {
	Server  string   `json:"server"`  // "https://github.com"
	API     string   `json:"api"`     // "https://api.github.com"
	GraphQL string   `json:"graphql"` // "https://api.github.com/graphql"
	Login   string   `json:"login"`   // "ralph[bot]"
	Lacks   []string `json:"lacks,omitempty"`
}

// Token is an installation token for the job's repository alone.
type Token struct {
	Number int       `json:"number"` // from 1 on: each is newer than those with smaller numbers
	Value  string    `json:"value"`
	Ends   time.Time `json:"ends"`
	// Problem says why there is no newer one; Number is then that of the last.
	Problem string `json:"problem,omitempty"`
}

// Sync tells the server what it has not heard yet, and asks for what people have said.
type Sync struct {
	Heard    int        `json:"heard"` // number of the last message that the server has
	Messages []ToServer `json:"messages"`
	After    int64      `json:"after"` // number of the last word that the process has
}

// Synced is the server's answer.
type Synced struct {
	// Heard is the number of the last message that is heard and stored. A server that was started again has less than
	// what it was asked with, and has heard nothing of what came with that.
	Heard int    `json:"heard"`
	Words []Word `json:"words"`
}

// Stop is someone's wish that the run stops.
type Stop = lease.Stop

// Word is what someone has said to the run; one of Stop and Hint is set. Of hints with one ID the run takes in the
// first, also in its next process.
type Word struct {
	Number int64      `json:"number"` // growing
	Stop   *Stop      `json:"stop,omitempty"`
	Hint   *loop.Hint `json:"hint,omitempty"`
}

// ToServer is a message of the process; one of its parts is set. A server that was started again may hear it again.
type ToServer struct {
	Number int             `json:"number"` // from 1 on
	Begun  *bot.StartedRun `json:"begun,omitempty"`
	Record *Record         `json:"record,omitempty"`
	Output string          `json:"output,omitempty"` // a piece of the log: what the agent, checks and ralph print
	Shown  *Shown          `json:"shown,omitempty"`
	Notice *Notice         `json:"notice,omitempty"`
	End    *End            `json:"end,omitempty"` // the last message
}

// Ask asks for a newer token.
type Ask struct {
	Number int `json:"number"` // of the token that is at hand
}

// Record is one record of the run's journal.
type Record struct {
	Number int         `json:"number"` // from 1 on
	Record loop.Record `json:"record"`
}

// Shown is what a page shows of one iteration besides its records, without secrets; one of Prompt and Diff is set.
type Shown struct {
	Iteration int        `json:"iteration"`        // from 1 on
	Prompt    string     `json:"prompt,omitempty"` // the prompt of its agent, at most 128 KiB
	Diff      *html.Diff `json:"diff,omitempty"`   // what it has changed; its text has at most html.DiffBytes
}

// Notice is what the server tells others of the end of a run. It has the addresses, and the process their names.
type Notice = engine.Notice

// End says how the job's process has ended.
type End struct {
	// Outcome is the run's; empty: the event was nothing to work on.
	Outcome loop.Outcome `json:"outcome,omitempty"`
	Reason  string       `json:"reason,omitempty"`
	// HandedOn says that the run has not ended: another process of the job must resume it.
	HandedOn bool      `json:"handed_on,omitempty"`
	Problem  string    `json:"problem,omitempty"` // what ralph could not do
	Until    time.Time `json:"until,omitzero"`    // of waiting: when the run may continue by itself

	Branch string `json:"branch,omitempty"`
	Pull   int    `json:"pull,omitempty"`
}

// endOf is how a job has ended.
func endOf(r loop.Result, err error) *End {
	s := r.State
	e := &End{Outcome: r.Outcome, Reason: r.Reason, Until: r.Until, Branch: s.Start.Branch, Pull: s.Post.Pull}
	if err != nil {
		e.Problem = err.Error()
	}
	if s.End != nil && e.Until.IsZero() {
		e.Until = s.End.Until
	}
	return e
}
