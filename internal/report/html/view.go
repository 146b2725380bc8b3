package html

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// plainWords takes back what made words inert in Markdown: names in a headline are escaped by the page.
func plainWords(s string) string { return strings.NewReplacer("`", "", `\`, "").Replace(s) }

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

// at is an address below the repository's own; "" where there is none.
func (v view) at(path string) string {
	if v.ServerURL == "" || v.Repo == "" {
		return ""
	}
	return wording.Linkable(v.ServerURL + "/" + v.Repo + "/" + path)
}
