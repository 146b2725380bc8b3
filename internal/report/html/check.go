package html

import (
	"cmp"
	"fmt"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/report/wording"
)

// check is what one check said.
type check struct {
	Sign, Mood, Word, Name, Reason, Took string
	Findings                             []finding
	Output, OutputName                   string
	Prose                                bool // the output is someone's words
	Open                                 bool
	Hash, Role                           string
}

// finding is one place that a check names.
type finding struct{ Place, Message string }

// mostChecks bounds what an iteration lists.
const mostChecks = 50

func (v view) checks(it *loop.Iteration, m measure) (list []check, more int) {
	verdicts := it.Verdicts
	if more = len(verdicts) - mostChecks; more > 0 {
		verdicts = verdicts[:mostChecks]
	}
	for _, c := range verdicts {
		list = append(list, v.check(c, it.Failure(), m))
	}
	return list, max(more, 0)
}

func (v view) check(c loop.Verdict, failure *loop.Verdict, m measure) check {
	h := check{
		Name: v.brief(c.Check, 200), Reason: v.brief(c.Reason, 400), Took: wording.Duration(c.Duration),
		OutputName: "What it printed",
		Role:       v.brief(string(c.Role), 20),
	}
	switch {
	case c.Skipped != "":
		h.Mood, h.Word, h.Reason, h.Took = "wait", "skipped", v.brief(c.Skipped, 400), ""
	case c.Pass && c.Flaky:
		h.Mood, h.Word, h.Reason = "warn", "flaky", "it failed and passed on the same tree"
	case c.Pass:
		h.Mood, h.Word = "good", "pass"
	case c.Severity == loop.Soft:
		h.Mood, h.Word = "warn", "warning"
	default:
		h.Mood, h.Word, h.Hash = "bad", "fail", v.brief(c.Hash, 16)
		h.Open = failure != nil && failure.Check == c.Check
	}
	h.Sign = moodSigns[h.Mood]
	if reviews(c) {
		h.OutputName, h.Prose = "What the reviewer said", true
	}
	if m < withoutOutput {
		h.Output = v.printed(c.Output)
		for _, f := range c.Findings[:min(len(c.Findings), report.MostFindings)] {
			h.Findings = append(h.Findings, finding{v.where(f), v.brief(wording.Said(f), 300)})
		}
	}
	return h
}

// where is where a finding is, as plain text.
func (v view) where(f loop.Finding) string {
	if f.File != "" && f.Line > 0 {
		return fmt.Sprintf("%s:%d", v.brief(f.File, 150), f.Line)
	}
	return v.brief(cmp.Or(f.File, f.Test), 150)
}
