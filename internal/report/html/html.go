// Package html shows a run in full as one page that loads nothing, and reports in Markdown as pages.
package html

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// Limit is how many bytes a page of HTML has at most. Older iterations lose their diffs and outputs before a newer
// one does.
const Limit = 8 << 20

//go:embed html.css
var htmlLooks string

//go:embed html.js
var htmlScript string

// htmlPolicy forbids the page everything but our own looks and our own script, which are known by their hashes:
// whatever else might get into it can neither run nor reach out.
var htmlPolicy = sync.OnceValue(func() string {
	return fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'",
		hashOf(htmlLooks), hashOf(htmlScript))
})

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Report is the report of a run as one file that loads nothing: outcome first, then how it went, each iteration with
// its diff, its checks and what they printed, and a search over all of it. It reads the same without its script. It
// never has more than Limit bytes.
func Report(d Detail) ([]byte, error) {
	parts, err := d.Parts(Limit - headLimit)
	if err != nil {
		return nil, err
	}
	outcome, _ := report.PlainOutcome(d.View)
	md := report.SectionsOf(d.View)
	page := struct {
		Parts
		Title, Task    string
		Subject, Small template.HTML
		// both are ours, and stand as their hashes in the policy say
		Looks  template.CSS
		Script template.JS
		Policy string
	}{Parts: parts, Task: d.view().brief(d.State.Start.Task, 80), Looks: template.CSS(htmlLooks), Script: template.JS(htmlScript),
		Policy: htmlPolicy()}
	page.Title = fmt.Sprintf("ralph: %s – %s", page.Task, outcome)
	page.Subject, page.Small = rendered(md.Subject, &err), rendered(md.Footer, &err)
	out := made("page", page, &err)
	if len(out) > Limit {
		err = fmt.Errorf("writing the page of %s: it has %d bytes, and no more than %d are allowed", d.State.Start.Task,
			len(out), Limit)
	}
	return []byte(out), err
}

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

// Parts are the pieces of the report; the iterations take at most limit bytes.
func (d Detail) Parts(limit int) (p Parts, err error) {
	whole := d.whole()
	if p.Iterations, p.Hidden, err = d.shownIterations(whole, limit); err != nil {
		return Parts{}, err
	}
	outcome, cause := report.PlainOutcome(d.View) // the page has a sign of its own, which is in every font
	p.Mood = mood(d.State)
	p.Sign, p.Headline = moodSigns[p.Mood], safetext.UpperFirst(wording.JoinedBy(": ", outcome, cause))
	md := report.SectionsOf(d.View)
	p.Lead, p.Now, p.Facts = rendered(md.Lead, &err), rendered(md.Now, &err), d.view().facts()
	p.Sections, p.Appendix = sections("part", &err, md.Main), sections("appendix", &err, md.Appendix)
	if t := d.timeline(whole); len(t.Rows) > 0 {
		p.Timeline = made("timeline", t, &err)
	}
	return p, err
}

// sections are those that have something to show; an appendix shows its heading alone until it is opened. The first error
// is kept.
func sections(kind string, failed *error, of []report.Section) (list []template.HTML) {
	for _, o := range of {
		if strings.TrimSpace(o.Body) != "" {
			list = append(list, made(kind, struct {
				report.Section
				Body template.HTML
			}{o, rendered(o.Body, failed)}, failed))
		}
	}
	return list
}

// Iteration is iteration n as it is among Parts; "" if it does not exist.
func (d Detail) Iteration(n int) (template.HTML, error) {
	i := slices.IndexFunc(d.State.Iterations, func(it *loop.Iteration) bool { return it.N == n })
	if i < 0 {
		return "", nil
	}
	return d.iteration(d.State.Iterations[i], true, len(d.State.Iterations)-1-i)
}

// shownIterations are the iterations as HTML, newest first, in at most limit bytes. The newest are shown whole. After
// 75% of the room they are shown without diffs and outputs, and the rest is counted.
func (d Detail) shownIterations(its []*loop.Iteration, limit int) (shown []template.HTML, hidden string, err error) {
	used, whole := 0, true
	for i, it := range slices.Backward(its) {
		text, err := d.iteration(it, whole, len(its)-1-i)
		if err == nil && whole && used+len(text) > limit/4*3 {
			whole = false
			text, err = d.iteration(it, whole, len(its)-1-i)
		}
		if err != nil {
			return nil, "", err
		}
		if used += len(text); used > limit {
			return shown, fmt.Sprintf("The page is full: %s not shown.", safetext.Count(i+1, "earlier iteration")), nil
		}
		shown = append(shown, text)
	}
	return shown, "", nil
}

// iteration is one of them as HTML, whole or without diff and outputs; age counts those that came after it.
func (d Detail) iteration(it *loop.Iteration, whole bool, age int) (text template.HTML, err error) {
	text = made("iteration", d.shape(it, whole, age), &err)
	return text, err
}

// made is what a part of the template writes; the first error is kept.
func made(name string, data any, failed *error) template.HTML {
	var b bytes.Buffer
	if err := htmlTemplate().ExecuteTemplate(&b, name, data); err != nil && *failed == nil {
		*failed = fmt.Errorf("writing the %s of a run: %w", name, err)
	}
	return template.HTML(b.String()) // made by the template of this very page
}

// whole are the iterations with their outputs, of which the state keeps those of the newest alone. Folding the journal
// again passes by each of them before it loses its own.
func (d Detail) whole() []*loop.Iteration {
	var s loop.State
	kept := map[int]*loop.Iteration{}
	for _, r := range d.Records {
		s = s.With(r)
		if last := s.Last(); last != nil {
			kept[last.N] = last
		}
	}
	its := make([]*loop.Iteration, 0, len(d.State.Iterations))
	for _, it := range d.State.Iterations {
		if w := kept[it.N]; w != nil && w.At.Equal(it.At) {
			it = w
		}
		its = append(its, it)
	}
	return its
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

// facts are the numbers and addresses at the top.
func (v view) facts() (list facts) {
	s := v.State
	if s.Start.Issue > 0 {
		list.add("Issue", fmt.Sprintf("#%d", s.Start.Issue), v.at(fmt.Sprintf("issues/%d", s.Start.Issue)))
	}
	if s.Post.Pull > 0 {
		list.add("Pull request", fmt.Sprintf("#%d", s.Post.Pull),
			cmp.Or(wording.Linkable(s.Post.PullURL), v.at(fmt.Sprintf("pull/%d", s.Post.Pull))))
	}
	if branch := v.brief(s.Kept().Name(), 120); branch != "" {
		list.add("Branch", branch, v.at("tree/"+branch))
	}
	list.add("Iterations", s.Of(len(s.Iterations)), "")
	list.add("Time", safetext.Duration(s.At.Sub(s.StartedAt)), "")
	if s.Usage.CostUSD > 0 {
		list.add("Cost", wording.Dollars(s.Usage.CostUSD), "")
	}
	if u := s.Usage; u.Tokens() > 0 {
		list.add("Tokens", fmt.Sprintf("%s in, %s out", wording.Tokens(u.Input+u.CacheRead+u.CacheWrite),
			wording.Tokens(u.Output)), "")
	}
	list.add("Agent", v.brief(path.Base(cmp.Or(s.Start.Agent, "–")), 60), "")
	list.add("Asked by", v.brief(s.Start.Asked, 60), "")
	list.add("Began", stamp(s.StartedAt), "")
	list.add("Run", v.brief(s.Start.Run, 60), wording.Linkable(s.RunURL))
	return list
}
