package report

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/report/wording"
)

// person is what a login of a person looks like. One of a bot is none: nobody would read what it is told.
var person = regex.Lazy(`^[A-Za-z0-9](?:[A-Za-z0-9]|[-_][A-Za-z0-9])*_?[A-Za-z0-9]*$`)

// Asker is the login of whoever asked for the run last; empty when that is nobody who can be told. It is the only one
// that is ever mentioned, and it comes from GitHub's own words about who did what, never from a text.
func (v View) Asker() string {
	if who := v.State.Asked; len(who) <= 39+1+8 && person.MatchString(who) { // an enterprise adds its short name
		return who
	}
	return ""
}

// Mention is the line that tells whoever asked; empty when nobody can be told.
func (v View) Mention() string {
	if who := v.Asker(); who != "" {
		return "@" + who
	}
	return ""
}

// OutcomeComment is the short comment that tells of an outcome whoever asked: an edited comment tells nobody. It has at
// most 65,000 bytes, and mentions nobody else.
func OutcomeComment(v View) string {
	v = v.onPull()
	return fit(CommentLimit, func(r room) string {
		var p wording.Markdown
		p.Part(strings.TrimSpace(v.Mention() + " **" + v.headline() + "**"))
		p.Part(v.question(r))
		p.Part(strings.Join(v.openHints(), "\n\n"))
		p.Part(v.whatNow())
		return p.String()
	})
}

// NotifyKind reports which of the values of the setting notifyOn an outcome is: "done", "failed" or "waiting"; empty when it
// is none. A wait that ends by itself needs nobody.
func (v View) NotifyKind() string {
	e := v.State.End
	switch {
	case e == nil, e.Outcome == loop.Interrupted, e.Outcome == loop.Refused:
		return ""
	case e.Outcome == loop.Done:
		return "done"
	case e.Outcome != loop.Waiting:
		return "failed"
	case !e.Until.IsZero(), v.waitsForOthers():
		return ""
	}
	return "waiting"
}
