package loop

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Concern is something about a change that someone other than its author has to accept, by its name, before the run
// is done: a test that says less than before, a check that was loosened, a failure that the base commit has already.
type Concern struct {
	Name    string      `json:"name"` // one word, as ConcernName makes it; an acceptance repeats it
	Kind    ConcernKind `json:"kind"`
	Message string      `json:"message"`          // one sentence, at most 300 bytes
	Detail  string      `json:"detail,omitempty"` // what shows it: a diff, a failure's lines; at most DetailBytes
	File    string      `json:"file,omitempty"`   // from the top of the repository; slashes
	Line    int         `json:"line,omitempty"`   // 1-based; 0: the whole file
}

// ConcernKind says what a concern is about.
type ConcernKind string

// The kinds of concerns.
const (
	Weakens      ConcernKind = "weakened"      // a test, a threshold or a rule says less than before
	BaseTest     ConcernKind = "base test"     // a test as it was in the base says no, is gone, or could not be compared
	Unproven     ConcernKind = "unproven"      // a new test that does not fail without the change
	MakesGreen   ConcernKind = "makes green"   // a check passes because of a file that seems to be no part of the product
	FailedBefore ConcernKind = "failed before" // it fails on the base commit in the same way
	MaybeTask    ConcernKind = "may be asked"  // the same, and the task or the change may be about it
	OnlyForm     ConcernKind = "form"          // white space, empty files or modes are all that has changed
	LooksSecret  ConcernKind = "credential"    // something that looks like a credential was taken out of a commit
	NothingToDo  ConcernKind = "nothing to do" // the agent claims that nothing needs doing
	Unreviewed   ConcernKind = "unreviewed"    // no reviewer gave a clear verdict on the commit
)

// AsItIs reports whether the concern is a question of its own: a person answers it by its name, and as it is now.
func (c Concern) AsItIs() bool { return c.Kind == NothingToDo || c.Kind == Unreviewed }

// ForPeople reports whether only a person accepts the concern.
func (c Concern) ForPeople() bool { return c.AsItIs() || c.Kind == MaybeTask }

// ForReaders returns the concerns that a reviewer may accept.
func ForReaders(list []Concern) []Concern {
	return slices.DeleteFunc(slices.Clone(list), Concern.ForPeople)
}

// MaxConcerns is how many concerns a verdict keeps, DetailBytes how much of what shows one.
const (
	MaxConcerns = 50
	DetailBytes = 2 << 10
)

// AcceptAll is the name that stands for every concern.
const AcceptAll = "all"

// Acceptance is one concern that someone accepted.
type Acceptance struct {
	Name   string `json:"name"`
	Reason string `json:"reason,omitempty"` // one sentence
	By     string `json:"by,omitempty"`     // login, or a role; empty: the person who started the run
	// What is the message of the concern that was accepted: another one under the same name is not. Empty: whatever it
	// says.
	What string `json:"what,omitempty"`
}

// Of is the acceptance of a concern as it is. A failure's own words differ from run to run, so that its name is all
// that holds.
func (a Acceptance) Of(c Concern) Acceptance {
	a.Name, a.What = c.Name, c.Message
	if c.Kind == FailedBefore || c.Kind == MaybeTask {
		a.What = ""
	}
	return a
}

// ConcernName makes the name by which a concern is accepted: a test's name or a path as it is, with the characters
// replaced that people cannot write in one word. It is at most 120 bytes.
func ConcernName(text string) string {
	fields := strings.Fields(safetext.OneLine(text))
	name := strings.Join(fields, "_")
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune("\"'`,;", r) {
			return '_'
		}
		return r
	}, name)
	return safetext.ShortenBytes(name, 120)
}

// accepts reports whether one of the names is the concern's.
func accepts(list []Acceptance, c Concern) bool { return acceptance(list, c) >= 0 }

// acceptance is the index of the acceptance of a concern, whose name is written as it is or as a test runner writes it;
// below 0 without one.
func acceptance(list []Acceptance, c Concern) int {
	return slices.IndexFunc(list, func(a Acceptance) bool { return a.names(c) && (a.What != "" || !c.AsItIs()) })
}

// names reports whether an acceptance is of a concern, as far as it says of which.
func (a Acceptance) names(c Concern) bool {
	all := a.Name == AcceptAll && !c.AsItIs()
	return all || (a.Name == c.Name || ConcernName(a.Name) == c.Name) && (a.What == "" || a.What == c.Message)
}

// Unnamed are the concerns that a reader's acceptances do not name, or may not.
func Unnamed(open []Concern, by []Acceptance) []Concern {
	return slices.DeleteFunc(slices.Clone(open), func(c Concern) bool { return !c.ForPeople() && accepts(by, c) })
}

// AcceptedOf are the open concerns that a list of acceptances names, each as it is.
func AcceptedOf(open []Concern, by []Acceptance) (list []Acceptance) {
	for _, c := range open {
		if i := acceptance(by, c); i >= 0 {
			list = append(list, by[i].Of(c))
		}
	}
	return list
}

// Names lists the names of concerns, each once.
func Names(concerns []Concern) []string {
	names := make([]string, 0, len(concerns))
	for _, c := range concerns {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}
