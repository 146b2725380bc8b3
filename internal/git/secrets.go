package git

import (
	"errors"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
	"github.com/ralph-loop/ralph/internal/secret"
)

// leakRules say what no commit may hold.
type leakRules struct {
	known    *secret.Redactor // made when they are first asked
	accepted func(path string, m secret.Mark) bool
}

// secrets are the values that no commit may hold.
func (t *Tree) secrets() *secret.Redactor {
	if t.leaks.known == nil {
		t.leaks.known = secret.NewRedactor(t.o.Secrets)
	}
	return t.leaks.known
}

// refuseName fails when the name of the branch or of the task, which every ref of the run has, tells a secret, also in
// small letters: names are pushed before anybody looks at a commit.
func (t *Tree) refuseName() error {
	values := slices.Clone(t.o.Secrets)
	for _, value := range t.o.Secrets {
		values = append(values, strings.ToLower(value))
	}
	known := secret.NewRedactor(values)
	for _, name := range []string{t.branch, t.o.Task} {
		if _, tells := known.First(name); tells {
			return errors.New("the name of the branch or of the task holds a secret of the environment that ralph runs in; " +
				"give the file, the task or the branch another name")
		}
	}
	return nil
}

// harmless is a message of ours without what no message may have.
func (t *Tree) harmless(message string) string {
	message = safetext.WithoutSkips(safetext.Visible(message))
	for _, s := range slices.Backward(secret.Merged(t.secrets().All(message), secret.Looks(message))) {
		message = message[:s.From] + "[redacted]" + message[s.To:]
	}
	return message
}

// lineAt is the number of the line that a place of a text is in.
func lineAt(text string, at int) int { return 1 + strings.Count(text[:at], "\n") }
