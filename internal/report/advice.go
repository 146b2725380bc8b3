package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// whatNow says what the bot needs, from whom, and how to stop it or to continue. No one is mentioned by it.
func (v View) whatNow() string { return labeled(advice{v}.whatNow()) }

// advice is a view that says what a person can do about its run.
type advice struct{ View }

// whatNow is that behind a name; text is empty if no one has to do anything.
func (v advice) whatNow() (name, text string) {
	name = "What now"
	s := v.State
	switch {
	case s.End == nil && v.local():
		return name, v.shown("ralph cancel") + " stops it; what is done so far is kept."
	case s.End == nil:
		return "To stop it", v.howToStop() + "; what is done so far is kept."
	case v.local():
		return name, v.whatNowLocally()
	case s.Start.DryRun:
		return name, "read the change in the report; nothing of it is on GitHub, and only a run without " + v.shown("dry_run") +
			" brings it there."
	}
	text = v.nextStep()
	if e := s.End.Outcome; !v.Ways.Work(event.Commented) && e != loop.Done && e != loop.Refused {
		text = wording.JoinedBy(" ", text, v.withoutComments())
	}
	return name, text
}

// howToStop lists what stops a running run. The run itself checks whether its issue is closed.
func (v advice) howToStop() string {
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
	return safetext.List(ways, "or")
}

// withoutComments says how to resume a run if no comment starts a job.
func (v advice) withoutComments() string {
	if v.Label != "" && v.State.Start.Issue != 0 && v.Ways.Work(event.Labeled) {
		return fmt.Sprintf("To resume the run, put the label %s on #%d again.", v.Code(v.Label, 60), v.State.Start.Issue)
	}
	return "To resume the run, run its job again."
}

