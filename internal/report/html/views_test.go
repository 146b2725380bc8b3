package html

import (
	"time"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report"
)

// shown is a run of the bot as its reports see it.
func shown(s *sample.Script) report.View {
	return report.View{State: s.State, Now: s.At.Add(40 * time.Second), Words: report.Words{Phrase: "/ralph"},
		Controls: report.Controls{Label: "ralph", Running: "ralph:running"},
		Site: report.Site{ServerURL: "https://github.com", Repo: "alice/demo",
			TokenNote: "Pushes made with GITHUB_TOKEN start no workflows; use an app's token for CI to run here."}}
}

func capped() report.View { return shown(sample.Capped()) }

func hostile() report.View {
	v := shown(sample.Hostile())
	v.Redact, v.TokenNote, v.Limits = report.Redactor(nil), sample.Nasty, loop.Limits{CostUSD: 5}
	return v
}

func planCapped() report.View { return shown(sample.PlanCapped()) }

func end(s *sample.Script, o loop.Outcome, reason, branch string) report.View {
	return shown(s.Finish(o, reason, branch))
}
