package report

import (
	"cmp"
	"fmt"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Failure is the report of a run that a limit stopped, at most 65,000 bytes: what still fails, how to continue or to
// take over, and everything else folded. It says once what went wrong; the full output and the attempts are folded.
func Failure(v View) string {
	v = v.onPull()
	return v.fit(CommentLimit, func(v page) string {
		var p wording.Markdown
		p.Line("### %s", v.headline())
		p.Part(v.whatNow())
		p.Part(wording.Titled("Take over", block(advice{v.View}.reproduce())))
		p.Part(advice{v.View}.pushBack())
		p.Part(v.atCap())
		p.Part(wording.JoinedBy(" ", v.why(), v.whereKept()))
		p.Part(wording.Titled("Stories", v.storyList(v.most(20))))
		p.Part(v.lastFailure(true))
		p.Part(wording.Folded("What was tried, attempt by attempt",
			wording.JoinedBy("\n", v.steps(v.State.Failure()), v.errorHistory())))
		p.Part(wording.Folded("What to look at first", v.warned(v.most(20), 10)))
		p.Part(wording.Folded(gitTitle, v.gitNotes(v.State)))
		p.Part(wording.Folded("Verification", v.verification()))
		p.Part(v.cost())
		p.Part(v.footer())
		return p.String()
	})
}

// failedTask is the block for the task with this number.
func (v View) failedTask(n int, title string) string {
	s := v.State
	branch := v.branch(s.Kept())
	if v.local() {
		branch = v.name(s.Kept().Name(), 120)
	}
	stories := ""
	if tally := Tally(v.State); tally != "" {
		stories = "- Stories: " + tally + "\n"
	}
	return fmt.Sprintf("### Task %d: %s\n- Attempts: %s\n%s- Last gate: %s\n- Branch: %s\n- Error: %s\n- Stuck: %s\n"+
		"- Quality warnings: %d\n", n, cmp.Or(v.Text(title, 200), v.Text(s.Start.Task, 60)), attempts(s), stories,
		cmp.Or(v.name(lastGate(s), 80), "none"), cmp.Or(branch, "none"), cmp.Or(v.lastError(), "none"), wording.Stuck(s),
		len(warnings(s)))
}

func attempts(s loop.State) string { return s.Of(len(s.Iterations)) }

// lastGate is the check that the newest judged iteration failed, or its last one.
func lastGate(s loop.State) string {
	if f := s.Failure(); f != nil {
		return f.Check
	}
	if it := s.LastJudged(); it != nil && len(it.Verdicts) > 0 {
		return it.Verdicts[len(it.Verdicts)-1].Check
	}
	return ""
}

// lastError is what went wrong last, in words: the first place that the newest failure names, else its reason; why the
// run ended when that was no failure of the work.
func (v View) lastError() string {
	s := v.State
	if s.End != nil && !s.End.Outcome.Limited() && s.End.Outcome != loop.Done {
		return v.Text(s.End.Reason, 300)
	}
	f := s.Failure()
	switch {
	case f == nil && s.End != nil:
		return v.Text(s.End.Reason, 300)
	case f == nil:
		return ""
	case len(f.Findings) == 0:
		return v.Text(cmp.Or(f.Reason, f.Check+" failed"), 300)
	}
	first := f.Findings[0]
	said := v.Text(first.Message, 300)
	if at := v.place(first); at != "" {
		said += " (" + at + ")"
	}
	return said
}

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
	var failed, skipped []TaskResult
	for _, t := range tasks {
		switch {
		case t.done():
		case t.Skipped != "":
			skipped = append(skipped, t)
		default:
			failed = append(failed, t)
		}
	}
	var p wording.Markdown
	p.Line("# Ralph Loop Execution Summary")
	p.Part(fmt.Sprintf("## Completed: %d/%d tasks", len(tasks)-len(failed)-len(skipped), len(tasks)))
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
