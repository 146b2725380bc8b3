package html

import (
	"bytes"
	"fmt"
	"html/template"
	"slices"

	"github.com/ralph-loop/ralph/internal/loop"
)

// Looks is the style sheet of everything that Parts holds.
func Looks() string { return htmlLooks }

// Parts are the pieces of a run's report, for a page that arranges them itself and shows more around them. Each is ""
// where there is nothing to show. Everything foreign is escaped in them.
type Parts struct {
	Mood, Sign, Headline string // Mood is "good", "bad", "wait" or "busy"
	Lead, Now            template.HTML
	Facts                []Fact
	Sections             []template.HTML // what to look at first, the last failure, stories, ...
	Timeline             template.HTML
	Iterations           []template.HTML // newest first, each with the id "iteration-N"
	Hidden               string          // one sentence on iterations that are left out
	Appendix             []template.HTML
}

// Fact is one of the facts at the top; URL is "" where there is nothing to link to.
type Fact struct{ Name, Value, URL string }

// Parts are the pieces of the report; the iterations take at most limit bytes.
func (d Detail) Parts(limit int) (Parts, error) {
	whole := d.whole()
	shown, hidden, err := d.shownIterations(whole, limit)
	if err != nil {
		return Parts{}, err
	}
	front, err := d.front(whole)
	if err != nil {
		return Parts{}, err
	}
	p := Parts{Mood: front.Mood, Sign: front.Sign, Headline: front.Headline, Lead: front.Lead, Now: front.Now,
		Iterations: shown, Hidden: hidden}
	for _, f := range front.Facts {
		p.Facts = append(p.Facts, Fact(f))
	}
	for _, part := range front.Parts {
		p.Sections = append(p.Sections, made("part", part, &err))
	}
	for _, part := range front.Appendix {
		p.Appendix = append(p.Appendix, made("appendix", part, &err))
	}
	if len(front.Timeline.Rows) > 0 {
		p.Timeline = made("timeline", front.Timeline, &err)
	}
	return p, err
}

// made is what a part of the template writes; the first error is kept.
func made(name string, data any, failed *error) template.HTML {
	var b bytes.Buffer
	if err := htmlTemplate().ExecuteTemplate(&b, name, data); err != nil && *failed == nil {
		*failed = fmt.Errorf("writing the %s of a run: %w", name, err)
	}
	return template.HTML(b.String()) // made by the template of this very page
}

// Iteration is iteration n as it is among Parts; "" where there is none.
func (d Detail) Iteration(n int) (template.HTML, error) {
	i := slices.IndexFunc(d.State.Iterations, func(it *loop.Iteration) bool { return it.N == n })
	if i < 0 {
		return "", nil
	}
	return d.iteration(d.State.Iterations[i], everything, len(d.State.Iterations)-1-i)
}
