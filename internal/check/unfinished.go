package check

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/diffscan"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Unfinished says no when the run adds marks of work that is not done: TODO comments, stubs, placeholders, the marks of
// a merge that was not resolved. It reads added lines of source files; prose, tests, fixtures and what others wrote may
// hold such words, but for the marks of a merge, which only fixtures may. A mark that was only moved or indented is not
// added.
type Unfinished struct {
	Changes *diffscan.Changes
	Hard    bool // it blocks whatever it finds
	Alone   bool // no one independent looks at the change: the run has no reviewer
}

// Name is the check's name in verdicts.
func (*Unfinished) Name() string { return UnfinishedCheck }

// Severity is soft, unless what is found makes it hard.
func (u *Unfinished) Severity() loop.Severity { return severity(u.Hard) }

// Needs a claim: on the way there, work is unfinished.
func (*Unfinished) Needs() Need { return SomeWork | AClaim | ReadsOnly }

// Run looks through the added lines. Marks of a merge block always, and stubs when no one else looks at the change.
func (u *Unfinished) Run(ctx context.Context, at Input) (loop.Verdict, error) {
	d, err := changeOf(ctx, u.Changes, at)
	if err != nil || d == nil {
		return loop.Verdict{Pass: true}, err
	}
	marks, err := d.Unfinished(ctx)
	if err != nil {
		return loop.Verdict{}, err
	}
	if len(marks) == 0 {
		return loop.Verdict{Pass: true, Reason: d.Partial}, nil
	}
	worst := diffscan.Remark
	var b strings.Builder
	v := loop.Verdict{Severity: u.Severity()}
	for _, m := range marks {
		worst = max(worst, m.Stage)
		fmt.Fprintf(&b, "%s:%d: %s\n", shownName(m.File), m.Line, quote(m.Text))
		addFinding(&v, loop.Finding{File: m.File, Line: m.Line, Level: "warning", Message: "unfinished: " + quote(m.Text)})
	}
	v.Reason = fmt.Sprintf("the change adds %s of unfinished work", safetext.Count(len(marks), "mark"))
	switch {
	case worst == diffscan.Conflict:
		v.Severity = loop.Hard
		v.Reason += "; a merge is not resolved"
	case worst == diffscan.Stub && u.Alone:
		v.Severity = loop.Hard
		v.Reason += ", stubs among them; no reviewer looks at the change"
	}
	if d.Partial != "" {
		v.Reason += "; " + d.Partial
	}
	v.Output = loop.Excerpt(b.String())
	v.PromptText = "The change looks unfinished:\n\n" + v.Output +
		"\nFinish it. A remark that belongs there may stay when you say why in your last message."
	return v, nil
}
