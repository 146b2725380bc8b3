package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Failure is the report of a run that a limit stopped, at most 65,000 bytes: what still fails, how to continue or
// to take over, and everything else folded. What went wrong is told once; the full output and the attempts are there
// for who wants them.
func Failure(v View) string {
	v = v.onPull()
	return v.fit(CommentLimit, func(r room) string {
		var p wording.Markdown
		p.Line("### %s", v.headline())
		p.Part(v.whatNow())
		p.Part(wording.TitledBold("Take over", block(v.reproduce())))
		p.Part(v.pushBack())
		p.Part(v.atCap(r))
		p.Part(wording.JoinedBy(" ", v.why(), v.whereKept()))
		p.Part(v.storySection(r))
		p.Part(wording.Folded("What the reviews asked for", v.unapproved(r)))
		p.Part(v.whatItPrinted(r))
		p.Part(wording.Folded("What was tried, attempt by attempt",
			wording.JoinedBy("\n", v.tried(r, v.State.Failure()), v.errorHistory(r.history))))
		p.Part(wording.Folded("What to look at first", v.warned(r)))
		p.Part(wording.Folded(gitTitle, v.gitNotes()))
		p.Part(wording.Folded("Verification", v.verification(r.rows)))
		p.Part(v.cost())
		p.Part(v.footer())
		return p.String()
	})
}

// whatItPrinted is the last failure in full, folded: the further places that it names, what was printed, and how the
// turn ended.
func (v View) whatItPrinted(r room) string {
	it := v.Judged()
	if it == nil || it.Failure() == nil || r.lines == 0 {
		return ""
	}
	f := it.Failure()
	var p wording.Markdown
	p.Part(v.places(*f, 1))
	if strings.TrimSpace(f.Output) != "" {
		p.Part(v.fenceAt(f.Output, f.Findings, r.lines))
	}
	if p.Len() == 0 {
		return v.turnEnd(it)
	}
	head := fmt.Sprintf("<details><summary>What <code>%s</code> printed</summary>\n\n", v.html(f.Check, 60))
	return wording.JoinedBy("\n", v.turnEnd(it), head+p.String()+"\n</details>\n")
}

// failedTask is the block for the task with this number.
func (v View) failedTask(n int, title string) string {
	s := v.State
	branch := v.branch(s.Kept())
	if v.local() {
		branch = v.name(s.Kept().Name(), 120)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "### Task %d: %s\n", n, cmp.Or(v.Text(title, 200), v.Text(s.Start.Task, 60)))
	fmt.Fprintf(&b, "- Attempts: %s\n", attempts(s))
	if tally := v.Tally(); tally != "" {
		fmt.Fprintf(&b, "- Stories: %s\n", tally)
	}
	fmt.Fprintf(&b, "- Last gate: %s\n", cmp.Or(v.name(lastGate(s), 80), "none"))
	fmt.Fprintf(&b, "- Branch: %s\n", cmp.Or(branch, "none"))
	fmt.Fprintf(&b, "- Error: %s\n", cmp.Or(v.lastError(), "none"))
	fmt.Fprintf(&b, "- Stuck: %s\n", wording.Stuck(s))
	fmt.Fprintf(&b, "- Quality warnings: %d\n", len(warnings(s)))
	return b.String()
}

func attempts(s loop.State) string { return s.Of(len(s.Iterations)) }

// lastGate is the check that the newest judged iteration failed, or its last one.
func lastGate(s loop.State) string {
	if f := s.Failure(); f != nil {
		return f.Check
	}
	if it := (View{State: s}).Judged(); it != nil && len(it.Verdicts) > 0 {
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

// inWords is the table of the iterations with all that is known of each, and tried, folded.
func (v View) inWords(r room, table string) string {
	if len(v.State.Iterations) == 0 || r.remarks == 0 {
		return ""
	}
	return wording.Folded("Iteration by iteration, in words", wording.JoinedBy("\n", table, v.tried(r, nil)))
}

// tried tells each attempt in one item: what changed, what failed, what the agent said. A failure that came again is
// told once; told is one that is above already.
func (v View) tried(r room, told *loop.Verdict) string {
	its := v.State.Iterations
	var b strings.Builder
	if hidden := len(its) - r.remarks; hidden > 0 {
		fmt.Fprintf(&b, "- %s not shown\n", safetext.Count(hidden, "earlier attempt"))
		its = its[hidden:]
	}
	seen := map[string]string{}
	if told != nil && told.Hash != "" {
		seen[told.Hash] = "the failure above"
	}
	for _, it := range its {
		fmt.Fprintf(&b, "- **%d, %s:** %s; %s", it.N, v.who(it), cmp.Or(wording.Changed(it), "nothing committed"),
			v.result(it))
		if why := v.whyFailed(it, seen); why != "" {
			b.WriteString(" — " + why)
		}
		if said := v.Text(wording.Spoken(it), 240); said != "" {
			b.WriteString("\n  The agent said: " + said)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// whyFailed is why an iteration failed, or which of those that were seen before it failed by again.
func (v View) whyFailed(it *loop.Iteration, seen map[string]string) string {
	f := it.Failure()
	if f == nil {
		return ""
	}
	if before, again := seen[f.Hash]; again && f.Hash != "" {
		return before
	}
	seen[f.Hash] = fmt.Sprintf("the same failure as in %d", it.N)
	why := f.Reason
	switch {
	case f.Check == loop.ReviewCheck && strings.TrimSpace(f.Output) != "":
		why = f.Output // what the reviewer wants
	case len(f.Findings) > 0 && !strings.Contains(why, f.Findings[0].Message):
		why = wording.JoinedBy(": ", why, wording.JoinedBy(" ", wording.Place(f.Findings[0]), wording.Said(f.Findings[0])))
	}
	return v.Text(why, 300)
}
