package check

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/diffscan"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Diff says no when the agent claims to be done and the whole run has changed nothing: no file at all, or only files
// that ralph and agents keep for themselves. White space, empty files and modes of files are work when the task asks
// for that, or when a hard check that failed on the base commit passes now; otherwise they have to be accepted by name.
// For that Diff must stand after the commands in the list.
type Diff struct {
	Changes *diffscan.Changes // nil: only a tree like the base commit's is nothing
	// Kept names further files that are not work, as the setting doneFile.
	Kept []string
}

// Name is the check's name in verdicts.
func (Diff) Name() string { return loop.DiffCheck }

// Severity of an empty diff is hard; one that changes only the form of files is soft.
func (Diff) Severity() loop.Severity { return loop.Hard }

// Needs a claim: without one, nothing changed is nothing said.
func (Diff) Needs() Need { return SomeWork | AClaim | ReadsOnly }

// Run judges the diff from the base commit.
func (c Diff) Run(ctx context.Context, at Input) (loop.Verdict, error) {
	if at.Iteration.NothingToDo() {
		return nothingDone(at), nil
	}
	if at.Iteration.Commit.NoDiff {
		return loop.Verdict{
			Reason: "the agent claims to be done, but nothing has changed",
			PromptText: "The last attempt claimed to be done, but no file differs from where you began. Do the work, or say " +
				"why nothing needs doing: <response>NOTHING: reason</response>.",
		}, nil
	}
	d, err := changeOf(ctx, c.Changes, at)
	if err != nil || d == nil {
		return loop.Verdict{Pass: true}, err
	}
	amounts := d.Amounts(c.Kept)
	if len(amounts[diffscan.Work]) > 0 || len(d.Names) == 0 {
		return loop.Verdict{Pass: true}, nil
	}
	what := onlyThese(amounts)
	v := loop.Verdict{
		Reason: "the agent claims to be done, but " + what,
		PromptText: "The last attempt claimed to be done, but " + what +
			". Do the work, or say without the claim why nothing needs doing.",
	}
	if len(amounts) == 1 && len(amounts[diffscan.Kept]) > 0 {
		return v, nil
	}
	task, mended := at.State.Start.Title+"\n"+at.State.Start.Spec, repaired(at)
	v.Severity = loop.Soft
	for _, f := range forms {
		names := amounts[f.amount]
		switch {
		case len(names) == 0 || f.asked == nil:
		case mended || f.asked.MatchString(task):
			return loop.Verdict{Pass: true, Reason: what}, nil
		default:
			v.Concerns = addConcern(v.Concerns, loop.Concern{Name: f.name, Kind: loop.OnlyForm,
				Message: fmt.Sprintf("nothing but %s differs in %s, and the task does not ask for that", f.what,
					safetext.FirstN(names, 3))})
		}
	}
	return v, nil
}

// nothingDone asks a person whether nothing needs doing, as the agent says.
func nothingDone(at Input) loop.Verdict {
	why, _ := at.Iteration.Turn.Claim.Nothing()
	return loop.Verdict{Severity: loop.Soft, Reason: "nothing to do? " + why,
		Concerns: addConcern(nil, loop.Concern{Name: "nothing-to-do", Kind: loop.NothingToDo, Message: why})}
}

// form is a change that leaves the text of files as it is, or of files that do not count as work.
type form struct {
	amount     diffscan.Amount
	name, what string
	asked      *pattern // a task that asks for it; nil: none does
}

var forms = []form{
	{diffscan.Spaces, "white-space", "white space", asksForSpaces},
	{diffscan.Kept, "", "files that ralph or the agent keeps for itself", nil},
	{diffscan.Empty, "empty-files", "empty files", asksForFiles},
	{diffscan.Mode, "modes", "modes of files", asksForModes},
}

// wordsOf matches a text in which one of the words begins, whatever their case.
func wordsOf(list string) *pattern {
	return lazy(`(?i)(?:^|[^a-z0-9])(?:` + strings.Join(strings.Fields(list), "|") + `)`)
}

var (
	asksForSpaces = wordsOf(`(?:re)?format (?:go|rust|clang-|swift)?fmt\b prettier pretty black\b white[\s-]?space indent
		tabs?\b spaces?\b (?:blank|empty)\slines? line[\s-]?(?:end|break|feed) (?:CR)?LF\b CR\b new\s?lines?\b trailing
		EOL\b style\b lint \.?editorconfig \.?gitattributes align wrap tid(?:y|ies|ied) dos2unix`)
	asksForFiles = wordsOf(`empty\b placeholder marker\b package\b touch\b unused\b remove delete keep\b`)
	asksForModes = wordsOf(`executable chmod\b permission modes?\b \+x\b x[\s-]bit 0?[67][0-7]{2}\b
		(?:run|execute|call|start)(?:s|ned|d|ning)?\s(?:it\s|them\s)?directly`)
)

// onlyThese says in words that nothing has changed but what is not work.
func onlyThese(amounts map[diffscan.Amount][]string) string {
	var parts []string
	for _, f := range forms {
		if len(amounts[f.amount]) > 0 {
			parts = append(parts, f.what)
		}
	}
	return "only " + safetext.Listed(parts) + " changed"
}

// repaired reports whether a hard check that failed on the base commit passes now.
func repaired(at Input) bool {
	for _, before := range at.State.Baseline {
		for _, now := range at.Verdicts {
			if before.Check == now.Check && before.Skipped == "" && before.Blocks() && now.Skipped == "" && now.Pass &&
				now.Severity == loop.Hard {
				return true
			}
		}
	}
	return false
}
