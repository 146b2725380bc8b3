package bot

import (
	"fmt"
	"io"
	"strings"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/proc"
	"github.com/ralph-loop/ralph/internal/safetext"
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
	if e.StepsFor != "" && len(e.Steps) > 0 {
		line("would", "for “%s”:", e.StepsFor)
	}
	for i, s := range e.Steps {
		name := first(i, "would")
		if e.StepsFor != "" {
			name = ""
		}
		line(name, "%d. %s", i+1, s)
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
	clean := func(s *string) { *s = proc.Inert(redact(strings.Join(strings.Fields(*s), " "))) }
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
	for _, list := range [][]string{e.Steps, e.Unknown} {
		for i := range list {
			clean(&list[i])
		}
	}
}

// mostHint bounds what is shown of a hint, in runes.
const mostHint = 200
