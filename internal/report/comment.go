package report

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
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
		v.statusBlock(&p, r)
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

// statusBlock is what stands below a headline: what happens or what is needed, where the work is, what it has cost, and how
// far its stories are.
func (v View) statusBlock(p *wording.Markdown, r room) {
	v.links(p, r)
	p.Part(v.silent())
	p.Part(v.cost())
	p.Part(v.stories(r))
}

// links is what to do next and where the work is, right below a headline; of a run that goes on, first what happens
// now.
func (v View) links(p *wording.Markdown, r room) {
	now, next := v.whatNow(), v.details()
	if v.State.End == nil {
		now, next = next, now
	}
	p.Part(now)
	p.Part(v.question(r))
	p.Part(v.askedToAccept(r))
	p.Part(v.atCap(r))
	p.Part(strings.Join(v.openHints(), "\n\n"))
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
