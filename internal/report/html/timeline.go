package html

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/wording"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// timeline is how the run went: a bar for each iteration, as long as it took, and what happened in between.
type timeline struct {
	Rows   []moment
	Hidden string // one sentence on the rows that are left out
}

// moment is a row of the timeline: an iteration, or something that happened between two.
type moment struct {
	at    time.Time
	N     int    // of an iteration
	Note  string // of anything else
	line         // how the iteration was
	Spans []span
	Told  string // the spans in words
	Time  string
}

// span is a part of a bar, in thousandths of the longest iteration.
type span struct {
	Kind     string // "turn", "checks" or "review"
	X, Width int
}

// mostMoments is how many rows the timeline shows: its end.
const mostMoments = 100

func (d Detail) timeline(its []*loop.Iteration) (t timeline) {
	longest := time.Millisecond
	for _, it := range its {
		longest = max(longest, total(it))
	}
	t.Rows = d.between() // first, so that they are before what begins at the same time
	for _, it := range its {
		t.Rows = append(t.Rows, d.moment(it, longest))
	}
	slices.SortStableFunc(t.Rows, func(a, b moment) int { return a.at.Compare(b.at) })
	if hidden := len(t.Rows) - mostMoments; hidden > 0 {
		t.Hidden, t.Rows = safetext.Count(hidden, "earlier row")+" not shown.", t.Rows[hidden:]
	}
	return t
}

func (d Detail) moment(it *loop.Iteration, longest time.Duration) moment {
	m := moment{at: it.At, N: it.N, line: d.view().line(it), Time: wording.Clock(it.At)}
	turn, checks, review := parted(it)
	x := 0
	for _, part := range []struct {
		kind, told string
		took       time.Duration
	}{{"turn", "agent", turn}, {"checks", "checks", checks}, {"review", "review", review}} {
		if part.took <= 0 {
			continue
		}
		width := max(int(part.took*1000/longest), 4)
		m.Spans = append(m.Spans, span{part.kind, x, width})
		m.Told = wording.JoinedBy(" · ", m.Told, part.told+" "+safetext.Duration(part.took))
		x += width
	}
	return m
}

// between are the things that happened to the run outside its iterations.
func (d Detail) between() (list []moment) {
	for i, r := range d.Records {
		note := ""
		switch r.Type {
		case loop.Paused:
			note = fmt.Sprintf("Waited %suntil %s: %s", waited(d.Records[i:]), wording.Clock(r.Pause.Until),
				d.view().brief(r.Pause.Reason, 200))
		case loop.Resumed:
			note = "Taken up again" + d.view().resumed(*r.Resume)
		case loop.Hinted:
			note = "Hint from " + d.view().brief(r.Hint.By, 60) + ": " + d.view().brief(r.Hint.Text, 200)
		case loop.WentBack:
			note = fmt.Sprintf("Went back to iteration %d: %s", r.Iteration, d.view().brief(r.Back.Reason, 200))
		case loop.Warned:
			note = d.view().brief(r.Warning, 200)
		case loop.Baselined:
			passed, failed, _ := report.Counts(r.Baseline)
			note = fmt.Sprintf("The checks ran on the base commit: %d passed, %d failed", passed, failed)
		default:
			continue
		}
		list = append(list, moment{at: r.At, Note: note, Time: wording.Clock(r.At)})
	}
	return list
}

// waited is how long a pause at the beginning of some records really was: "2h 05m, "; "" when nothing came after it.
func waited(records []loop.Record) string {
	if len(records) < 2 {
		return ""
	}
	return safetext.Duration(records[1].At.Sub(records[0].At)) + ", "
}

// resumed says with what another process resumed the run.
func (v view) resumed(r loop.Resume) string {
	text := ""
	if r.Retry {
		text = ", asked for"
	}
	if r.MaxIterations > 0 {
		text += fmt.Sprintf(", %s more", safetext.Count(r.MaxIterations, "iteration"))
	}
	if r.Hint != "" {
		text += ", with the hint: " + v.brief(r.Hint, 200)
	}
	if f := r.Feedback; f != nil {
		text += ", for what " + cmp.Or(v.brief(f.By, 60), "other workflows") + " asked to have changed"
	}
	return text
}
