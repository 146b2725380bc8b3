package report

import (
	"cmp"
	"fmt"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// TaskResult is what happened to one task of a list. N is its place in the list, from 1. Skipped says why it did not run,
// in a sentence; of View only Redact and Phrase count then.
type TaskResult struct {
	N         int
	ID, Title string
	View      View
	Skipped   string
}

func (t TaskResult) done() bool {
	return t.Skipped == "" && t.View.State.End != nil && t.View.State.End.Outcome == loop.Done
}

// ExecutionSummary is the report of a list of tasks: how many are done, and each of the others with what
// a person has to know of it. A task that never ran, because one that it needs failed, is not among the failed ones.
// all is what holds all that is done; nil: nothing does.
func ExecutionSummary(tasks []TaskResult, all *AllResult) string {
	var done int
	var failed, skipped []TaskResult
	for _, t := range tasks {
		switch {
		case t.done():
			done++
		case t.Skipped != "":
			skipped = append(skipped, t)
		default:
			failed = append(failed, t)
		}
	}
	var p wording.Markdown
	p.Line("# Ralph Loop Execution Summary")
	p.Part(fmt.Sprintf("## Completed: %d/%d tasks", done, len(tasks)))
	if len(failed) > 0 {
		p.Part("## Failed Tasks (require human attention):")
	}
	for _, t := range failed {
		p.Part(t.View.failedTask(t.N, cmp.Or(t.Title, t.ID)))
	}
	if len(skipped) > 0 {
		p.Part("## Skipped Tasks (not run):")
		p.WriteString("\n")
	}
	for _, t := range skipped {
		p.Line("- Task %d: %s — %s", t.N, cmp.Or(t.View.Text(t.Title, 200), t.View.Text(t.ID, 60)),
			t.View.Text(t.Skipped, 300))
	}
	if all != nil {
		allDone(&p, *all)
	}
	return p.String()
}

// AllResult is what happened to all that is done of a list, together on one branch. Of View only Redact and Phrase count.
type AllResult struct {
	View   View
	Branch string
	Commit string // empty: it could not be put together
	Tasks  []string
	Done   bool // the checks have passed on it
	Reason string
}

// allDone reports it.
func allDone(p *wording.Markdown, a AllResult) {
	p.Part("## All that is done: " + a.View.Code(a.Branch, 100))
	p.WriteString("\n")
	p.Line("- Tasks: %s", a.View.Text(safetext.FirstN(a.Tasks, mostNames), 300))
	switch {
	case a.Commit == "":
		p.Line("- Not made: %s", a.View.Text(a.Reason, 500))
	case a.Done:
		p.Line("- Checks: passed on `%.12s`", a.Commit)
	default:
		p.Line("- Checks: not passed on `%.12s`: %s", a.Commit, a.View.Text(a.Reason, 500))
	}
}

// ConflictLine says which tasks do not go together.
func ConflictLine(tasks []string) string {
	switch n := len(tasks); n {
	case 0:
		return "which tasks do not go together is not known"
	case 1:
		return tasks[0] + " alone makes it fail there"
	default:
		return safetext.Listed(tasks) + " do not go together, though each passed alone"
	}
}
