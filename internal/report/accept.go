package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// howToAccept says how a person answers, on GitHub or at a terminal.
func (v View) howToAccept(list []loop.Concern) string {
	names := v.namesTyped(list)
	if i := slices.IndexFunc(list, loop.Concern.AsItIs); i >= 0 {
		return v.howToAnswer(list[i], names)
	}
	if v.local() {
		return v.again() + " " + v.shown("--accept "+strings.Join(names, " --accept ")) + " accepts " + these(list) +
			", " + v.shown("--accept all") + " every one; with `--fresh` instead of `--resume` it starts over."
	}
	return parts("look at "+these(list), v.Offer(v.acceptWords(list), "accepts by name, and the run resumes without another turn"),
		v.Offer("accept all", "accepts every one"), v.Offer("continue <what to change>", "sends the work back"))
}

// howToAnswer says what a person does about a concern that no one else accepts.
func (v View) howToAnswer(c loop.Concern, names []string) string {
	accepts := "ends the run without a change"
	again, sends := "continue <what is missing>", "resumes the run"
	if c.Kind == loop.Unreviewed {
		accepts = "accepts this commit without a review"
		again, sends = "continue", "asks the reviewer again"
	}
	if v.local() {
		return v.again() + " " + v.shown("--accept "+strings.Join(names, " --accept ")) + " " + accepts + "; " +
			v.shown("--answer TEXT") + " instead sends the agent on with what is missing."
	}
	return parts(v.Offer("accept "+strings.Join(names, " "), accepts), v.Offer(again, sends))
}

// acceptWords are those of the command that accepts findings by their names.
func (v View) acceptWords(list []loop.Concern) string {
	return "accept " + strings.Join(v.namesTyped(list), " ")
}

// namesTyped are the names of findings as someone can paste them.
func (v View) namesTyped(list []loop.Concern) []string {
	return safetext.Map(list[:min(len(list), mostNames)], func(c loop.Concern) string { return nameTyped(v.Clean(c.Name)) })
}

func these(list []loop.Concern) string {
	if len(list) == 1 {
		return "it"
	}
	return "them"
}

// nameTyped is a name as someone can paste it into a comment or a shell.
func nameTyped(name string) string {
	if wording.SafeWord.MatchString(name) {
		return name
	}
	return wording.ShellWord(name)
}

// askedToAccept lists the findings that wait for an answer.
func (v View) askedToAccept(r room) string {
	list := v.State.ToAccept()
	if len(list) == 0 || r.remarks == 0 {
		return ""
	}
	var b strings.Builder
	for i, c := range list {
		if i == max(r.remarks, 1) {
			fmt.Fprintf(&b, "- %d more\n", len(list)-i)
			break
		}
		b.WriteString("- " + v.Code(c.Name, 120) + v.whatOf(c) + "\n")
	}
	return b.String()
}

// whatOf is what a finding says: where, and the sentence.
func (v View) whatOf(c loop.Concern) string {
	text := ""
	if c.File != "" && loop.ConcernName(c.File) != c.Name {
		text = " in " + v.Code(wording.Place(loop.Finding{File: c.File, Line: c.Line}), 120)
	}
	if message := v.Text(c.Message, 300); message != "" {
		text += ": " + message
	}
	return text
}

// accepted lists what was accepted by name in the newest attempt, with who did and why: whoever merges looks there
// first.
func (v View) accepted(r room) string {
	it := v.Judged()
	if it == nil || r.remarks == 0 {
		return ""
	}
	concerns := map[string]loop.Concern{}
	for _, c := range it.Verdicts {
		for _, one := range c.Concerns {
			concerns[one.Name] = one
		}
	}
	var b strings.Builder
	taken := v.State.Taken()
	for _, a := range taken[:min(len(taken), r.remarks)] {
		b.WriteString("- " + v.taken(a) + v.whatOf(concerns[a.Name]) + v.because(a) + "\n")
	}
	if n := len(taken) - r.remarks; n > 0 {
		b.WriteString("- " + safetext.Count(n, "more accepted finding") + "\n")
	}
	return b.String()
}

// taken says who has accepted what.
func (v View) taken(a loop.Acceptance) string {
	return "accepted by " + v.Text(cmp.Or(accepter(a.By), "whoever ran it"), 60) + ": " + v.Code(a.Name, 120)
}

func (v View) because(a loop.Acceptance) string {
	if reason := v.Text(a.Reason, 300); reason != "" {
		return " (" + reason + ")"
	}
	return ""
}

// takenInPlain is what was accepted by name, for the line of a console.
func (v View) takenInPlain() string {
	var parts []string
	list := v.State.Taken()
	for _, a := range list[:min(len(list), mostNames)] {
		parts = append(parts, v.taken(a)+v.because(a))
	}
	if n := len(list) - mostNames; n > 0 {
		parts = append(parts, safetext.Count(n, "more finding"))
	}
	return strings.Join(parts, "; ")
}

// accepter is who has accepted a finding: a role of the run, or a person.
func accepter(by string) string {
	switch by {
	case loop.ReviewCheck:
		return "the reviewer"
	case "qa":
		return "qa"
	case "":
		return ""
	}
	return by
}
