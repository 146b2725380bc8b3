package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/invalid"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Summary is the job summary: the outcome and why, what is needed, then the numbers, and the timeline last.
func Summary(v View) string {
	return v.fit(CommentLimit, func(v page) string {
		var p wording.Markdown
		p.Line("## %s", v.headline())
		v.links(&p)
		p.Part(v.subject())
		p.Part(v.notCommitted())
		p.Part(v.cost())
		p.Part(v.lastFailure(false))
		p.Part(wording.JoinedBy("\n\n", labeled("Stories", Tally(v.State)), v.storyList(v.most(20))))
		p.Part(wording.Titled("What to look at first", v.warned(v.most(20), 10)))
		p.Part(wording.Titled("The reviewer's verdict", v.reviewLine()+v.criteria()))
		p.Part(wording.Titled("Checks", v.checkTable(v.State.LastJudged(), v.most(20))))
		p.Part(v.baseline(v.State))
		p.Part(wording.Titled("Verification", v.verification()))
		p.Part(wording.Titled(gitTitle, v.gitNotes(v.State)))
		p.Part(wording.Titled("Timeline", v.table(v.most(30), false)))
		return p.String()
	})
}

// subject names the task, with its issue and pull request.
func (v View) subject() string {
	s := v.State
	text := labeled("Task", cmp.Or(v.Text(s.Start.Title, 200), v.Code(s.Start.Task, 60)))
	if page := v.Address(fmt.Sprintf("issues/%d", s.Start.Issue)); s.Start.Issue > 0 && page != "" {
		text += " (" + wording.Link(fmt.Sprintf("#%d", s.Start.Issue), page) + ")"
	}
	return wording.JoinedBy(" · ", text, labeled("Pull request", v.pull()))
}

// notCommitted names what the checks had besides the commit, and the user's modified files that the run left alone.
func (v View) notCommitted() string {
	given, left := "", ""
	code := func(name string) string { return v.Code(name, 100) }
	if names := safetext.Map(v.State.JudgedWith(), code); len(names) > 0 {
		given = "Judged with your " + strings.Join(names, ", ") + ", which " + safetext.IsAre(len(names)) + " not in the commit."
	}
	if names := safetext.Map(v.State.Start.LeftOut, code); len(names) > 0 {
		left = "What you have modified in " + safetext.FirstN(names, mostNames) + " is not in the commits, and the checks did not see it."
	}
	return wording.JoinedBy("\n\n", given, left)
}

// Status answers /ralph status: where the run stands, in a comment of its own.
func Status(v View) string {
	return v.fit(CommentLimit, func(v page) string {
		var p wording.Markdown
		p.Part("**" + v.headline() + "**")
		v.statusBlock(&p)
		p.Part(v.table(v.most(5), true))
		p.Part(v.lastFailure(false))
		p.Part(v.footer())
		return p.String()
	})
}

// NoStatus answers /ralph status where nothing has run.
func NoStatus(phrase string, issue int) string {
	return fmt.Sprintf("ralph has not worked on #%d yet. %s starts it.\n", issue, safetext.Code(phrase+" run"))
}

// Refused is the job summary of an event whose people may not ask.
func Refused(r *event.Refusal, ev event.Event) string {
	var v View
	var p wording.Markdown
	p.Line("## ⛔ Refused")
	p.Part(wording.Sentence(v.Text(r.Reason, 600)))
	about := "Nothing was started. Event: " + v.Code(ev.String(), 120)
	if r.Who != "" {
		about += ", by " + v.Code(r.Who, 60)
	}
	p.Part(about + ".")
	return p.String()
}

// Rejected is the one-line answer to a request that could not be followed.
func Rejected(v View, err error) string {
	more := ""
	if page := invalid.Page(err); page != "" {
		more = "[More about this message](" + page + ")."
	}
	return wording.JoinedBy(" ", strings.TrimSuffix(wording.Sentence(v.Text(err.Error(), 400)), "\n"),
		wording.Sentence(v.Offer("help", "lists the commands")), more) + "\n"
}

// Section is a part of a report under a heading, in Markdown.
type Section struct{ ID, Heading, Body string }

// Sections are the parts of a run's report, "" where there is nothing to say, for a page that arranges them itself. What
// others wrote is inert in them.
type Sections struct {
	Subject, Lead, Now, Footer string
	Main, Appendix             []Section // with empty ones
}

// SectionsOf are the parts of a run's report.
func SectionsOf(view View) Sections {
	v := page{view, rooms[0]}
	failure, reproduce, posted := "", "", ""
	if f := v.State.Failure(); f != nil {
		failure = v.Code(f.Check, 80) + "\n\n" + v.failureOf(v.State.LastJudged(), false)
	}
	if stoppedShort(v.State) {
		reproduce, posted = safetext.Fence(advice{v.View}.reproduce()), Failure(view)
	}
	return Sections{
		Subject: v.Text(v.State.Start.Title, 200), Lead: v.details(), Now: v.whatNow(), Footer: v.footer(),
		Main: []Section{{"cap", "At the cap", v.atCap()}, {"silent", "No sign of life", v.silent()},
			{"first", "What to look at first", v.warned(v.most(20), 10) + v.riskiest()}, {"failure", "The last failure", failure},
			{"reproduce", "Reproduce it locally", reproduce}, {"stories", "Stories", v.storyList(v.most(20))},
			{"verification", "Verification", v.verification()}},
		Appendix: []Section{{"asked", "What was asked", wording.JoinedBy("\n", v.title(v.State), v.wording())},
			{"checks", "What decides", wording.JoinedBy("\n\n", v.checkList(), v.baseline(v.State))},
			{"history", "Error history", v.errorHistory()}, {"report", "The failure report as it was posted", posted}},
	}
}
