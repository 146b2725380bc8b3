package event

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Permission is what the collaborator-permission API said about one login. Level is GitHub's legacy permission (admin,
// write, read, none), to which maintain, triage and custom roles are already mapped. Err is set when the lookup failed.
type Permission struct {
	Level string
	Role  string // the role's own name, as in "triage", or a custom one; empty if it is not known
	Err   error
}

func (p Permission) writes() bool {
	return p.Err == nil && slices.Contains([]string{"admin", "maintain", "write"}, p.Level)
}

// Facts are everything that is read from GitHub before a decision, once.
type Facts struct {
	Self        string                // the login ralph writes as
	Labeler     string                // Labeled: the login that added the label, from the issue's event log
	LabelOff    bool                  // Labeled: the label is no longer on the issue
	CommentGone bool                  // Commented: someone has deleted the comment
	Permissions map[string]Permission // by login, lower case
	Comments    []Comment             // the issue's comments, oldest first
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

// Withdrawn reports whether the request of a label or a comment was withdrawn before the job began: someone removed the
// label or deleted the comment, or another job removed the label when it started on the request.
func (f Facts) Withdrawn(ev Event) (why string, ok bool) {
	if f.CommentGone {
		return "the comment was deleted: the request was withdrawn", true
	}
	if !f.LabelOff {
		return "", false
	}
	return "the label " + quote(ev.Label) + " is gone: the request was withdrawn, or another job is running it",
		true
}

// Reads reports whether the agent reads what login wrote. ralph's own comments are never read, not even where a
// person's account is what it writes as: an agent must not read what another one said as if a maintainer had said it.
func (f Facts) Reads(login string, by CommentsBy) bool {
	return (f.Self == "" || !strings.EqualFold(login, f.Self)) && by.Reads(login, f.CanWrite(login))
}

// Origin names the comment, review or label of a request, so that it can be read again on GitHub by this name alone: a
// comment by its id, a comment on a line by its id, a review by its id and the pull request's number, or a label by its
// name and the number of what it is on. Without a requester it names the check suite of another workflow that has
// ended; the zero value is a sweep. It is no proof of anything.
type Origin struct {
	Kind   string // "comment", "line", "review", "label" or "suite"; empty: a sweep
	Number int64  // of the comment or the suite, or of what the review or the label is on
	Review int64
	Label  string
}

// OriginOf is that of an event; ok is false for what no one can read again, such as a label that was taken off.
func OriginOf(ev Event) (o Origin, ok bool) {
	number := ev.On
	if number == 0 && ev.Issue != nil {
		number = ev.Issue.Number
	}
	switch {
	case ev.Kind == Commented && ev.Comment != nil && ev.Comment.Inline:
		return Origin{Kind: "line", Number: ev.Comment.ID}, true
	case ev.Kind == Commented && ev.Comment != nil:
		return Origin{Kind: "comment", Number: ev.Comment.ID}, true
	case ev.Kind == Reviewed && ev.Review != nil && number != 0:
		return Origin{Kind: "review", Number: int64(number), Review: ev.Review.ID}, true
	case ev.Kind == Labeled && number != 0:
		return Origin{Kind: "label", Number: int64(number), Label: ev.Label}, true
	case ev.Kind == Built && ev.Build != nil && ev.Build.Suite != 0:
		return Origin{Kind: "suite", Number: ev.Build.Suite}, true
	}
	return o, ev.Kind == Scheduled
}

// String is what ParseOrigin reads: "comment:123", "line:123", "review:43:567", "label:42:ralph", "suite:123", "sweep".
func (o Origin) String() string {
	switch o.Kind {
	case "":
		return "sweep"
	case "review":
		return fmt.Sprintf("review:%d:%d", o.Number, o.Review)
	case "label":
		return fmt.Sprintf("label:%d:%s", o.Number, o.Label)
	}
	return fmt.Sprintf("%s:%d", o.Kind, o.Number)
}

// OriginForms are the forms of ParseOrigin, for errors.
const OriginForms = "comment:ID, line:ID, review:PULL_REQUEST:ID, label:ISSUE:NAME, suite:ID or sweep"

// ParseOrigin reads the text of an origin. ok is false for anything else.
func ParseOrigin(text string) (o Origin, ok bool) {
	if text == (Origin{}).String() {
		return Origin{}, true
	}
	kind, rest, _ := strings.Cut(text, ":")
	number, after, _ := strings.Cut(rest, ":")
	o.Kind = kind
	o.Number, _ = strconv.ParseInt(number, 10, 64) // what is none reads otherwise below
	switch kind {
	case "comment", "line", "suite":
		ok = true
	case "review":
		o.Review, _ = strconv.ParseInt(after, 10, 64)
		ok = o.Review > 0
	case "label":
		o.Label = after
		ok = after != ""
	}
	if !ok || o.Number <= 0 || o.String() != text {
		return Origin{}, false
	}
	return o, true
}

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

// PlanLabel is the label that asks for a plan: "ralph:plan".
func (r Rules) PlanLabel() string { return r.TriggerLabel + ":plan" }

// StatusLabel is the label that shows a state: "ralph:running", "ralph:review", "ralph:waiting", "ralph:failed".
func (r Rules) StatusLabel(state string) string { return r.TriggerLabel + ":" + state }

// CommentsBy is whose comments reach the agent, as the input include_comments_by has it: "writers", who have write access,
// logins besides them or instead, or "none". Empty is "writers".
type CommentsBy []string

// Reads reports whether the agent reads what login wrote; writes says whether it has write access. A login counts when
// it is the same but for upper and lower case.
func (c CommentsBy) Reads(login string, writes bool) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(c, func(n string) bool { return strings.EqualFold(n, name) })
	}
	switch {
	case login == "" || has("none"):
		return false
	case has(login) && !strings.EqualFold(login, "writers"):
		return true
	}
	return writes && (len(c) == 0 || has("writers"))
}
