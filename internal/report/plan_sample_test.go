package report

import (
	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
)

func planReviewing() View {
	p := sample.Greetings()
	s := sample.Storied(p, nil)
	s.Stepped(1, loop.Implement, sample.StoryAs(p, "US-001", plan.NeedsReview, 0, ""), sample.HandIn,
		sample.Pass("go test ./..."))
	s.Add(loop.Record{Type: loop.TurnBegun, Iteration: 2, Mode: loop.Review, Story: "US-001"})
	return view(s)
}

func planSkipped() View {
	plan := sample.Greetings()
	s := sample.Storied(plan, func(p *loop.Planned) { p.SkipReview = true })
	done := *plan.Story("US-001")
	done.Passes, done.Notes = true, "greets"
	s.Stepped(1, loop.Implement, done, sample.HandIn, sample.Pass("go test ./..."))
	return view(s)
}

func planDone() View { return view(sample.PlanDone()) }
