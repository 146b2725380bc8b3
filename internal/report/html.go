package report

import (
	"github.com/ralph-loop/ralph/internal/loop"
)

// Detail is a run with everything that is known of it, to be shown in full.
type Detail struct {
	View
	// Records is the run's journal, oldest first. Without it the page shows what the state keeps: the outputs of the newest iterations.
	Records []loop.Record
	// Diffs are what the iterations changed, by their number. Where there is none, the page lists the changed files alone.
	Diffs map[int]Diff
}

// Diff is what one iteration changed.
type Diff struct {
	Text string // as git writes it: "diff --git a/x b/x ..."; bounded by who made it
	Note string // one sentence on what is not in Text and why; empty: everything is
}

// HTMLLimit is how many bytes a page of HTML has at most. Older iterations lose their diffs and outputs before a newer one does.
const HTMLLimit = 8 << 20

// HTML is the report of a run as one file that loads nothing: outcome first, then how it went, each iteration with its diff, its checks
// and what they printed, and a search over all of it. It reads the same without its script.
func HTML(d Detail) ([]byte, error) {
	return Page("ralph: "+d.State.Start.Task, Section{Heading: "Summary", Markdown: Summary(d.View)})
}
