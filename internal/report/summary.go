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

// Summary is the job summary: what the run came to and why, what is needed, then the numbers, and the timeline
// last.
func Summary(v View) string {
	return v.fit(CommentLimit, func(r room) string {
		var p wording.Markdown
		p.Line("## %s", v.headline())
		v.links(&p, r)
		p.Part(v.subject())
		p.Part(v.judgedWith())
		p.Part(v.leftOut())
		p.Part(v.cost())
		p.Part(v.lastFailure(r.lines))
		p.Part(v.stories(r))
		p.Part(wording.Titled("What to look at first", v.warned(r)))
		p.Part(wording.Titled("The reviewer's verdict", v.reviewed(r)))
		p.Part(wording.Titled("Checks", v.checks(r.checks)))
		p.Part(v.baseline())
		p.Part(wording.Titled("Verification", v.verification(r.rows)))
		p.Part(wording.Titled(gitTitle, v.gitNotes()))
		p.Part(wording.Titled("Timeline", v.iterations(r.rows*2, true)))
		p.Part(v.gantt(r.rows * 2))
		return p.String()
	})
}

// subject names the task, with its issue and pull request.
func (v View) subject() string {
	s := v.State
	text := "**Task:** " + cmp.Or(v.Text(s.Start.Title, 200), v.Code(s.Start.Task, 60))
	if s.Start.Issue > 0 && v.ServerURL != "" {
		text += " (" + wording.Link(fmt.Sprintf("#%d", s.Start.Issue),
			fmt.Sprintf("%s/%s/issues/%d", v.ServerURL, v.Repo, s.Start.Issue)) + ")"
	}
	if pull := v.pull(); pull != "" {
		text += " · **Pull request:** " + pull
	}
	return text
}

// judgedWith names what the checks had besides the commit.
func (v View) judgedWith() string {
	names := v.State.JudgedWith()
	if len(names) == 0 {
		return ""
	}
	for i, name := range names {
		names[i] = v.Code(name, 100)
	}
	if len(names) == 1 {
		return "Judged with your " + names[0] + ", which is not in the commit."
	}
	return "Judged with your " + strings.Join(names, ", ") + ", which are not in the commit."
}

// leftOut names the user's files that the run did not take up as they lay there.
func (v View) leftOut() string {
	names := v.State.Start.LeftOut
	if len(names) == 0 {
		return ""
	}
	shown := safetext.Map(names, func(name string) string { return v.Code(name, 100) })
	return "What you have modified in " + safetext.FirstN(shown, mostNames) +
		" is not in the commits, and the checks did not see it."
}

// mostNames is how many of many names are told.
const mostNames = 5

// Status answers /ralph status: where the run stands, in a comment of its own.
func Status(v View) string {
	return v.fit(CommentLimit, func(r room) string {
		var p wording.Markdown
		p.Part("**" + v.headline() + "**")
		v.statusBlock(&p, r)
		p.Part(v.short(min(r.rows, 5)))
		p.Part(v.lastFailure(min(r.lines, 20)))
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
