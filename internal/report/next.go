package report

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

const whatNowIs = "**What now:** "

// whatNow says what the bot needs, from whom, and how to stop it or to continue. No one is mentioned by it.
func (v View) whatNow() string {
	s := v.State
	switch {
	case s.End == nil && v.local():
		return ""
	case s.End == nil:
		return "**To stop it:** " + v.howToStop() + "; what is done so far is kept."
	case v.local():
		return v.whatNowLocally()
	case s.Start.DryRun:
		return whatNowIs + "read the change in the report; nothing of it is on GitHub, and only a run without " +
			v.shown("dry_run") + " brings it there."
	}
	next := v.nextStep()
	if e := s.End.Outcome; !v.Ways.Work(event.Commented) && e != loop.Done && e != loop.Refused {
		next = wording.JoinedBy(" ", next, v.withoutComments())
	}
	if next != "" {
		return whatNowIs + next
	}
	return ""
}

// howToStop lists what stops a running run. The run itself checks whether its issue is closed.
func (v View) howToStop() string {
	var ways []string
	if v.Ways.Work(event.Commented) {
		ways = append(ways, "comment "+v.Command("stop"))
	}
	if v.State.Start.Issue != 0 {
		ways = append(ways, "close the issue")
	}
	if v.Running != "" {
		ways = append(ways, "take the label "+v.Code(v.Running, 60)+" off")
	}
	if len(ways) == 0 {
		return "cancel the workflow run"
	}
	last := len(ways) - 1
	return wording.JoinedBy(", or ", strings.Join(ways[:last], ", "), ways[last])
}

// withoutComments says how to resume a run if no comment starts a job.
func (v View) withoutComments() string {
	if v.Label != "" && v.State.Start.Issue != 0 && v.Ways.Work(event.Labeled) {
		return fmt.Sprintf("To resume the run, put the label %s on #%d again.", v.Code(v.Label, 60), v.State.Start.Issue)
	}
	return "To resume the run, run its job again."
}

// nextStep is what someone has to do after an outcome; "" when no one has.
func (v View) nextStep() string {
	s := v.State
	switch s.End.Outcome {
	case loop.Done:
		return v.afterDone()
	case loop.Invalid:
		if last := s.Last(); last != nil && last.Unfixable() != nil {
			return parts(fixIt, v.Offer("retry", "resumes with the same work"))
		}
		return parts(fixIt, v.Offer("run", "starts the run"))
	case loop.Failed:
		return parts(fixIt, v.Offer("retry", v.resumes()))
	case loop.Waiting:
		return v.whileWaiting()
	case loop.Interrupted:
		return parts(v.Offer("continue", v.resumes()), v.Offer("retry --fresh", "starts over"))
	case loop.Budget:
		return v.moreBudget()
	case loop.Refused:
		return ""
	}
	accept := ""
	if found := s.Findings(); len(found) > 0 {
		accept = v.Offer(v.acceptWords(found), "accepts what was found, by name")
	}
	return parts(wording.JoinedBy(", or ", v.Offer("retry <hint>", v.resumes()+" with your hint"), "take the work over"),
		v.Offer("retry --fresh", "starts over"), accept)
}

const fixIt = "fix what is named above"

// resumes is the clause on the starting point of an ended run.
func (v View) resumes() string {
	switch s := v.State; {
	case s.Branch().Name() == "" && (s.End.Patch != "" || s.End.Outcome == loop.Failed):
		return "starts over, because no work is on GitHub"
	case s.End.Patch != "":
		return "resumes from the last commit on GitHub, without the work in " + v.shown(path.Base(s.End.Patch))
	}
	return "resumes from here"
}

func (v View) afterDone() string {
	pull := v.pull()
	if pull == "" {
		return parts(v.Offer("retry <what is missing>", "asks for more"))
	}
	if v.here {
		pull = "this pull request"
	}
	if v.closed() {
		return pull + " is closed: reopen it and merge it, or leave it so."
	}
	if clash := v.clash(); clash != "" {
		return clash
	}
	var ways []string
	if v.Ways.Work(event.Reviewed) {
		ways = append(ways, "request changes in a review")
	}
	if v.Ways.Work(event.Commented) {
		ways = append(ways, "comment "+v.Command("fix")+" or "+v.Command("retry <what to change>"))
	}
	if len(ways) == 0 {
		return "review " + pull + " and merge it."
	}
	return "review " + pull + " and merge it. To send it back, " + strings.Join(ways, ", or ") + "."
}

