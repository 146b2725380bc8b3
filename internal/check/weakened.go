package check

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/diffscan"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Weakened fails when the run made it easier to pass: thresholds lowered, rules switched off, warnings silenced, code that
// asks whether it is tested. What was done to tests, and to what decides which of them run, is found by running them, in
// BaseTests. Whatever it finds must be accepted by name.
type Weakened struct {
	Changes *diffscan.Changes
	Hard    bool // only a person may accept what it finds
}

// Name is the check's name in verdicts.
func (*Weakened) Name() string { return WeakenedCheck }

// Severity is soft, unless the setting says hard: a reviewer may accept what is found.
func (w *Weakened) Severity() loop.Severity { return severity(w.Hard) }

// Needs a claim: on the way there, tests may be in pieces.
func (*Weakened) Needs() Need { return SomeWork | AClaim | ReadsOnly }

// Run looks through the change.
func (w *Weakened) Run(ctx context.Context, at Input) (loop.Verdict, error) {
	d, err := changeOf(ctx, w.Changes, at)
	if err != nil || d == nil {
		return loop.Verdict{Pass: true}, err
	}
	found := d.Weakenings()
	if len(found) == 0 {
		return loop.Verdict{Pass: true, Reason: d.Partial}, nil
	}
	v := loop.Verdict{Output: loop.Excerpt(listed(found))}
	for _, f := range found {
		addFinding(&v, loop.Finding{File: f.File, Line: f.Line, Level: "warning", Message: f.Message})
		v.Concerns = addConcern(v.Concerns,
			loop.Concern{Name: f.File, Kind: loop.Weakens, Message: f.Message, File: f.File, Line: f.Line})
	}
	v.Reason = "the change weakens what judges it: " + safetext.FirstN(loop.Names(v.Concerns), 5)
	if d.Partial != "" {
		v.Reason += "; " + d.Partial
	}
	v.PromptText = "What judges the work was made weaker:\n\n" + v.Output + "\nBring it back, and make the code pass it as it " +
		"was. If the task itself asks for this, explain why in your last message."
	return v, nil
}

func listed(found []diffscan.Weakening) string {
	var b strings.Builder
	for _, f := range found {
		where := shownName(f.File)
		if f.Line > 0 {
			where += fmt.Sprintf(":%d", f.Line)
		}
		fmt.Fprintf(&b, "%s: %s\n", where, f.Message)
	}
	return b.String()
}
