package report

import (
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// mostGitNotes is how many iterations are told of.
const mostGitNotes = 5

// gitNotes says what agents did with git that is not simply in a commit, and where what they made is kept: a list, the
// newest iterations of many.
func (v View) gitNotes() string {
	var p wording.Markdown
	told, hidden := 0, 0
	for i := len(v.State.Iterations) - 1; i >= 0; i-- {
		it := v.State.Iterations[i]
		if it.Commit == nil || it.Commit.Note == "" {
			continue
		}
		if told++; told > mostGitNotes {
			hidden++
			continue
		}
		p.Line("- iteration %d: %s", it.N, v.Text(it.Commit.Note, 400))
	}
	if hidden > 0 {
		p.Line("- %s before those, in the report", safetext.Count(hidden, "iteration"))
	}
	return p.String()
}

// gitTitle is the heading of gitNotes.
const gitTitle = "What happened in git"
