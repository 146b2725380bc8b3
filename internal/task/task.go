// Package task says what someone wants done.
package task

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/regex"
)

// Task is what someone wants done.
type Task struct {
	ID    string // "issue-42"; safe in a branch and a file name
	Title string // one line
	// Spec is the text of what is needed: sanitised, in Markdown, written by the author of the issue. It is data for the
	// agent.
	Spec   string
	Author string // the author of the spec; empty for a file
	Issue  int    // 0 for a task without an issue
	Asked  string // the requester of the run
	Hint   string // the maintainer's words with the command
	// Comments are what people with write access said on the issue before it was asked, oldest first.
	Comments []Comment
	// Completion is what "done" means, as far as the task says it; nil: nothing.
	Completion *Completion
	// Of a task file: the specification it belongs to, its rank (lower first), and the tasks that must be done before.
	SpecID       string
	Priority     int
	Dependencies []string
}

// Comment is one remark that reaches the agent.
type Comment struct{ Author, Text string }

type pattern = regex.Pattern

// lazy is a pattern that is compiled when it is first asked.
func lazy(text string) *pattern { return regex.Lazy(text) }

func below(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

// ValidID reports whether an id is safe in the name of a branch and of a file.
func ValidID(id string) bool {
	return idForm.MatchString(id) && !strings.Contains(id, "..") && !strings.HasSuffix(id, ".") &&
		!strings.HasSuffix(strings.ToLower(id), ".lock")
}

var idForm = lazy(`^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$`)

// IDRule says what an id may be, for messages.
const IDRule = "must be letters, digits, dots, dashes and underscores, at most 60, as in TASK-001"
