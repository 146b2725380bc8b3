package event

import (
	"slices"
	"strings"
)

// Permission is what the collaborator-permission API said about one login. Level is GitHub's legacy permission (admin,
// write, read, none), to which maintain, triage and custom roles are already mapped. Err is set when the lookup failed.
type Permission struct {
	Level string
	Role  string // the role's own name, as in "triage", or a custom one; empty when it was not told
	Err   error
}

func (p Permission) writes() bool {
	return p.Err == nil && slices.Contains([]string{"admin", "maintain", "write"}, p.Level)
}

// Facts are everything that is read from GitHub before a decision, once.
type Facts struct {
	Self        string                // the login ralph writes as
	Labeller    string                // Labeled: who put the label on, from the event log
	LabelOff    bool                  // Labeled: the label is not on the issue any more
	Permissions map[string]Permission // by login, lower case
	Comments    []Comment             // the comments, oldest first
	// Dropped counts comments whose author could not be looked up within the call budget; they do not reach the agent.
	Dropped int
}

// Pull is a pull request of ours.
type Pull struct {
	Number int
	NodeID string
	URL    string
	Draft  bool
}

// CanWrite reports whether login has write access by the facts; false when it was not looked up.
func (f Facts) CanWrite(login string) bool { return f.Permissions[strings.ToLower(login)].writes() }

// Withdrawn reports whether what a label asked for came to nothing before the job began: somebody has taken the label
// off, or another job has when it took the request up.
func (f Facts) Withdrawn(ev Event) (why string, ok bool) {
	if !f.LabelOff {
		return "", false
	}
	return "the label " + quote(ev.Label) + " is off again: the request was withdrawn, or another job has taken it up",
		true
}

// Reads reports whether the agent reads what login wrote. ralph's own comments are never read, not even where a
// person's account is what it writes as: an agent must not be told what another one said as if a maintainer had said
// it.
func (f Facts) Reads(login string, by CommentsBy) bool {
	return (f.Self == "" || !strings.EqualFold(login, f.Self)) && by.Reads(login, f.CanWrite(login))
}
