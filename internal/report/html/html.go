// Package html shows a run in full as one page that loads nothing, and reports in Markdown as pages.
package html

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"sync"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
)

// Detail is a run with everything that is known of it, to be shown in full.
type Detail struct {
	report.View
	// Records is the run's journal, oldest first. Without it the page shows what the state keeps: the outputs of the
	// newest iterations.
	Records []loop.Record
	// Diffs are what the iterations changed, by their number. Where there is none, the page lists the changed files alone.
	Diffs map[int]Diff
	// Prompts are what the agents of the iterations were told, by their number. Where there is none, nothing is said of
	// it.
	Prompts map[int]Prompt
}

// Prompt is what the agent of one iteration was told.
type Prompt struct {
	Text string // its beginning; empty: only the address is shown
	URL  string // where all of it is, on the page's own server; empty: nowhere
}

// Diff is what one iteration changed.
type Diff struct {
	// Text is the diff as git writes it: "diff --git a/x b/x ...". Of it DiffBytes are shown, in whole lines; a caller
	// that has more of it gives a little more, so that a secret is found before it is cut in two.
	Text string
	Note string // one sentence on what is not in Text and why; empty: everything is
}

// DiffBytes is how much of one iteration's diff the page shows.
const DiffBytes = 100 << 10

// Limit is how many bytes a page of HTML has at most. Older iterations lose their diffs and outputs before a newer
// one does.
const Limit = 8 << 20

//go:embed html.html
var htmlText string

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

var htmlTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("html").Parse(htmlText))
})

// Report is the report of a run as one file that loads nothing: outcome first, then how it went, each iteration with
// its diff, its checks and what they printed, and a search over all of it. It reads the same without its script. It
// never has more than HTMLLimit bytes.
func Report(d Detail) ([]byte, error) {
	whole := d.whole()
	shown, hidden, err := d.shownIterations(whole, Limit-headLimit)
	if err != nil {
		return nil, err
	}
	page, err := d.front(whole)
	if err != nil {
		return nil, err
	}
	page.Shown, page.Hidden = shown, hidden
	// Both are ours, and stand as their hashes say.
	page.Looks, page.Script, page.Policy = template.CSS(htmlLooks), template.JS(htmlScript), htmlPolicy()
	var out bytes.Buffer
	if err := htmlTemplate().ExecuteTemplate(&out, "page", page); err != nil {
		return nil, fmt.Errorf("writing the page of %s: %w", d.State.Start.Task, err)
	}
	if out.Len() > Limit {
		return nil, fmt.Errorf("writing the page of %s: it has %d bytes, and no more than %d are allowed", d.State.Start.Task,
			out.Len(), Limit)
	}
	return out.Bytes(), nil
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
