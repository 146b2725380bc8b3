package planlist

import (
	"time"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/report"
)

// view is a run of the bot as its reports see it.
func view(s *sample.Script) report.View {
	return report.View{State: s.State, Now: s.At.Add(40 * time.Second), Words: report.Words{Phrase: "/ralph"},
		Controls: report.Controls{Label: "ralph", Running: "ralph:running"},
		Site: report.Site{ServerURL: "https://github.com", Repo: "alice/demo",
			TokenNote: "Pushes made with GITHUB_TOKEN start no workflows; use an app's token for CI to run here."}}
}

func planRunning() report.View { return view(sample.PlanRunning()) }

func planHostile() report.View {
	v := view(sample.PlanHostile())
	v.Redact = report.Redactor(nil)
	return v
}

func planLarge(n int, text string) report.View { return view(sample.PlanLarge(n, text)) }