// closed reports whether someone has closed the pull request.
func (v View) closed() bool {
	closed := v.State.Post.Closed
	return closed != nil && *closed
}

// mergeable reports whether nothing is in the way of a merge that is known here.
func (v View) mergeable() bool { return !v.closed() && len(v.State.End.Conflicts) == 0 }

// clash says that the work cannot be merged as it is, in which files, and what to do; "" when it can.
func (v View) clash() string {
	s := v.State
	if len(s.End.Conflicts) == 0 {
		return ""
	}
	onto := v.Code(s.Start.BaseBranch, 120)
	return onto + " has moved, and merging it conflicts in " + v.Text(safetext.FirstN(s.End.Conflicts, mostNames), 300) +
		". " + parts("Merge "+onto+" into "+v.branch(s.Branch())+" and push",
		v.Offer("retry --fresh", "has it done again from "+onto+" as it is now"))
}

// sweptLater reports whether a sweep resumes a run that waits for a time.
func (v View) sweptLater() bool { return !v.State.End.Until.IsZero() && v.Ways.Work(event.Scheduled) }

// whileWaiting says what ends a wait: time, other workflows, or someone's answer.
func (v View) whileWaiting() string {
	s := v.State
	switch {
	case s.End.ForPull:
		sweep := ""
		if v.Ways.Work(event.Scheduled) {
			sweep = "the next sweep resumes it"
		}
		return wording.Sentence(v.Text(s.End.Reason, 400)) + " Then " + parts(wording.JoinedBy(", or ",
			v.Offer("continue", "goes on"), sweep), "the agent is not run again")
	case len(v.State.ToAccept()) > 0:
		return v.howToAccept(v.State.ToAccept())
	case v.State.Unable > 0 && s.End.Until.IsZero():
		return parts("fix what it names", v.Offer("continue", "tries again"))
	case v.waitsForOthers() && v.Ways.Work(event.Built):
		return parts("nothing", "it resumes when they have finished", v.Offer("continue", "looks at once"))
	case v.waitsForOthers():
		return parts(v.Offer("continue", "resumes the run when they have finished"))
	case v.sweptLater():
		return parts("nothing", "the next sweep after that resumes it", v.Offer("continue", "tries at once"))
	case !s.End.Until.IsZero():
		return parts(v.Offer("continue", "resumes the run after that"))
	case v.waitsForLimit(), v.waitsForReader(), v.waitsForModel():
		return parts(v.Offer("continue", "tries again"))
	}
	if !v.Ways.Work(event.Commented) {
		return ""
	}
	who := "answer"
	if asked := v.Code(s.Start.Asked, 60); asked != "" {
		who = asked + ", please answer"
	}
	return who + " with " + v.Command("continue <answer>") + "."
}

func (v View) whatNowLocally() string {
	s := v.State
	switch s.End.Outcome {
	case loop.Done:
		if s.Branch().Name() == "" {
			return whatNowIs + "read the change."
		}
		return whatNowIs + "read the change and merge " + v.branch(s.Branch()) + "."
	case loop.Invalid:
		if last := s.Last(); last != nil && last.Unfixable() != nil {
			return whatNowIs + "fix what is named above; then " + v.again() + " resumes with the same work."
		}
		return whatNowIs + "fix what is named above, and run it again."
	case loop.Refused:
		return ""
	case loop.Waiting:
		if list := v.State.ToAccept(); len(list) > 0 {
			return whatNowIs + v.plainly(v.howToAccept(list))
		}
		if s.Waits {
			return whatNowIs + v.plainly(v.again()+" "+v.shown("--answer TEXT")+" answers, and resumes from here.")
		}
	}
	next := v.again() + " resumes from here; with `--fresh` instead of `--resume` it starts over."
	return whatNowIs + v.plainly(next)
}

// plainly is a sentence of ours without marks of code where no one reads Markdown.
func (v View) plainly(text string) string {
	if v.plain {
		return strings.ReplaceAll(text, "`", "")
	}
	return text
}

// moreBudget says how a run continues whose budget is used up. What a run may spend counts again each time it is asked
// for; what an issue may does not.
func (v View) moreBudget() string {
	names, issue := v.usedUp()
	if issue {
		return parts("all that this issue may cost is spent. Raise "+v.shown("max_cost_usd_per_issue"),
			v.Offer("retry", "then "+v.resumes()))
	}
	for i, n := range names {
		names[i] = v.shown(n)
	}
	return parts(v.Offer("retry", v.resumes()+" and may spend as much again"),
		"raise "+cmp.Or(strings.Join(names, " and "), "the limit")+" to let a run spend more")
}
