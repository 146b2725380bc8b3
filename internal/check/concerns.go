package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// byPeople lets what people have accepted pass: a verdict whose concerns are all accepted by name no longer blocks.
// Other objections have no concern and remain.
func byPeople(s loop.State, v *loop.Verdict) {
	if v.Pass || len(v.Concerns) == 0 {
		return
	}
	accepted, rest := s.AcceptedBy(*v)
	v.Accepted = accepted
	if rest {
		return
	}
	names := safetext.Map(accepted, func(a loop.Acceptance) string { return a.Name })
	v.Pass, v.PromptText = true, ""
	v.Reason = fmt.Sprintf("%s; accepted%s: %s", v.Reason, who(accepted), safetext.FirstN(names, 5))
}

// who names who has accepted, if that is known.
func who(accepted []loop.Acceptance) string {
	var by []string
	for _, a := range accepted {
		if a.By != "" && !slices.Contains(by, a.By) {
			by = append(by, a.By)
		}
	}
	if len(by) == 0 {
		return ""
	}
	return " by " + strings.Join(by, ", ")
}

// open are the concerns of an iteration that neither a person nor a reader of this iteration has accepted.
func open(at Input) []loop.Concern {
	list := at.State.Open(at.Verdicts)
	for _, v := range at.Verdicts {
		if v.Pass && v.Role != "" || v.Check == loop.ReviewCheck && v.Pass {
			list = loop.Unnamed(list, v.Accepted)
		}
	}
	return list
}

// Accepted says no while something about the change has to be accepted by its name, and no one has. No turn of an
// agent helps there: the run waits for a person. It stands last in the list.
type Accepted struct {
	// Now says whether no one else is left to ask; nil: no one ever is.
	Now func(at Input) bool
}

// Name is the check's name in verdicts.
func (Accepted) Name() string { return acceptedCheck }

// Severity is hard: what no one has accepted is not done.
func (Accepted) Severity() loop.Severity { return loop.Hard }

// Needs a claim with every hard check passed: before that, it is the agent's turn.
func (Accepted) Needs() Need { return HardGreen | Quiet }

// Run looks what is open.
func (a Accepted) Run(_ context.Context, at Input) (loop.Verdict, error) {
	list := open(at)
	if len(list) == 0 || a.Now != nil && !a.Now(at) && !at.Iteration.NothingToDo() {
		return loop.Verdict{Pass: true}, nil
	}
	v := loop.Verdict{Waits: true, Concerns: list}
	v.Reason = fmt.Sprintf("%s to be accepted by name: %s", safetext.Plural(len(list), "a finding needs", fmt.Sprintf("%d findings need", len(list))), safetext.FirstN(loop.Names(list), 5))
	if question := nothingToDo(at); question != "" && len(list) == 1 && list[0].AsItIs() {
		v.Reason = question
	} else if question != "" {
		v.Reason = question + "; " + v.Reason
	}
	var b strings.Builder
	for _, c := range list {
		fmt.Fprintf(&b, "- %s: %s\n", c.Name, c.Message)
	}
	v.Output = loop.Excerpt(b.String())
	return v, nil
}

// nothingToDo is the question whether nothing needs doing, with the reviewer's opinion; empty if there is no such
// question.
func nothingToDo(at Input) string {
	why, _ := at.Iteration.Turn.Claim.Nothing()
	if !at.Iteration.NothingToDo() {
		return ""
	}
	why = "Nothing to do? " + safetext.Shorten(why, 500)
	for _, v := range at.Verdicts {
		if v.Check == loop.ReviewCheck && v.Skipped == "" {
			why += " (the reviewer: " + safetext.Shorten(cmp.Or(v.Reason, "that is so"), 300) + ")"
		}
	}
	return why
}
