package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/event"
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
	return v.fit(CommentLimit, func(r room) string {
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

// statusBlock is what is below a headline: what happens or what is needed, where the work is, what it has cost, and how
// far its stories are.
func (v View) statusBlock(p *wording.Markdown, r room) {
	v.links(p, r)
	p.Part(v.silent())
	p.Part(v.cost())
	p.Part(v.stories(r))
}

// links is what to do next and where the work is, right below a headline; of a run that continues, first what happens
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
	question := strings.TrimSpace(v.asked(last))
	if v.Text(question, mostCause) == v.Text(question, 2<<10) && !strings.Contains(question, "\n") {
		return ""
	}
	return v.quote(question, min(r.spec, 2<<10))
}

// IssueLine is what stays on the issue once there is a pull request: one line under the same marker, so that the
// comment which was there is edited into it. When the agent asks, it says how to answer, which may be done on the issue
// as well. Below the line are the hints that were not read or not done.
func IssueLine(v View) string {
	where := v.pull()
	if where == "" {
		where = "the pull request"
	}
	asks := ""
	if e := v.State.End; e != nil && e.Outcome == loop.Waiting && v.State.Waits {
		asks = " " + safetext.UpperFirst(v.nextInPlain())
	}
	lines := append([]string{fmt.Sprintf("%s — work and report are in %s.%s", v.headline(), where, asks)}, v.openHints()...)
	return Marker(v.State.Start.Run) + "\n" + strings.Join(lines, "\n\n") + "\n"
}

// person is what a login of a person looks like. One of a bot is none: no one would read what it is told.
var person = regex.Lazy(`^[A-Za-z0-9](?:[A-Za-z0-9]|[-_][A-Za-z0-9])*_?[A-Za-z0-9]*$`)

// Asker is the login of whoever asked for the run last; empty when that is no one who can be told. It is the only one
// that is ever mentioned, and it comes from GitHub's own words about who did what, never from a text.
func (v View) Asker() string {
	if who := v.State.Asked; len(who) <= 39+1+8 && person.MatchString(who) { // an enterprise adds its short name
		return who
	}
	return ""
}

// Mention is the line that tells whoever asked; empty when no one can be told.
func (v View) Mention() string {
	if who := v.Asker(); who != "" {
		return "@" + who
	}
	return ""
}

// OutcomeComment is the short comment that reports an outcome to whoever asked: an edited comment notifies no one. It has at
// most 65,000 bytes, and mentions no one else.
func OutcomeComment(v View) string {
	v = v.onPull()
	return v.fit(CommentLimit, func(r room) string {
		var p wording.Markdown
		p.Part(strings.TrimSpace(v.Mention() + " **" + v.headline() + "**"))
		p.Part(v.question(r))
		p.Part(strings.Join(v.openHints(), "\n\n"))
		p.Part(v.whatNow())
		return p.String()
	})
}

// NotifyKind reports which of the values of the setting notifyOn an outcome is: "done", "failed" or "waiting"; empty when it
// is none. A wait that ends by itself needs no one.
func (v View) NotifyKind() string {
	e := v.State.End
	switch {
	case e == nil, e.Outcome == loop.Interrupted, e.Outcome == loop.Refused:
		return ""
	case e.Outcome == loop.Done:
		return "done"
	case e.Outcome != loop.Waiting:
		return "failed"
	case v.sweptLater(), v.waitsForOthers() && v.Ways.Work(event.Built):
		return ""
	}
	return "waiting"
}

// Sections are the parts of a run's report in Markdown, each "" where there is nothing to say, for a page that arranges
// them itself. What others wrote is inert in them.
type Sections struct {
	Subject, Lead, Now, Footer string
	AtCap, Silent, Look        string
	Failure, Reproduce         string
	Stories, Verification      string
	Asked, Checks, History     string
	Posted                     string // the failure report of a run that a limit stopped
}

// SectionsOf are the parts of a run's report.
func SectionsOf(v View) Sections {
	r := rooms[0]
	return Sections{
		Subject: v.Text(v.State.Start.Title, 200), Lead: v.details(), Now: v.whatNow(), Footer: v.footer(),
		AtCap: v.atCap(r), Silent: v.silent(), Look: v.warned(r) + v.riskiest(r.files),
		Failure: v.failureInFull(r), Reproduce: v.reproduction(),
		Stories: v.storyList(r), Verification: v.verification(r.rows),
		Asked:   wording.JoinedBy("\n", v.title(), v.wording(r)),
		Checks:  wording.JoinedBy("\n\n", v.checkList(r.checks), v.baseline()),
		History: v.errorHistory(r.history), Posted: v.posted(),
	}
}

// failureInFull is the last failure with the places that it names and all that is kept of its output.
func (v View) failureInFull(r room) string {
	f := v.State.Failure()
	if f == nil {
		return ""
	}
	var p wording.Markdown
	p.Part(fmt.Sprintf("%s: %s", v.Code(f.Check, 80), cmp.Or(wording.Sentence(v.Text(f.Reason, 400)), "it failed.")))
	p.Part(v.findings(r))
	if strings.TrimSpace(f.Output) != "" {
		p.Part(v.Fence(f.Output, r.lines))
	}
	p.Part(v.turnEnd(v.Judged()))
	return p.String()
}

func (v View) reproduction() string {
	if !v.stoppedShort() {
		return ""
	}
	return safetext.Fence(v.reproduce())
}

func (v View) posted() string {
	if !v.stoppedShort() {
		return ""
	}
	return Failure(v)
}
