package app

import (
	"bytes"
	"context"
	"time"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
)

// What the report's page holds of diffs: the newest iterations come first, and what does not fit is said there.
const (
	pageDiffs = 2 << 20 // bytes of all together
	diffTime  = 10 * time.Second
	// diffSlack is read beyond what is shown of a diff.
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
		d.Diffs = w.diffs(ctx, stepsOf(v.State, records))
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
func (w *workshop) diffs(ctx context.Context, steps []step) map[int]report.Diff {
	diffs := map[int]report.Diff{}
	left := pageDiffs
	for i := len(steps) - 1; i >= 0; i-- {
		s := steps[i]
		if ctx.Err() != nil {
			diffs[s.n] = report.Diff{Note: "The diff is left out, because there was no time left to make it; the commit has it."}
			continue
		}
		if left < report.DiffBytes {
			diffs[s.n] = report.Diff{Note: "The diff is left out, because those of the newer iterations take all the room; the commit has it."}
			continue
		}
		text, err := w.copies.diff(ctx, s.from, s.to, report.DiffBytes+diffSlack)
		if err != nil {
			diffs[s.n] = report.Diff{Note: "The diff cannot be shown: " + err.Error()}
			continue
		}
		diffs[s.n] = report.Diff{Text: text}
		left -= min(len(text), report.DiffBytes)
	}
	return diffs
}
