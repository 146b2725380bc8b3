package git

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// TakenError says that another process holds the run: its lease reached the remote first.
type TakenError struct{ Task string }

func (e *TakenError) Error() string {
	return fmt.Sprintf("%s is already running: another process has just taken it", e.Task)
}

// ConflictError says that the run's branch moved on the remote and our commits do not go on top of it.
type ConflictError struct{ Branch, Why string }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("the branch %s was changed by someone else during the run, and %s; resolve this by hand, then retry", e.Branch, e.Why)
}

// ContentError says that the remote does not take what the commits hold: a file that is too large, a secret, a workflow,
// a name or a message that a rule forbids. Commits made again without that are taken.
type ContentError struct{ URL, Words string }

func (e *ContentError) Error() string {
	return fmt.Sprintf("%s refused the push: %s", e.URL, safetext.OneLine(e.Words))
}

// branchError says that the remote has no branch of a name that is asked for, or cannot have one.
type branchError struct{ said string }

func badBranch(format string, args ...any) error { return &branchError{fmt.Sprintf(format, args...)} }

func (e *branchError) Error() string { return e.said }

// Invalid says that it is a mistake in what is asked for.
func (e *branchError) Invalid() bool { return true }

// AccessError says that the remote did not take the credential.
type AccessError struct{ URL, Detail string }

func (e *AccessError) Error() string {
	return fmt.Sprintf("%s refused access: check that the token is valid and may write the repository's contents (%s)",
		e.URL, e.Detail)
}

// SigningError says that the user's git signs commits and could not sign one.
type SigningError struct{ Detail string }

func (e *SigningError) Error() string {
	return fmt.Sprintf("git could not sign the commit: %s; give git a key that it can sign with, or set commit.gpgsign "+
		"to false", e.Detail)
}

// Invalid says that it is a mistake in the settings of git.
func (e *SigningError) Invalid() bool { return true }

// commandError is a git command that failed.
type commandError struct {
	Command string // "push"
	Exit    int
	Stderr  string
	Stdout  string
}

func (e *commandError) Error() string {
	return fmt.Sprintf("git %s ended with exit code %d: %s", e.Command, e.Exit, lastLine(e.Stderr))
}
