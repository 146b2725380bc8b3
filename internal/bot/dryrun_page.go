package bot

import (
	"fmt"
	"io"
	"strings"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Explained is what a job would make of an event, and why. There are no secrets in it, and nothing that a terminal acts
// on.
type Explained struct {
	Event string `json:"event"`          // "issues.labeled on alice/demo#42"
	Asks  string `json:"asks,omitempty"` // as docs/internals/requests.md names it: "label `ralph` put on an issue"
	Hint  string `json:"hint,omitempty"` // the maintainer's words, for the agent
	// Becomes is "nothing" for an event that is not ours, "refused", "answered" for one that cannot be followed, else
	// "followed".
	Becomes string   `json:"becomes"`
	Why     string   `json:"why,omitempty"` // one sentence, but for "followed", where the decisions say it
	People  []Person `json:"people"`
	Run     string   `json:"run,omitempty"` // the run that it is about and how that stands
	// Decisions are what the table of docs/internals/requests.md says: one when it is known how the run stands, else one for each
	// way it may.
	Decisions []Decided `json:"decisions"`
	Unknown   []string  `json:"unknown"` // what could not be looked up, and why
}

// Person is someone whom the event names, who must have write access.
type Person struct {
	Login string   `json:"login"`
	As    []string `json:"as"`    // "sender", "labeller"
	Level string   `json:"level"` // "admin", "read"; "not looked up"
}

// Decided is what happens to a request.
type Decided struct {
	When []event.RunStatus `json:"when,omitempty"` // the standings of the run that it holds for; nil: this is how it stands
	Do   event.Doing       `json:"do"`
	Why  string            `json:"why"`
}

// What an event can become.
const (
	becomesNothing  = "nothing"
	becomesRefused  = "refused"
	becomesAnswered = "answered"
	becomesFollowed = "followed"
)

// Tell prints what would happen for people.
func (e Explained) Tell(to io.Writer) error {
	page := &strings.Builder{}
	line := func(name, format string, args ...any) {
		fmt.Fprintf(page, "%-8s  %s\n", name, fmt.Sprintf(format, args...))
	}
	line("event", "%s", e.Event)
	if e.Asks != "" {
		line("asks", "%s", e.Asks)
	}
	if e.Hint != "" {
		line("hint", "%s", e.Hint)
	}
	for i, p := range e.People {
		line(first(i, "people"), "%s (%s): %s", p.Login, strings.Join(p.As, ", "), p.Level)
	}
	if e.Run != "" {
		line("run", "%s", e.Run)
	}
	for i, d := range e.Decisions {
		line(first(i, "decision"), "%s%s: %s", d.when(), d.Do, d.Why)
	}
	switch e.Becomes {
	case becomesNothing:
		line("nothing", "%s", e.Why)
	case becomesRefused, becomesAnswered:
		line(e.Becomes, "%s", e.Why)
	}
	for i, u := range e.Unknown {
		line(first(i, "unknown"), "%s", u)
	}
	page.WriteString("\nNothing was written, and no agent was asked.\n")
	_, err := io.WriteString(to, page.String())
	return err
}

// when is for which runs a decision holds: "if there is no run, or it is failed or finished, ".
func (d Decided) when() string {
	if len(d.When) == 0 {
		return ""
	}
	var all []string
	none := ""
	for _, at := range d.When {
		if at == event.None {
			none = "there is no run"
			continue
		}
		all = append(all, string(at))
	}
	is := strings.Join(all, " or ")
	switch {
	case is == "":
		return "if " + none + ", "
	case none == "":
		return "if the run is " + is + ", "
	}
	return "if " + none + ", or it is " + is + ", "
}

// first is a name before the first of several lines.
func first(i int, name string) string {
	if i > 0 {
		return ""
	}
	return name
}

// clean takes secrets, line breaks and terminal sequences out of everything that came from outside.
func (e *Explained) clean(redact func(string) string) {
	clean := func(s *string) { *s = safetext.Inert(redact(safetext.OneLine(*s))) }
	for _, s := range []*string{&e.Event, &e.Asks, &e.Hint, &e.Why, &e.Run} {
		clean(s)
	}
	e.Hint = safetext.Shorten(e.Hint, mostHint)
	for i := range e.People {
		clean(&e.People[i].Login)
		clean(&e.People[i].Level)
	}
	for i := range e.Decisions {
		clean(&e.Decisions[i].Why)
	}
	for i := range e.Unknown {
		clean(&e.Unknown[i])
	}
}

// mostHint bounds what is shown of a hint, in runes.
const mostHint = 200
