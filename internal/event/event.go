// Package event says who asked for what: the shape of an event, the /ralph command in it, and whether its sender may
// ask.
package event

import (
	"fmt"
	"time"
)

// Kind is what happened, in ralph's words.
type Kind string

// The kinds of event that can ask for something.
const (
	Labeled    Kind = "labeled"    // issues.labeled
	Unlabeled  Kind = "unlabeled"  // issues.unlabeled
	Closed     Kind = "closed"     // issues.closed, pull_request.closed
	Commented  Kind = "commented"  // issue_comment.created, pull_request_review_comment.created
	Reviewed   Kind = "reviewed"   // pull_request_review.submitted
	Built      Kind = "built"      // workflow_run.completed, check_suite.completed: other workflows have judged a commit
	Dispatched Kind = "dispatched" // workflow_dispatch, repository_dispatch
	Scheduled  Kind = "scheduled"  // schedule
	Other      Kind = "other"      // anything else: never ours
)

// Event is one thing that happened on GitHub, as its payload told it. Text in it is what strangers wrote, unsanitised.
type Event struct {
	Kind   Kind
	Name   string // GitHub's words, for the log: "issues.labeled"
	Repo   Repo
	Sender Actor
	// TriggeringActor is who started this workflow run; on a re-run it differs from Sender. Empty outside Actions.
	TriggeringActor string
	At              time.Time // when it happened; text written or edited later does not count
	Label           string    // Labeled, Unlabeled: the label that was put on or taken off
	Issue           *Issue    // Labeled, Unlabeled, Closed, Commented, Reviewed; Dispatched and Scheduled once gathered
	Comment         *Comment  // Commented
	Review          *Review   // Reviewed
	Build           *Build    // Built
	// On is the pull request that the comment stands on, when Issue is the issue that it was made for.
	On       int
	OnClosed bool            // that pull request is closed or merged
	Ask      DispatchRequest // Dispatched: the inputs, or the payload of a repository_dispatch
}

// String names the event for logs and errors, as in "issues.labeled on alice/demo#42".
func (e Event) String() string {
	if e.Issue == nil {
		return fmt.Sprintf("%s on %s", e.Name, e.Repo)
	}
	return fmt.Sprintf("%s on %s#%d", e.Name, e.Repo, e.Issue.Number)
}

// Review is one review of a pull request, as it was submitted.
type Review struct {
	ID     int64
	Author Actor
	State  string // "approved", "commented", "changes_requested", in lower case
	Body   string
	Commit string // the head that was examined
	At     time.Time
}

// Build is what other workflows, or a service that reports to GitHub, made of a commit.
type Build struct {
	Name       string // "CI"
	Conclusion string // "success", "failure", "timed_out", "cancelled", …
	Branch     string // of the head
	SHA        string
	URL        string
	Fork       bool   // the head is in another repository
	Suite      int64  // GitHub's check suite that it is of
	App        string // of a service, the slug: "circleci-checks"; empty for a workflow
}

// DispatchRequest is what a dispatch asks for: an issue by number, a prompt, or a plan by its path, of which exactly one is set.
// The rest is as in a command.
type DispatchRequest struct {
	Issue         int
	Prompt        string
	Plan          string
	Hint          string
	Fresh         bool
	MaxIterations int // 0 when not given
}

// Repo is the repository the event belongs to.
type Repo struct {
	Owner, Name   string
	DefaultBranch string // empty when the payload did not say
}

// String is OWNER/NAME.
func (r Repo) String() string { return r.Owner + "/" + r.Name }

// Actor is someone on GitHub.
type Actor struct {
	Login string
	Bot   bool
}

// Issue is an issue or, with Pull set, the issue side of a pull request.
type Issue struct {
	Number      int
	Title, Body string
	Author      Actor
	Labels      []string
	Pull        bool
	Fork        bool // a pull request whose head is another repository
	Closed      bool
	ClosedBy    string // login; empty: no one, or it is not known
}

// Comment is one comment on an issue.
type Comment struct {
	ID        int64
	NodeID    string // by which GraphQL knows it
	Author    Actor
	Body      string
	CreatedAt time.Time
	UpdatedAt time.Time
	Inline    bool // it stands on a line of a pull request's diff, in a review's thread
}
