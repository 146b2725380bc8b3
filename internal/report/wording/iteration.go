package wording

import (
	"fmt"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/safetext"
)

// IsReview says whose word a verdict is: of a role that reads and judges, or of anything else.
func IsReview(c loop.Verdict) bool { return c.Check == loop.ReviewCheck || c.Role.ReadOnly() }

// Handed is what an iteration made of its story, in a sign and words; "" when nothing.
func Handed(it *loop.Iteration) string {
	if it.Commit == nil || it.Commit.Plan == nil {
		return ""
	}
	a := it.Commit.Plan
	capped := slices.ContainsFunc(a.Stories, func(st plan.Story) bool { return st.ID == it.Story && st.AtCap() })
	switch {
	case a.Opinion != nil && !a.Opinion.Approve && capped:
		return "⚠️ auto-approved at the cap"
	case a.Opinion != nil && a.Opinion.Approve:
		return "✅ approved"
	case a.Opinion != nil:
		return "↩️ changes requested"
	case a.Handed:
		return "✅ handed in"
	}
	return ""
}

// Stuck is the line that says what the run repeated and how often, and whether the strategy shifts changed nothing.
func Stuck(s loop.State) string {
	spin := s.Spins()
	if !spin.Stuck() {
		return "No"
	}
	said := fmt.Sprintf("same error %dx", spin.Count)
	switch {
	case spin.Tree:
		said = fmt.Sprintf("unchanged tree %dx", spin.Count)
	case spin.InTurn > 0:
		said = fmt.Sprintf("%d errors in turn over %d attempts", spin.InTurn, spin.Over)
	}
	if spin.Numbers != "" {
		said += ", " + spin.Numbers
	}
	for _, it := range s.Iterations[max(0, len(s.Iterations)-spin.Over):] {
		if it.Judged && it.Shifted() {
			said += ", strategy shift failed"
			break
		}
	}
	return "Yes (" + said + ")"
}

// Changed counts an iteration's files and lines.
func Changed(it *loop.Iteration) string {
	c := it.Commit
	if c == nil {
		return ""
	}
	if c.Empty {
		return "nothing"
	}
	added, deleted := 0, 0
	for _, f := range c.Files {
		added += max(f.Added, 0)
		deleted += max(f.Deleted, 0)
	}
	return fmt.Sprintf("%s (+%d −%d)", safetext.Count(len(c.Files)+c.MoreFiles, "file"), added, deleted)
}

func IterationTime(it *loop.Iteration) time.Duration {
	if it.Took > 0 {
		return it.Took
	}
	return it.Turn.Duration
}

// Usage is what an iteration spent: its turn and its reviews.
func Usage(it *loop.Iteration) loop.Usage {
	u := it.Turn.Usage
	for _, c := range it.Verdicts {
		if c.Usage != nil {
			u = u.Plus(*c.Usage)
		}
	}
	return u
}

// Doing is what a turn is for, with the story of a plan.
func Doing(m loop.Mode, story string) string {
	switch {
	case m == loop.Review && story != "":
		return "reviews " + story
	case m == loop.ReviewFix && story != "":
		return "works on what the review of " + story + " asked for"
	case m == loop.Review:
		return "reviews the change"
	case m == loop.ReviewFix:
		return "works on what the reviewer asked for"
	case story != "":
		return "implements " + story
	}
	return "writes the change"
}
