package report

import (
	"fmt"
	"html/template"
	"path"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// headLimit is what the page takes besides its iterations; every part of it is bounded by a room.
const headLimit = 2 << 20

// htmlPage is what the template shows.
type htmlPage struct {
	Looks                template.CSS
	Script               template.JS
	Policy               string
	Title, Task          string
	Mood, Sign, Headline string // Mood: "good", "bad", "wait" or "busy"
	Subject, Lead, Now   template.HTML
	Facts                []fact
	Parts                []part
	Timeline             timeline
	Shown                []template.HTML // iterations, newest first
	Hidden               string          // one sentence on those that are not shown
	Appendix             []part
	Small                template.HTML
}

// fact is one of the facts at the top.
type fact struct{ Name, Value, URL string }

// part is a section of the page; one that is folded shows its heading alone.
type part struct {
	ID, Heading string
	Body        template.HTML
}

// front is everything on the page but its iterations.
func (d Detail) front(whole []*loop.Iteration) (htmlPage, error) {
	v, s := d.View, d.State
	plain := v.inPlain() // the page has a sign of its own, which is in every font
	p := htmlPage{
		Task: v.brief(s.Start.Task, 80), Mood: mood(s), Sign: moodSigns[mood(s)],
		Headline: safetext.UpperFirst(joinedBy(": ", plain.outcome(), plain.cause())), Facts: v.facts(),
		Timeline: d.timeline(whole),
	}
	p.Title = fmt.Sprintf("ralph: %s – %s", p.Task, plain.outcome())
	r := rooms[0]
	var failed error
	render := func(md string) template.HTML {
		out, err := rendered(md)
		if err != nil {
			failed = err
		}
		return out
	}
	p.Subject = render(v.text(s.Start.Title, 200))
	p.Lead, p.Now, p.Small = render(v.lead()), render(v.whatNow()), render(v.footer())
	p.Parts = parts(render, []partOf{
		{"cap", "At the cap", v.atCap(r)}, {"silent", "No sign of life", v.silent()},
		{"first", "What to look at first", v.warned(r) + v.riskiest(r.files)},
		{"failure", "The last failure", v.failureInFull(r)},
		{"reproduce", "Reproduce it locally", v.reproduction()},
		{"stories", "Stories", v.storyList(r)}, {"verification", "Verification", v.verification(r.rows)},
	})
	p.Appendix = parts(render, []partOf{
		{"asked", "What was asked", joinedBy("\n", v.title(), v.wording(r))},
		{"checks", "What decides", joinedBy("\n\n", v.checkList(r.checks), v.baseline())},
		{"history", "Error history", v.errorHistory(r.history)},
		{"report", "The failure report as it was posted", v.posted()},
	})
	return p, failed
}

type partOf struct{ id, heading, markdown string }

// parts are those that have something to show.
func parts(render func(string) template.HTML, of []partOf) (list []part) {
	for _, o := range of {
		if strings.TrimSpace(o.markdown) != "" {
			list = append(list, part{o.id, o.heading, render(o.markdown)})
		}
	}
	return list
}

func mood(s loop.State) string {
	switch {
	case s.End == nil:
		return "busy"
	case s.End.Outcome == loop.Done:
		return "good"
	case s.End.Outcome == loop.Waiting || s.End.Outcome == loop.Interrupted:
		return "wait"
	}
	return "bad"
}

var moodSigns = map[string]string{"good": "✓", "bad": "✗", "warn": "!", "wait": "–", "busy": "…"}

// plainWords takes back what made words inert in Markdown: names in a headline are escaped by the page.
func plainWords(s string) string { return strings.NewReplacer("`", "", `\`, "").Replace(s) }

// facts are the numbers and addresses at the top.
func (v View) facts() (list []fact) {
	s := v.State
	add := func(name, value, url string) {
		if value != "" {
			list = append(list, fact{name, value, url})
		}
	}
	if s.Start.Issue > 0 {
		add("Issue", fmt.Sprintf("#%d", s.Start.Issue), v.at(fmt.Sprintf("issues/%d", s.Start.Issue)))
	}
	if s.Post.Pull > 0 {
		add("Pull request", fmt.Sprintf("#%d", s.Post.Pull),
			or(linkable(s.Post.PullURL), v.at(fmt.Sprintf("pull/%d", s.Post.Pull))))
	}
	if branch := v.brief(s.Kept().Name(), 120); branch != "" {
		add("Branch", branch, v.at("tree/"+branch))
	}
	add("Iterations", s.Of(len(s.Iterations)), "")
	add("Time", v.lasted(), "")
	if s.Usage.CostUSD > 0 {
		add("Cost", dollars(s.Usage.CostUSD), "")
	}
	if u := s.Usage; u.Tokens() > 0 {
		add("Tokens", fmt.Sprintf("%s in, %s out", tokens(u.Input+u.CacheRead+u.CacheWrite), tokens(u.Output)), "")
	}
	add("Agent", v.brief(path.Base(or(s.Start.Agent, "–")), 60), "")
	add("Asked by", v.brief(s.Start.Asked, 60), "")
	add("Began", stamp(s.StartedAt), "")
	add("Run", v.brief(s.Start.Run, 60), linkable(s.RunURL))
	return list
}

// lasted is how long the run took, or takes.
func (v View) lasted() string {
	s := v.State
	if s.StartedAt.IsZero() || !s.At.After(s.StartedAt) {
		return ""
	}
	return duration(s.At.Sub(s.StartedAt))
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// failureInFull is the last failure with the places that it names and all that is kept of its output.
func (v View) failureInFull(r room) string {
	f := v.State.Failure()
	if f == nil {
		return ""
	}
	var p page
	p.part(fmt.Sprintf("%s: %s", v.code(f.Check, 80), or(sentence(v.text(f.Reason, 400)), "it failed.")))
	p.part(v.findings(r))
	if strings.TrimSpace(f.Output) != "" {
		p.part(v.fence(f.Output, r.lines))
	}
	p.part(v.turnEnd(v.judged()))
	return p.String()
}

// stoppedShort reports whether a limit ended the run, so that there is a failure report.
func (v View) stoppedShort() bool { return v.State.End != nil && v.State.End.Outcome.Limited() }

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
