package check

import (
	"context"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/diffscan"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/secret"
)

func TestCredentials(t *testing.T) {
	mark := secret.Mark{Rule: "aws-key", Sum: "0a1b2c3d"}
	other := secret.Mark{Rule: "aws-key", Sum: "99999999"}
	line := Line{"docs/sample.md", 7, "key = " + mark.String()}
	accept := func(c loop.Concern) []loop.Acceptance {
		return []loop.Acceptance{loop.Acceptance{Name: c.Name, By: "alice"}.Of(c)}
	}
	for _, row := range []struct {
		name         string
		now, before  []Line
		accepted     []loop.Acceptance
		pass         bool
		reason, tell string
		concerns     int
	}{
		{name: "nothing was taken out", pass: true},
		{name: "a mark", now: []Line{line}, reason: "taken out of the commit: docs/sample.md:7", tell: "placeholder",
			concerns: 1},
		{name: "the base has it", now: []Line{line}, before: []Line{line}, pass: true},
		{name: "the word alone", now: []Line{{"a.md", 1, "about " + secret.MarkWord}}, pass: true},
		{name: "accepted", now: []Line{line}, accepted: accept(CredentialConcern(line.File, mark)),
			reason: "has to be put back: docs/sample.md:7", tell: "Put there what belongs there"},
		{name: "accepted in advance", now: []Line{line}, accepted: []loop.Acceptance{{Name: "docs/sample.md:aws-key"}},
			reason: "has to be put back", tell: "Put there what belongs there"},
		{name: "another one was accepted", now: []Line{line}, accepted: accept(CredentialConcern(line.File, other)),
			reason: "taken out", tell: "placeholder", concerns: 1},
		{name: "the same in another file", now: []Line{line}, accepted: accept(CredentialConcern("b.md", mark)),
			reason: "taken out", tell: "placeholder", concerns: 1},
	} {
		changes := &diffscan.Changes{
			Names: func(context.Context, string, string) ([]string, error) { return nil, nil },
			Patch: func(context.Context, string, string) (string, bool, error) { return "+" + secret.MarkWord, true, nil },
		}
		c := &Credentials{Changes: changes, Find: func(_ context.Context, commit, word string) ([]Line, error) {
			if word != secret.MarkWord {
				t.Errorf("looked for %q", word)
			}
			if commit == "base" {
				return row.before, nil
			}
			return row.now, nil
		}}
		at := Input{State: loop.State{Start: loop.Start{Base: "base"}, Accepted: row.accepted},
			Iteration: loop.Iteration{N: 1, Commit: &loop.Commit{SHA: "tip"}}}
		v, err := c.Run(context.Background(), at)
		if err != nil || v.Pass != row.pass || !strings.Contains(v.Reason, row.reason) ||
			!strings.Contains(v.PromptText, row.tell) ||
			len(v.Concerns) != row.concerns {
			t.Errorf("%s: %+v %v", row.name, v, err)
		}
		if row.concerns > 0 && (v.Concerns[0].Name != "docs/sample.md:aws-key" || v.Concerns[0].Line != 7 ||
			!strings.Contains(v.Output, "accepts docs/sample.md:aws-key by its name")) {
			t.Errorf("%s: %+v %s", row.name, v.Concerns, v.Output)
		}
	}
}
