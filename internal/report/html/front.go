package html

import (
	"cmp"
	"fmt"
	"html/template"
	"path"
	"strings"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// headLimit is what the page takes besides its iterations; every part of it is bounded by a room.
const headLimit = 2 << 20

// page is what the template shows.
type page struct {
	assets
	heading
	Title, Task        string
	Subject, Lead, Now template.HTML
	Facts              []fact
	Parts              []part
	Timeline           timeline
	Shown              []template.HTML // iterations, newest first
	Hidden             string          // one sentence on those that are not shown
	Appendix           []part
	Small              template.HTML
}

// assets are the page's own looks and script, and the policy that names them.
type assets struct {
	Looks  template.CSS
	Script template.JS
	Policy string
}

// heading is what the run came to; Mood is "good", "bad", "wait" or "busy".
type heading struct{ Mood, Sign, Headline string }

// fact is one of the facts at the top.
type fact struct{ Name, Value, URL string }

// part is a section of the page; one that is folded shows its heading alone.
type part struct {
	ID, Heading string
	Body        template.HTML
}

// front is everything on the page but its iterations.
func (d Detail) front(whole []*loop.Iteration) (page, error) {
	v, s := d.view(), d.State
	outcome, cause := report.PlainOutcome(v.View) // the page has a sign of its own, which is in every font
	p := page{
		Task:     v.brief(s.Start.Task, 80),
		heading:  heading{mood(s), moodSigns[mood(s)], safetext.UpperFirst(wording.JoinedBy(": ", outcome, cause))},
		Facts:    v.facts(),
		Timeline: d.timeline(whole),
	}
	p.Title = fmt.Sprintf("ralph: %s – %s", p.Task, outcome)
	var failed error
	render := func(md string) template.HTML {
		out, err := rendered(md)
		if err != nil {
			failed = err
		}
		return out
	}
	md := report.SectionsOf(v.View)
	p.Subject, p.Lead, p.Now, p.Small = render(md.Subject), render(md.Lead), render(md.Now), render(md.Footer)
	p.Parts = parts(render, []partOf{
		{"cap", "At the cap", md.AtCap}, {"silent", "No sign of life", md.Silent},
		{"first", "What to look at first", md.Look},
		{"failure", "The last failure", md.Failure},
		{"reproduce", "Reproduce it locally", md.Reproduce},
		{"stories", "Stories", md.Stories}, {"verification", "Verification", md.Verification},
	})
	p.Appendix = parts(render, []partOf{
		{"asked", "What was asked", md.Asked},
		{"checks", "What decides", md.Checks},
		{"history", "Error history", md.History},
		{"report", "The failure report as it was posted", md.Posted},
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

// facts are the numbers and addresses at the top.
func (v view) facts() (list []fact) {
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
			cmp.Or(wording.Linkable(s.Post.PullURL), v.at(fmt.Sprintf("pull/%d", s.Post.Pull))))
	}
	if branch := v.brief(s.Kept().Name(), 120); branch != "" {
		add("Branch", branch, v.at("tree/"+branch))
	}
	add("Iterations", s.Of(len(s.Iterations)), "")
	add("Time", v.lasted(), "")
	if s.Usage.CostUSD > 0 {
		add("Cost", wording.Dollars(s.Usage.CostUSD), "")
	}
	if u := s.Usage; u.Tokens() > 0 {
		add("Tokens", fmt.Sprintf("%s in, %s out", wording.Tokens(u.Input+u.CacheRead+u.CacheWrite),
			wording.Tokens(u.Output)), "")
	}
	add("Agent", v.brief(path.Base(cmp.Or(s.Start.Agent, "–")), 60), "")
	add("Asked by", v.brief(s.Start.Asked, 60), "")
	add("Began", stamp(s.StartedAt), "")
	add("Run", v.brief(s.Start.Run, 60), wording.Linkable(s.RunURL))
	return list
}

// lasted is how long the run took, or takes.
func (v view) lasted() string {
	s := v.State
	if s.StartedAt.IsZero() || !s.At.After(s.StartedAt) {
		return ""
	}
	return wording.Duration(s.At.Sub(s.StartedAt))
}
