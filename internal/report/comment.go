package report

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Marker is the line by which a run's own comment is found again. It proves nothing by itself: whoever looks for it
// checks the comment's author too.
func Marker(run string) string {
	return "<!-- ralph:run:" + wording.MarkerName(run) + " -->"
}

// Comment is the run's sticky comment: what the run came to and why in one line, or what happens now, and
// what is needed from whom; then a table that fits a phone, and the rest folded. Its first line is Marker(run); it
// never has more than 65,000 bytes.
func Comment(v View) string {
	v = v.onPull()
	return fit(CommentLimit, func(r room) string {
		var p wording.Markdown
		p.Line("%s", Marker(v.State.Start.Run))
		p.WriteString("### " + v.headline() + "\n")
		v.stands(&p, r)
		p.Part(v.short(r.rows))
		if v.State.End == nil || !v.here { // the description of a pull request has it in the end
			p.Part(wording.Titled("What to look at first", v.warned(r)))
		}
		p.Part(v.failureBeside(r.lines))
		p.Part(wording.Folded("What the review asked for", v.feedback(r)))
		p.Part(v.inWords(r, v.iterations(r.rows, false)))
		p.Part(wording.Folded(gitTitle, v.gitNotes()))
		if v.State.End == nil {
			p.Part(v.checkList(r.checks))
		}
		p.Part(v.baseline())
		p.Part(v.footer())
		return p.String()
	})
}

// failureBeside is the last failure, folded; where a failure report follows that has it, "".
func (v View) failureBeside(lines int) string {
	if v.stoppedShort() && !v.local() {
		return ""
	}
	return v.lastFailure(lines)
}

// stands is what stands below a headline: what happens or what is needed, where the work is, what it has cost, and how
// far its stories are.
func (v View) stands(p *wording.Markdown, r room) {
	v.below(p, r)
	p.Part(v.silent())
	p.Part(v.cost())
	p.Part(v.stories(r))
}

// below is what to do next and where the work is, right below a headline; of a run that goes on, first what happens
// now.
func (v View) below(p *wording.Markdown, r room) {
	now, next := v.whatNow(), v.lead()
	if v.State.End == nil {
		now, next = next, now
	}
	p.Part(now)
	p.Part(v.question(r))
	p.Part(v.askedToAccept(r))
	p.Part(v.atCap(r))
	p.Part(next)
}

// question is what the agent says that it waits for, where the headline has not told all of it.
func (v View) question(r room) string {
	s := v.State
	last := s.Last()
	if s.End == nil || s.End.Outcome != loop.Waiting || last == nil || !s.Waits || r.spec == 0 {
		return ""
	}
	question := strings.TrimSpace(wording.Spoken(last))
	if v.Text(question, mostCause) == v.Text(question, 2<<10) && !strings.Contains(question, "\n") {
		return ""
	}
	return v.quote(question, min(r.spec, 2<<10))
}

// IssueLine is what stays on the issue once there is a pull request: one line under the same marker, so that the
// comment which was there is edited into it. When the agent asks, it says how to answer, which may be done on the issue
// as well.
func IssueLine(v View) string {
	where := v.pull()
	if where == "" {
		where = "the pull request"
	}
	asks := ""
	if e := v.State.End; e != nil && e.Outcome == loop.Waiting && v.State.Waits {
		asks = " " + safetext.UpperFirst(v.whileWaiting())
	}
	return fmt.Sprintf("%s\n%s — work and report are in %s.%s\n", Marker(v.State.Start.Run), v.headline(), where, asks)
}

// lead is what happens now, or of a run that has ended what the headline does not tell: which limit stopped it, and
// where the work is.
func (v View) lead() string {
	s := v.State
	if s.End == nil {
		return v.now()
	}
	return wording.JoinedBy(" ", hashed.ReplaceAllString(v.why(), ""), v.whereKept())
}

// whereKept says where the work of a run is that has ended, unless a pull request is offered for review.
func (v View) whereKept() string {
	s := v.State
	switch {
	case s.End == nil:
		return ""
	case s.End.Outcome == loop.Done && v.pull() != "":
		return ""
	case s.Kept().Name() == "", s.NoDiff() && s.Kept() == s.Branch():
		return ""
	case s.End.Outcome == loop.Done || s.End.ForPull:
		return fmt.Sprintf("The work is on %s.", v.branch(s.Branch()))
	}
	return fmt.Sprintf("Everything that was done is kept on %s.", v.branch(s.Kept()))
}

