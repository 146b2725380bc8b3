package html

import (
	_ "embed" // the template
	"html/template"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// view is a run's view as the page shows it: what others wrote is escaped by the page's template.
type view struct{ report.View }

func (d Detail) view() view { return view{d.View} }

// seen is what can be seen of a foreign text, without secrets, of which one may have been parted by something
// invisible. The page's template escapes it; it needs none of what keeps Markdown inert.
func (v view) seen(s string) string { return v.Redacted(wording.Bare(s)) }

// brief is the same on one line, of at most most runes.
func (v view) brief(s string, most int) string {
	return safetext.Shorten(safetext.OneLine(v.seen(s)), most)
}

// lineRunes bounds the lines of outputs and diffs: a bundle of JavaScript is one line of a megabyte.
const lineRunes = 1000

// printed is what a process printed, line by line.
func (v view) printed(s string) string {
	return wording.LongLines(strings.Trim(v.seen(s), "\n"), lineRunes)
}

// at is an address below the repository's own; "" without one.
func (v view) at(path string) string { return wording.Linkable(v.Address(path)) }

// Detail is a run with everything that is known of it, to be shown in full.
type Detail struct {
	report.View
	// Records is the run's journal, oldest first. Without it the page shows what the state keeps: the outputs of the
	// newest iterations.
	Records []loop.Record
	// Diffs are what the iterations changed, by their number. Without one, the page lists only the changed files.
	Diffs map[int]Diff
	// Prompts are the prompts of the iterations, by their number. Without one, the page does not show it.
	Prompts map[int]Prompt
}

// Prompt is the prompt of one iteration.
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

var moodSigns = map[string]string{"good": "✓", "bad": "✗", "warn": "!", "wait": "–", "busy": "…"}

// Fact is one of the facts at the top; URL is "" where there is nothing to link to.
type Fact struct{ Name, Value, URL string }

// facts are those that have a value.
type facts []Fact

func (f *facts) add(name, value, url string) {
	if value != "" && value != "0s" {
		*f = append(*f, Fact{name, value, url})
	}
}

//go:embed html.html
var htmlText string

var htmlTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("html").Parse(htmlText))
})

// headLimit is what the page takes besides its iterations; every part of it is bounded by a room.
const headLimit = 2 << 20

// reviews reports whether a verdict is an agent's opinion.
func reviews(c loop.Verdict) bool { return c.Check == loop.ReviewCheck || c.Usage != nil }

func total(it *loop.Iteration) time.Duration {
	turn, checks, review := parted(it)
	return max(turn+checks+review, it.Took)
}

// parted is how long the turn, the checks and the reviews of an iteration took.
func parted(it *loop.Iteration) (turn, checks, review time.Duration) {
	for _, c := range it.Verdicts {
		if reviews(c) {
			review += c.Duration
		} else {
			checks += c.Duration
		}
	}
	return it.Turn.Duration, checks, review
}