// nextStep is what someone has to do after an outcome; "" when no one has.
func (v advice) nextStep() string {
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
func (v advice) resumes() string {
	switch s := v.State; {
	case s.Branch().Name() == "" && (s.End.Patch != "" || s.End.Outcome == loop.Failed):
		return "starts over, because no work is on GitHub"
	case s.End.Patch != "":
		return "resumes from the last commit on GitHub, without the work in " + v.shown(path.Base(s.End.Patch))
	}
	return "resumes from here"
}

func (v advice) afterDone() string {
	pull := v.pull()
	if pull == "" {
		return parts(v.Offer("retry <what is missing>", "asks for more"))
	}
	if v.here {
		pull = "this pull request"
	}
	if isClosed(v.State) {
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

// clash says that the work cannot be merged as it is, in which files, and what to do; "" when it can.
func (v advice) clash() string {
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
func (v advice) whileWaiting() string {
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
	case waitsForOthers(v.State) && v.Ways.Work(event.Built):
		return parts("nothing", "it resumes when they have finished", v.Offer("continue", "looks at once"))
	case waitsForOthers(v.State):
		return parts(v.Offer("continue", "resumes the run when they have finished"))
	case v.sweptLater():
		return parts("nothing", "the next sweep after that resumes it", v.Offer("continue", "tries at once"))
	case !s.End.Until.IsZero():
		return parts(v.Offer("continue", "resumes the run after that"))
	case waitsForLimit(v.State), waitsForReader(v.State), waitsForModel(v.State):
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

func (v advice) whatNowLocally() string {
	s := v.State
	switch s.End.Outcome {
	case loop.Done:
		if s.Branch().Name() == "" {
			return "read the change."
		}
		return "read the change and merge " + v.branch(s.Branch()) + "."
	case loop.Invalid:
		if last := s.Last(); last != nil && last.Unfixable() != nil {
			return "fix what is named above; then " + v.again() + " resumes with the same work."
		}
		return "fix what is named above, and run it again."
	case loop.Refused:
		return ""
	case loop.Waiting:
		if list := v.State.ToAccept(); len(list) > 0 {
			return v.howToAccept(list)
		}
		if s.Waits {
			return v.again() + " " + v.shown("--answer TEXT") + " answers, and resumes from here."
		}
	}
	return v.Resume()
}

// moreBudget says how a run continues whose budget is used up. What a run may spend is counted from its last request;
// what an issue may spend, from its first.
func (v advice) moreBudget() string {
	names, issue := usedUp(v.State, v.Limits)
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

// howToAccept says how a person answers, on GitHub or at a terminal.
func (v advice) howToAccept(list []loop.Concern) string {
	names := v.namesTyped(list)
	accepts, again, sends := "accepts "+safetext.ItThem(len(list))+", and the run resumes without another turn", "continue <what to change>",
		"sends the work back"
	all := "all"
	if i := slices.IndexFunc(list, loop.Concern.AsItIs); i >= 0 {
		all = ""
		accepts, again, sends = "ends the run without a change", "continue <what is missing>", "resumes the run"
		if list[i].Kind == loop.Unreviewed {
			accepts, again, sends = "accepts this commit without a review", "continue", "asks the reviewer again"
		}
	}
	if v.local() {
		instead := v.shown("--answer TEXT") + " instead sends the agent on with what is missing."
		if all != "" {
			instead = v.shown("--accept all") + " accepts every one."
		}
		return v.again() + " " + v.shown("--accept "+strings.Join(names, " --accept ")) + " " + accepts + "; " + instead
	}
	if all != "" {
		all = v.Offer("accept all", "accepts every one")
	}
	return parts(v.Offer("accept "+strings.Join(names, " "), accepts), all, v.Offer(again, sends))
}

// acceptWords are those of the command that accepts findings by their names.
func (w Words) acceptWords(list []loop.Concern) string {
	return "accept " + strings.Join(w.namesTyped(list), " ")
}

// namesTyped are the names of findings as someone can paste them.
func (w Words) namesTyped(list []loop.Concern) []string {
	return safetext.Map(list[:min(len(list), mostNames)], func(c loop.Concern) string { return wording.ShellWord(w.Clean(c.Name)) })
}

// pushBack says how commits of someone who has taken over get into the pull request.
func (v advice) pushBack() string {
	branch := wording.ShellWord(safetext.OneLine(v.Clean(v.State.Branch().Name())))
	if v.local() || v.State.Post.Pull == 0 || v.State.Branch().Name() == "" || len(branch) > wording.MaxURL {
		return ""
	}
	return "Commit there, and " + safetext.Code("git push origin HEAD:"+branch) + " brings it into the pull request."
}

// reproduce is one shell command that brings the work and its failure to a clone; "" when there is no branch.
func (v advice) reproduce() string {
	s := v.State
	name := s.Kept().Name()
	if s.Post.Pull != 0 && !v.local() { // whose commits are the pull request's
		name = s.Branch().Name()
	}
	branch := wording.ShellWord(safetext.OneLine(v.Clean(name)))
	if name == "" || len(branch) > wording.MaxURL { // git has none of that length
		return ""
	}
	line := "git fetch origin " + branch + " && git checkout FETCH_HEAD"
	if v.local() {
		line = "git checkout " + branch
	}
	commands := s.Start.Checks
	if f := s.Failure(); f != nil && slices.Contains(s.Start.Checks, f.Check) {
		commands = []string{f.Check}
	}
	if v.Dir != "" {
		line += " && cd " + wording.ShellWord(safetext.OneLine(v.Clean(v.Dir)))
	}
	for _, c := range commands {
		c = v.Clean(strings.TrimSpace(c))
		if len(line)+len(c) > 4<<10 {
			break
		}
		line += " && " + grouped(c)
	}
	return line
}

// block is a fence around commands; "" for none.
func block(commands string) string {
	if commands == "" {
		return ""
	}
	return safetext.Fence(commands)
}

// grouped keeps a command of several parts together.
func grouped(c string) string {
	if strings.ContainsAny(c, "\n;|&#") {
		return "sh -c " + wording.ShellWord(c)
	}
	return c
}

// maxAgain is how long a command that resumes a run may be.
const maxAgain = 200

// Resuming returns the command line that resumes the run of another one, quoted for a shell; "" without arguments, or
// if it is too long for a sentence. An answer is given once.
func Resuming(args []string) string {
	if len(args) == 0 {
		return ""
	}
	line := "ralph"
	for i, a := range args {
		switch {
		case a == "--fresh" || a == "--resume" || strings.HasPrefix(a, "--answer") || i > 0 && args[i-1] == "--answer":
		case wording.SafeWord.MatchString(a): // also a flag
			line += " " + a
		default:
			line += " " + wording.ShellWord(a)
		}
	}
	if line += " --resume"; utf8.RuneCountInString(line) > maxAgain || strings.Contains(line, "\n") {
		return ""
	}
	return line
}

// again is the command that resumes a run of the CLI, or says in words what it is.
func (v View) again() string {
	if again := safetext.OneLine(v.Clean(cmp.Or(v.Again, v.State.Start.Again))); again != "" {
		return v.shown(again)
	}
	return "the same command with " + v.shown("--resume")
}

// Resume is the way to resume a run of the CLI, or to start over.
func (v View) Resume() string {
	return v.again() + " resumes from here; with " + v.shown("--fresh") + " instead of " + v.shown("--resume") +
		" it starts over."
}
