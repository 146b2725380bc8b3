package report

import (
	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
)

func runningFirst() View { return view(sample.RunningFirst()) }

func runningThird() View { return view(sample.RunningThird()) }

func done() View { return view(sample.Done()) }

func capped() View { return view(sample.Capped()) }

func stuckRun() View { return view(sample.Stuck()) }

func withRoles() View { return view(sample.WithRoles()) }

func waiting() View { return view(sample.Waiting()) }

func hostile() View {
	v := view(sample.Hostile())
	v.TokenNote = sample.Nasty
	v.Redact = Redactor(nil)
	v.Template = sample.Nasty + "\n## Description @bob #12\n" + sample.Nasty + "\n## Testing\n- [x] " + sample.Nasty +
		"\n## Screenshots @eve\n" + sample.Nasty + "\n"
	v.ReportURL, v.Limits = "javascript:alert(1)", loop.Limits{CostUSD: 5}
	return v
}