// hashed is how a reason names a failure's signature. The failure report has a table of them; where there is none, it
// says nothing to anybody.
var hashed = regex.Lazy(` \(error hash [0-9a-f]{1,16}\)`)

// checkList says what decides, before and while it does.
func (v View) checkList(most int) string {
	names := v.deciders(most)
	if names == "" {
		return ""
	}
	text := "**Checks that decide:** " + names
	if v.State.Start.Detected != "" {
		text += "\n" + wording.Sentence(v.Text(v.State.Start.Detected, 300))
	}
	return text
}

// deciders are the checks in their order, and the review.
func (v View) deciders(most int) string {
	s := v.State.Start
	var names []string
	for i, c := range s.Checks {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(s.Checks)-most))
			break
		}
		names = append(names, v.Code(c, 100))
	}
	switch {
	case v.State.Plan != nil && !v.State.Rules().SkipReview:
		names = append(names, "for each story a review by a fresh agent")
	case v.State.Plan == nil && s.Review:
		names = append(names, "a review by a fresh agent")
	}
	return strings.Join(names, ", ")
}

// baseline names the checks that already failed before the run, those apart that pass by now.
func (v View) baseline() string {
	var failing, passing []string
	for _, c := range v.State.Baseline {
		switch {
		case c.Skipped != "" || c.Pass || len(failing)+len(passing) == 10:
		case v.passes(c.Check):
			passing = append(passing, v.Code(c.Check, 80))
		default:
			failing = append(failing, v.Code(c.Check, 80))
		}
	}
	text := ""
	if len(failing) > 0 {
		text = "**Already failing before this run:** " + strings.Join(failing, ", ") + "\n\n"
	}
	if len(passing) > 0 {
		text += "**Failed before this run, and passes now:** " + strings.Join(passing, ", ")
	}
	return strings.TrimSpace(text)
}

// passes reports whether a check passed in the newest judged iteration.
func (v View) passes(check string) bool {
	it := v.Judged()
	return it != nil && slices.ContainsFunc(it.Verdicts,
		func(c loop.Verdict) bool { return c.Check == check && c.Pass && c.Skipped == "" })
}

// RunCommand is the command that began the run.
func (v View) RunCommand() string {
	if v.State.Plan != nil {
		return "ralph plan run"
	}
	return "ralph run"
}

func (v View) runLink() string {
	if l := wording.Link("workflow run", v.State.RunURL); l != "workflow run" {
		return l
	}
	return ""
}

// footer is the small print: who asked, where it runs, where more is to be read.
func (v View) footer() string {
	s := v.State
	parts := v.credits()
	add := func(what, text string) {
		if text != "" {
			parts = append(parts, what+text)
		}
	}
	add("branch ", v.branch(s.Branch()))
	if (s.End == nil || s.End.Outcome != loop.Done) && !v.here {
		add("pull request ", v.pull())
	}
	return wording.Small(slices.Concat(parts, v.kept(), v.updated()))
}

// kept says where the report in full is.
func (v View) kept() []string {
	if l := wording.Link("full report: artifact of the workflow run", v.ReportURL); l[0] == '[' {
		return []string{l}
	}
	return nil
}

// credits name who asked, which agent worked and where.
func (v View) credits() (parts []string) {
	s := v.State
	if asked := v.Code(s.Start.Asked, 60); asked != "" {
		parts = append(parts, "asked by "+asked)
	}
	if s.Retries > 0 {
		parts = append(parts, fmt.Sprintf("retry %d", s.Retries))
	}
	if agent := v.Code(path.Base(s.Start.Agent), 60); agent != "" {
		parts = append(parts, "agent "+agent)
	}
	if run := v.runLink(); run != "" {
		parts = append(parts, run)
	}
	return parts
}

func (v View) updated() []string {
	if v.State.At.IsZero() {
		return nil
	}
	return []string{"updated " + wording.Clock(v.State.At)}
}
