package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/diffscan"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/secret"
)

// credentialsCheck is the name of the check of credentials in verdicts.
const credentialsCheck = "credentials"

// Credentials says no while the change has marks in it that stand where something that looked like a credential was
// taken out of a commit. The agent puts a placeholder there, or a person accepts what it was: then the agent puts that
// back. It judges every iteration, claimed or not, since nothing but the mark is in the commits.
type Credentials struct {
	Changes *diffscan.Changes
	// Find lists the lines of a commit's text files that have a word in them.
	Find func(ctx context.Context, commit, word string) ([]Line, error)
}

// Line is a line of a file.
type Line struct {
	File   string // from the top of the repository; slashes
	Number int    // 1-based
	Text   string
}

// CredentialConcern is what has to be accepted of something that looks like a credential, in the file of a path.
func CredentialConcern(path string, m secret.Mark) loop.Concern {
	return loop.Concern{Name: loop.ConcernName(m.Name(path)), Kind: loop.LooksSecret, Message: m.Says(), File: path}
}

// Name is the check's name in verdicts.
func (*Credentials) Name() string { return credentialsCheck }

// Severity is hard: only a person may accept what was found.
func (*Credentials) Severity() loop.Severity { return loop.Hard }

// Needs nothing: a broken turn leaves marks, too.
func (*Credentials) Needs() Need { return Quiet }

// Run looks for marks that the base commit has not.
func (c *Credentials) Run(ctx context.Context, at Input) (loop.Verdict, error) {
	commit := at.Iteration.Commit
	if c.Find == nil || commit == nil || commit.SHA == "" || commit.NoDiff || at.State.Start.Base == "" {
		return loop.Verdict{Pass: true}, nil
	}
	change, err := c.Changes.Between(ctx, at.base(), commit.SHA)
	if err != nil || !change.Marked {
		return loop.Verdict{Pass: true}, err
	}
	lines, err := c.Find(ctx, commit.SHA, secret.MarkWord)
	if err != nil || len(lines) == 0 {
		return loop.Verdict{Pass: true}, err
	}
	before, err := c.Find(ctx, at.base(), secret.MarkWord)
	if err != nil {
		return loop.Verdict{}, err
	}
	had := map[Line]bool{}
	for _, b := range before {
		had[Line{File: b.File, Text: b.Text}] = true
	}
	lines = slices.DeleteFunc(lines, func(l Line) bool {
		return len(secret.Marks(l.Text)) == 0 || had[Line{File: l.File, Text: l.Text}]
	})
	if len(lines) == 0 {
		return loop.Verdict{Pass: true}, nil
	}
	return c.verdict(at.State, lines), nil
}

func (c *Credentials) verdict(s loop.State, lines []Line) loop.Verdict {
	var v loop.Verdict
	var open, back []string
	for _, l := range lines {
		for _, m := range secret.Marks(l.Text) {
			concern := CredentialConcern(l.File, m)
			concern.Line = l.Number
			place := fmt.Sprintf("%s:%d", shownName(l.File), l.Number)
			if s.HasAccepted(concern) {
				back = append(back, place)
				continue
			}
			open = append(open, place)
			v.Concerns = addConcern(v.Concerns, concern)
			addFinding(&v, loop.Finding{File: l.File, Line: l.Number, Rule: m.Rule,
				Message: safetext.UpperFirst(m.Says()) + "; if it is a sample, accept it as " + concern.Name})
		}
	}
	if len(open) == 0 {
		v.Reason = "what a person has accepted has to be put back: " + safetext.FirstN(back, 3)
		v.PromptText = fmt.Sprintf("What stood where a mark with %s is now looked like a credential. A maintainer has accepted "+
			"it as a sample: %s. Put there what belongs there.", secret.MarkWord, safetext.FirstN(back, 20))
		return v
	}
	v.Reason = "something that looks like a credential was taken out of the commit: " + safetext.FirstN(open, 3)
	v.PromptText = fmt.Sprintf("What you wrote here looks like a real credential, and was taken out of the commit: %s. A mark "+
		"with %s is there now. Read the value from the environment, or write a placeholder that says that it is one, "+
		"such as \"example\". Nothing is done before that.", safetext.FirstN(open, 20), secret.MarkWord)
	var names strings.Builder
	for _, concern := range v.Concerns {
		fmt.Fprintf(&names, "%s:%d: %s. If it is a sample, a maintainer accepts %s by its name.\n", concern.File,
			concern.Line, concern.Message, concern.Name)
	}
	v.Output = loop.Excerpt(names.String())
	return v
}
