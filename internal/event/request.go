package event

import (
	"slices"
	"strings"
)

// Rules are the settings that decide what is asked and who may ask.
type Rules struct {
	TriggerLabel  string   // "ralph"
	TriggerPhrase string   // "/ralph"
	AllowedBots   []string // exact logins
	// CommentsBy says whose comments reach the agent.
	CommentsBy CommentsBy
	// CIGate says that a run waits for other workflows.
	CIGate bool
}

// CommentsBy is whose comments reach the agent: those of people with write access, or of Logins alone. The zero value
// is people with write access.
type CommentsBy struct {
	Nobody bool
	Logins []string // besides or instead of people with write access, see Only
	Only   bool     // Logins alone
}

// PlanLabel is the label that asks for a plan: "ralph:plan".
func (r Rules) PlanLabel() string { return r.TriggerLabel + ":plan" }

// StatusLabel is the label that shows a state: "ralph:running", "ralph:review", "ralph:waiting", "ralph:failed".
func (r Rules) StatusLabel(state string) string { return r.TriggerLabel + ":" + state }

// Reads reports whether the agent reads what login wrote; writes says whether it has write access. A login counts when
// it is the same but for upper and lower case.
func (c CommentsBy) Reads(login string, writes bool) bool {
	switch {
	case c.Nobody || login == "":
		return false
	case slices.ContainsFunc(c.Logins, func(l string) bool { return strings.EqualFold(l, login) }):
		return true
	}
	return writes && !c.Only
}

// Request is what an event asks for, once it is known to be ours.
type Request struct {
	Command
	Asking     Trigger // the row of the table; empty in a request that no event made, which is one by its verb
	Event      Event
	Prompt     string     // a dispatch without an issue
	PlanFile   string     // of a plan in the repository, from its top; Verb is Run
	Pull       int        // the pull request of the run that it is about, once that is known
	CommentsBy CommentsBy // whose comments the agent reads
}

// Skip says why an event is not ours. It is a value, not an error: the job ends quietly with exit 0.
type Skip struct{ Reason string }
