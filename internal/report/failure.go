package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
)

// Failure is the report of a run that a limit stopped (B-21, S0-74…S0-77), at most 65,000 bytes.
func Failure(v View) string {
	return fit(commentLimit, func(r room) string {
		var p page
		p.line("# Ralph Loop Execution Summary")
		p.part(v.atCap(r))
		p.part("## Completed: 0/1 tasks")
		p.part("## Failed Tasks (require human attention):")
		p.part(v.failedTask(1, v.State.Start.Title))
		p.part(v.stopped())
		p.part(v.turnEnd(v.judged()))
		p.part(v.storySection(r))
		p.part(titled("Stories that are not done", v.unapproved(r)))
		p.part(titled("What was tried", v.tried(r)))
		p.part(v.verbatimFailure(r.lines))
		p.part(v.findings(r))
		p.part(titled("What to look at first", v.warned(r)))
		p.part(titled(gitTitle, v.gitNotes()))
		p.part(titled("Verification", v.verification(r.rows)))
		p.part(titled("Error history", v.errorHistory(r.history)))
		p.part(titled("Reproduce it locally", block(v.reproduce())))
		p.part(titled("Try again", v.tryAgain()))
		p.part(v.cost())
		p.part(v.footer())
		return p.String()
	})
}

// failedTask is the block of S0-77 for the task with this number.
func (v View) failedTask(n int, title string) string {
	s := v.State
	branch := v.branch(workBranch(s))
	if v.local() {
		branch = v.name(workBranch(s), 120)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "### Task %d: %s\n", n, or(v.text(title, 200), v.text(s.Start.Task, 60)))
	fmt.Fprintf(&b, "- Attempts: %s\n", attempts(s))
	if tally := v.tally(); tally != "" {
		fmt.Fprintf(&b, "- Stories: %s\n", tally)
	}
	fmt.Fprintf(&b, "- Last gate: %s\n", or(v.name(lastGate(s), 80), "none"))
	fmt.Fprintf(&b, "- Branch: %s\n", or(branch, "none"))
	fmt.Fprintf(&b, "- Error: %s\n", or(v.lastError(), "none"))
	fmt.Fprintf(&b, "- Stuck: %s\n", stuck(s))
	fmt.Fprintf(&b, "- Quality warnings: %d\n", len(warnings(s)))
	return b.String()
}

// stopped says which limit ended the run.
func (v View) stopped() string {
	if v.State.End == nil {
		return ""
	}
	return joinedBy(" ", "**Why it stopped:**", capital(sentence(v.text(v.State.End.Reason, 300))))
}

func attempts(s loop.State) string { return s.Of(len(s.Iterations)) }

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// workBranch is where the work of a run can be found.
func workBranch(s loop.State) string {
	if s.End != nil && s.End.FailureBranch != "" {
		return s.End.FailureBranch
	}
	return s.Start.Branch
}

// lastGate is the check that the newest judged iteration failed, or its last one.
func lastGate(s loop.State) string {
	if f := s.Failure(); f != nil {
		return f.Check
	}
	if it := (View{State: s}).judged(); it != nil && len(it.Verdicts) > 0 {
		return it.Verdicts[len(it.Verdicts)-1].Check
	}
	return ""
}

// lastError is what went wrong last, in words: the first place that the newest failure names, else its reason; why the run ended when
// that was no failure of the work.
func (v View) lastError() string {
	s := v.State
	if s.End != nil && !s.End.Outcome.Limited() && s.End.Outcome != loop.Done {
		return v.text(s.End.Reason, 300)
	}
	f := s.Failure()
	switch {
	case f == nil && s.End != nil:
		return v.text(s.End.Reason, 300)
	case f == nil:
		return ""
	case len(f.Findings) == 0:
		return v.text(or(f.Reason, f.Check+" failed"), 300)
	}
	first := f.Findings[0]
	said := v.text(first.Message, 300)
	if at := v.place(first); at != "" {
		said += " (" + at + ")"
	}
	return said
}

