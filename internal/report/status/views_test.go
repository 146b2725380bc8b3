package status

import (
	"time"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
)

// view is a run of a laptop.
func view(s *sample.Script) report.View {
	return report.View{State: s.State, Now: s.At.Add(40 * time.Second), Words: report.Words{Phrase: "/ralph"}}
}

func hostile() report.View {
	v := view(sample.Hostile())
	v.Redact, v.TokenNote, v.Limits = report.Redactor(nil), sample.Nasty, loop.Limits{CostUSD: 5}
	return v
}

func planHostile() report.View {
	v := view(sample.PlanHostile())
	v.Redact = report.Redactor(nil)
	return v
}

func planLarge(n int, text string) report.View { return view(sample.PlanLarge(n, text)) }
