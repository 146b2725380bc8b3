package event

import (
	"fmt"
	"slices"
	"strings"
)

// Rules are the settings that decide what is asked and who may ask.
type Rules struct {
	TriggerLabel  string   // "ralph"
	TriggerPhrase string   // "/ralph"
	AllowedBots   []string // exact logins (B-11)
	// CommentsBy says whose comments reach the agent (B-13).
	CommentsBy CommentsBy
	// CIGate says that a run waits for other workflows (B-08).
	CIGate bool
}

// CommentsBy is whose comments reach the agent: those of people with write access, or of Logins alone. The zero value is people with
// write access.
type CommentsBy struct {
	Nobody bool
	Logins []string // besides or instead of people with write access, see Only
	Only   bool     // Logins alone
}

// PlanLabel is the label that asks for a plan: "ralph:plan".
func (r Rules) PlanLabel() string { return r.TriggerLabel + ":plan" }

// StatusLabel is the label that shows a state: "ralph:running", "ralph:review", "ralph:waiting", "ralph:failed".
func (r Rules) StatusLabel(state string) string { return r.TriggerLabel + ":" + state }

// Reads reports whether the agent reads what login wrote; writes says whether it has write access. A login counts when it is the same
// but for upper and lower case.
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
	Asking     Asking // the row of the table; empty in a request that no event made, which is one by its verb
	Event      Event
	Prompt     string     // a dispatch without an issue
	PlanFile   string     // of a plan in the repository, from its top; Verb is Run
	Pull       int        // the pull request of the run that it is about, once that is known
	CommentsBy CommentsBy // whose comments the agent reads
}

// Skip says why an event is not ours. It is a value, not an error: the job ends quietly with exit 0.
type Skip struct{ Reason string }

// Read says what an event asks for: a request, a skip with its reason, or a *UsageError for a command that cannot be followed.
func Read(ev Event, rules Rules) (Request, *Skip, error) {
	req := Request{Event: ev, CommentsBy: rules.CommentsBy}
	if ev.Issue == nil && (ev.Kind == Labeled || ev.Kind == Unlabeled || ev.Kind == Closed || ev.Kind == Commented || ev.Kind == Reviewed) {
		return req, &Skip{fmt.Sprintf("%s names no issue", ev.Name)}, nil
	}
	asking, cmd, err := askingOf(ev, rules)
	if err != nil {
		return req, nil, err
	}
	if why, ok := hopeless(asking, ev); ok {
		return req, &Skip{filled(why, ev, rules)}, nil
	}
	req.Asking, req.Command = asking, cmd
	if req.Verb == "" {
		req.Verb = headingOf(asking).verb
	}
	if ev.Kind == Dispatched {
		req.Prompt, req.PlanFile = ev.Ask.Prompt, ev.Ask.Plan
	}
	return req, nil, nil
}

// Permission is what the collaborator-permission API said about one login. Level is GitHub's legacy permission (admin, write, read,
// none), to which maintain, triage and custom roles are already mapped (B-10). Err is set when the lookup failed.
type Permission struct {
	Level string
	Err   error
}

func (p Permission) writes() bool { return p.Err == nil && (p.Level == "admin" || p.Level == "write") }

// Facts are everything that is read from GitHub before a decision, once.
type Facts struct {
	Self        string                // the login ralph writes as
	Labeller    string                // Labeled: who put the label on, from the issue's event log
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

// Refusal is why somebody may not ask. Its text is one sentence that says what to do instead.
type Refusal struct {
	Who    string // the login that was refused; empty when it is not about a person
	Reason string
}

// Identities lists every login that must have write access for the event to count (B-10), without repeats.
func Identities(ev Event, labeller string) []string {
	var who []string
	add := func(login string) {
		if login != "" && !slices.ContainsFunc(who, func(w string) bool { return strings.EqualFold(w, login) }) {
			who = append(who, login)
		}
	}
	if ev.Kind == Scheduled { // nobody asked: the workflow file on the default branch did
		return nil
	}
	add(ev.Sender.Login)
	add(labeller)
	if ev.Comment != nil {
		add(ev.Comment.Author.Login)
	}
	add(ev.TriggeringActor)
	return who
}

// Authorise says whether the event's people may ask, and if not, why. It reads nothing but its arguments and fails closed.
func Authorise(ev Event, facts Facts, rules Rules) *Refusal {
	if ev.Issue != nil && ev.Issue.Pull && ev.Issue.Fork {
		return &Refusal{Reason: "this pull request comes from a fork, whose code must not meet this repository's secrets; open an issue here and ask ralph there, or push the branch to this repository"}
	}
	if ev.Kind == Scheduled {
		return nil
	}
	who := Identities(ev, facts.Labeller)
	if len(who) == 0 {
		return &Refusal{Reason: "the event names nobody who asked, so nobody can be authorised"}
	}
	if ev.Kind == Labeled && facts.Labeller == "" {
		return &Refusal{Who: ev.Sender.Login, Reason: "who put the label on could not be read from the issue's event log; take the label off and put it on again"}
	}
	for _, login := range who {
		if strings.EqualFold(login, facts.Self) {
			return &Refusal{Who: login, Reason: "ralph does not follow its own events"}
		}
		if bot(login, ev) {
			if !slices.ContainsFunc(rules.AllowedBots, func(b string) bool { return strings.EqualFold(b, login) }) {
				return &Refusal{Who: login, Reason: fmt.Sprintf("%s is a bot that is not listed in allowed_bots; add its exact login there to let it ask", login)}
			}
			continue
		}
		p, looked := facts.Permissions[strings.ToLower(login)]
		switch {
		case !looked:
			return &Refusal{Who: login, Reason: fmt.Sprintf("%s's permission was not looked up; nobody is let in unchecked", login)}
		case p.Err != nil:
			return &Refusal{Who: login, Reason: fmt.Sprintf("%s's permission could not be looked up (%v); try again, or give the token read access to the repository's metadata", login, p.Err)}
		case !p.writes():
			return &Refusal{Who: login, Reason: fmt.Sprintf("%s has %s permission here; asking ralph takes write, maintain or admin", login, level(p.Level))}
		}
	}
	return nil
}

func level(l string) string {
	if l == "" {
		return "no"
	}
	return l
}

// bot reports whether login acted as a bot. The type in the payload decides, and a [bot] suffix makes one too: a suffix only ever
// takes rights away, it never gives any.
func bot(login string, ev Event) bool {
	if strings.HasSuffix(strings.ToLower(login), "[bot]") {
		return true
	}
	for _, a := range []Actor{ev.Sender, commenter(ev)} {
		if strings.EqualFold(a.Login, login) && a.Bot {
			return true
		}
	}
	return false
}

func commenter(ev Event) Actor {
	if ev.Comment == nil {
		return Actor{}
	}
	return ev.Comment.Author
}