// warnings are the soft checks that failed in the newest judged iteration (S0-05).
func warnings(s loop.State) (soft []loop.Verdict) {
	if it := (View{State: s}).judged(); it != nil {
		for _, c := range it.Verdicts {
			if c.Severity == loop.Soft && c.Skipped == "" && !c.Pass {
				soft = append(soft, c)
			}
		}
	}
	return soft
}

// inWords is the table of the iterations with all that is known of each, and tried, folded (B-20).
func (v View) inWords(r room, table string) string {
	if len(v.State.Iterations) == 0 || r.remarks == 0 {
		return ""
	}
	return v.folded("Iteration by iteration, in words", joinedBy("\n", table, v.tried(r)))
}

// tried tells each attempt in one item: what changed, what failed, what the agent said.
func (v View) tried(r room) string {
	its := v.State.Iterations
	var b strings.Builder
	if hidden := len(its) - r.remarks; hidden > 0 {
		fmt.Fprintf(&b, "- %s not shown\n", count(hidden, "earlier attempt"))
		its = its[hidden:]
	}
	for _, it := range its {
		fmt.Fprintf(&b, "- **%d, %s:** %s; %s", it.N, v.who(it), or(changed(it), "nothing committed"), v.result(it))
		if f := it.Failure(); f != nil {
			why := f.Reason
			switch {
			case f.Check == loop.ReviewCheck && strings.TrimSpace(f.Output) != "":
				why = f.Output // what the reviewer wants
			case len(f.Findings) > 0 && !strings.Contains(why, f.Findings[0].Message):
				why = joinedBy(": ", why, joinedBy(" ", place(f.Findings[0]), said(f.Findings[0])))
			}
			if why = v.text(why, 300); why != "" {
				b.WriteString(" — " + why)
			}
		}
		if said := v.text(withoutTag(it.Turn.Text), 240); said != "" {
			b.WriteString("\n  The agent said: " + said)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// claimTag is the sign by which an agent claims to be done; it says nothing to people.
var claimTag = lazy(`(?is)<(response|promise)>.*?</(response|promise)>`)

func withoutTag(said string) string { return claimTag.ReplaceAllString(said, "") }

// verbatimFailure is the last failure's output as it came.
func (v View) verbatimFailure(lines int) string {
	f := v.State.Failure()
	if f == nil || lines == 0 || strings.TrimSpace(f.Output) == "" {
		return ""
	}
	return titled("The last failure", fmt.Sprintf("%s said:\n\n%s", v.code(f.Check, 80), v.fence(f.Output, lines)))
}

// reproduce is one shell command that brings the work and its failure to a clone.
func (v View) reproduce() string {
	s := v.State
	branch := shellWord(oneLine(v.clean(workBranch(s))))
	if len(branch) > maxURL { // git has none of that length
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
	for _, c := range commands {
		c = v.clean(strings.TrimSpace(c))
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
	return fenced(commands)
}

var safeWord = lazy(`^[A-Za-z0-9._/+=:,%-]+$`)

// shellWord quotes a name for a shell; git allows nearly everything in a branch.
func shellWord(s string) string {
	if safeWord.MatchString(s) && !strings.HasPrefix(s, "-") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// grouped keeps a command of several parts together.
func grouped(c string) string {
	switch {
	case strings.Contains(c, "\n"):
		return "sh -c " + shellWord(c)
	case strings.ContainsAny(c, ";|&"):
		return "(" + c + ")"
	}
	return c
}

func (v View) tryAgain() string {
	if v.local() {
		return fmt.Sprintf("- `%s … --resume` goes on from this failure, knowing what was tried\n- `%s … --fresh` starts over from the base\n", v.runs(), v.runs())
	}
	first := ""
	if v.State.End != nil && v.State.End.Outcome == loop.Budget {
		first = capital(v.moreBudget()) + "\n\n"
	}
	return first + "| comment | what it does |\n|---|---|\n" +
		row(v.command("retry"), "goes on from this failure, knowing what was tried") +
		row(v.command("retry <hint>"), "the same, and the agent reads your hint") +
		row(v.command("retry --fresh"), "starts over from the base; this branch is kept")
}
