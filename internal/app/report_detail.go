package app

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
)

// What the report's page holds of diffs: the newest iterations come first, and what does not fit is said there.
const (
	pageDiff  = 100 << 10 // bytes of one iteration's
	pageDiffs = 2 << 20   // of all together
	leastDiff = 1 << 10   // with less room there is none
	diffTime  = 10 * time.Second
	// diffSlack is read beyond a diff's end: cut after it is redacted, it cannot end with half a secret.
	diffSlack = 8 << 10
)

// detail is a run in full: what its journal tells, and what its commits changed. Of a run without a journal's text, or without commits, it
// is what the state tells.
func (w *workshop) detail(ctx context.Context, v report.View, raw []byte) report.Detail {
	records, _, err := journal.Read(bytes.NewReader(raw))
	if err != nil { // it is our own, so this is a mistake of ours: the report is the poorer for it, and no more
		w.log("reading the journal for the report: %v", err)
	}
	d := report.Detail{View: v, Records: records}
	if w.copies.diff != nil {
		ctx, cancel := context.WithTimeout(ctx, diffTime)
		defer cancel()
		d.Diffs = w.diffs(ctx, v, stepsOf(v.State, records))
	}
	return d
}

// step is where an iteration's commit came from.
type step struct {
	n        int
	from, to string
}

// stepsOf are the iterations that changed something, oldest first. A turn that was taken again began where it did the first time, and what
// the harness corrected in between is no part of any.
func stepsOf(s loop.State, records []loop.Record) (steps []step) {
	began := map[int]string{}
	head := s.Start.Base
	for _, r := range records {
		if _, again := began[r.Iteration]; r.Type == loop.TurnBegun && !again {
			began[r.Iteration] = head
		}
		if r.Commit != nil && r.Commit.SHA != "" {
			head = r.Commit.SHA
		}
	}
	head = s.Start.Base
	for _, it := range s.Iterations {
		c := it.Commit
		if c == nil || c.SHA == "" {
			continue
		}
		from, known := began[it.N]
		if !known {
			from = head
		}
		if from != "" && from != c.SHA && !c.Unseen {
			steps = append(steps, step{it.N, from, c.SHA})
		}
		head = c.SHA
	}
	return steps
}

// diffs are what the iterations changed, the newest first for as long as there is room and time.
func (w *workshop) diffs(ctx context.Context, v report.View, steps []step) map[int]report.Diff {
	diffs := map[int]report.Diff{}
	left := pageDiffs
	for i := len(steps) - 1; i >= 0; i-- {
		s := steps[i]
		most := min(pageDiff, left)
		if most < leastDiff || ctx.Err() != nil {
			diffs[s.n] = report.Diff{Note: "The diff is left out, because those of the newer iterations take all the room; the commit has it."}
			continue
		}
		text, err := w.copies.diff(ctx, s.from, s.to, most+diffSlack)
		if err != nil {
			diffs[s.n] = report.Diff{Note: "The diff cannot be shown: " + err.Error()}
			continue
		}
		diffs[s.n] = clippedDiff(v, text, most)
		left -= len(diffs[s.n].Text)
	}
	return diffs
}

// clippedDiff is a diff without secrets, of at most most bytes and whole lines.
func clippedDiff(v report.View, text string, most int) report.Diff {
	if v.Redact != nil {
		text = v.Redact(text)
	}
	if len(text) <= most {
		return report.Diff{Text: text}
	}
	text = text[:strings.LastIndexByte(text[:most], '\n')+1]
	return report.Diff{Text: text, Note: fmt.Sprintf("The diff is cut after %d KiB; the commit has all of it.", (len(text)+512)>>10)}
}
