package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/regex"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Marker is the line by which a run's own comment is found again. It proves nothing by itself: a search for it checks
// the comment's author too.
func Marker(run string) string {
	return "<!-- ralph:run:" + wording.MarkerName(run) + " -->"
}

// Comment is the run's sticky comment: the outcome and why in one line, or what happens now, and what is needed from
// whom; then a table that fits a phone, and the rest folded. Its first line is Marker(run); it never has more than
// 65,000 bytes.
func Comment(v View) string {
	v = v.onPull()
	return v.fit(CommentLimit, func(v page) string {
		var p wording.Markdown
		p.Line("%s", Marker(v.State.Start.Run))
		p.WriteString("### " + v.headline() + "\n")
		v.statusBlock(&p)
		p.Part(v.table(v.most(15), true))
		if v.State.End == nil || !v.here { // at the end the description of the pull request has it
			p.Part(wording.Titled("What to look at first", v.warned(v.most(20), 10)))
		}
		if !stoppedShort(v.State) || v.local() { // otherwise the failure report has it
			p.Part(v.lastFailure(false))
		}
		p.Part(wording.Folded("What the review asked for", v.feedback()))
		p.Part(wording.Folded("Iteration by iteration, in words", v.steps(nil)))
		p.Part(wording.Folded(gitTitle, v.gitNotes(v.State)))
		if v.State.End == nil {
			p.Part(v.checkList())
		}
		p.Part(v.baseline(v.State))
		p.Part(v.footer())
		return p.String()
	})
}

// statusBlock is what is below a headline: what happens or what is needed, where the work is, what it has cost, and how
// far its stories are.
func (v page) statusBlock(p *wording.Markdown) {
	v.links(p)
	p.Part(v.silent())
	p.Part(v.cost())
	p.Part(wording.JoinedBy("\n\n", labeled("Stories", Tally(v.State)), v.storyList(v.most(20))))
}

// links is what to do next and where the work is, right below a headline; of a run that continues, first what happens
// now.
func (v page) links(p *wording.Markdown) {
	now, next := v.whatNow(), v.details()
	if v.State.End == nil {
		now, next = next, now
	}
	p.Part(now)
	p.Part(v.question())
	p.Part(v.askedToAccept())
	p.Part(v.atCap())
	p.Part(strings.Join(v.openHints(), "\n\n"))
	p.Part(next)
}

// IssueLine is what stays on the issue once there is a pull request: one line under the same marker, so that the
// comment which was there is edited into it. When the agent asks, it says how to answer, which may be done on the issue
// as well. Below the line are the hints that were not read or not done.
func IssueLine(v View) string {
	asks, where := "", cmp.Or(v.pull(), "the pull request")
	if e := v.State.End; e != nil && e.Outcome == loop.Waiting && v.State.Waits {
		_, next := advice{v}.whatNow()
		asks = " " + safetext.UpperFirst(next)
	}
	lines := append([]string{fmt.Sprintf("%s — work and report are in %s.%s", v.headline(), where, asks)}, v.openHints()...)
	return Marker(v.State.Start.Run) + "\n" + strings.Join(lines, "\n\n") + "\n"
}

// person is the form of a person's login. Bots have another form, and do not read notifications.
var person = regex.Lazy(`^[A-Za-z0-9](?:[A-Za-z0-9]|[-_][A-Za-z0-9])*_?[A-Za-z0-9]*$`)

// Asker is the login of the last requester of the run; empty if that is not a person. It is the only login that is ever
// mentioned, and it comes from GitHub's own words about who did what, never from a text.
func (v View) Asker() string {
	if who := v.State.Asked; len(who) <= 39+1+8 && person.MatchString(who) { // an enterprise adds its short name
		return who
	}
	return ""
}

// Mention is the line that notifies the requester; empty if that is not a person.
func (v View) Mention() string {
	if who := v.Asker(); who != "" {
		return "@" + who
	}
	return ""
}

// OutcomeComment is the short comment that reports an outcome to the requester: an edited comment notifies no one. It
// has at most 65,000 bytes, and mentions no one else.
func OutcomeComment(v View) string {
	v = v.onPull()
	return v.fit(CommentLimit, func(v page) string {
		var p wording.Markdown
		p.Part(strings.TrimSpace(v.Mention() + " **" + v.headline() + "**"))
		p.Part(v.question())
		p.Part(strings.Join(v.openHints(), "\n\n"))
		p.Part(v.whatNow())
		return p.String()
	})
}

// NotifyKind reports which of the values of the setting notifyOn an outcome is: "done", "failed" or "waiting";
// otherwise empty. A wait that ends by itself needs no one.
func (v View) NotifyKind() string {
	e := v.State.End
	switch {
	case e == nil, e.Outcome == loop.Interrupted, e.Outcome == loop.Refused:
		return ""
	case e.Outcome == loop.Done:
		return "done"
	case e.Outcome != loop.Waiting:
		return "failed"
	case v.sweptLater(), waitsForOthers(v.State) && v.Ways.Work(event.Built):
		return ""
	}
	return "waiting"
}

// iterationMarker is the line by which the comment on one iteration is found again. Like Marker it proves
// nothing by itself.
func iterationMarker(run string, n int) string {
	return fmt.Sprintf("<!-- ralph:iteration:%s/%d -->", wording.MarkerName(run), n)
}

// IterationComment reports one iteration in a comment of its own, for `comments: each`. Its first line is
// iterationMarker; "" when the run has no iteration with this number that the checks have judged. It never has more
// than 65,000 bytes.
func IterationComment(v View, n int) string {
	i := slices.IndexFunc(v.State.Iterations, func(it *loop.Iteration) bool { return it.N == n })
	if i < 0 || !v.State.Iterations[i].Judged {
		return ""
	}
	it := v.State.Iterations[i]
	return v.fit(CommentLimit, func(v page) string {
		var p wording.Markdown
		p.Line("%s", iterationMarker(v.State.Start.Run, n))
		p.Line("### Iteration %s, %s", v.State.Of(n), v.Who(it.Story, it.Role, it.Mode))
		p.Part(v.Result(it) + "; " + v.done(it) + ".")
		if said := wording.Spoken(it); strings.TrimSpace(said) != "" {
			p.Part("The agent said:\n\n" + v.quote(said, v.most(1<<10)))
		}
		p.Part(v.failureOf(it, false))
		p.Part(v.checkTable(it, v.most(20)))
		p.Part(wording.Small([]string{v.spentOn(it), runLink(v.State)}))
		return p.String()
	})
}
