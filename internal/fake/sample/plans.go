package sample

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
)

// Greetings is a plan of three stories.
func Greetings() plan.Plan {
	return plan.Plan{Project: "hello", BranchName: "ralph/greetings", Description: "Greet people, one and many.",
		VerifyCommands: []string{"go test ./..."}, Stories: []plan.Story{
			{ID: "US-001", Title: "Greet by name", Description: "As a caller I want my name in the greeting.",
				AcceptanceCriteria: []string{"`Greet(\"Ann\")` is `Hello, Ann!`", "the empty name gives `Hello!`"}, Priority: 1},
			{ID: "US-002", Title: "Greet many", Description: "As a caller I want several people to be greeted.",
				AcceptanceCriteria: []string{"two names are joined by and"}, Priority: 2, DependsOn: []string{"US-001"}},
			{ID: "US-003", Title: "Say goodbye", Description: "As a caller I want to say goodbye.",
				AcceptanceCriteria: []string{"`Bye(\"Ann\")` is `Bye, Ann!`"}, Priority: 3, DependsOn: []string{"US-001"}},
		}}
}

// Storied starts a run of a plan.
func Storied(plan plan.Plan, edit func(*loop.Planned)) *Script {
	return Begin(func(start *loop.Start) {
		start.Task, start.Title, start.Branch, start.Spec, start.MaxIterations = "greetings", "Greetings", "ralph/greetings",
			"Greet people, one and many.", 15
		start.Plan = &loop.Planned{Dir: "ralph", File: "ralph/tasks.json", Plan: plan, Tree: "t0", ReviewCap: 2}
		if edit != nil {
			edit(start.Plan)
		}
	})
}

// Stepped adds a whole iteration for a story, which is as after says then.
func (s *Script) Stepped(n int, mode loop.Mode, after plan.Story, a loop.Advance, verdicts ...loop.Verdict) {
	s.Add(loop.Record{Type: loop.TurnBegun, Iteration: n, Mode: mode, Story: after.ID})
	s.Turned(n, loop.Turn{Class: loop.OK, Text: "I did what " + after.ID + " asks for.",
		Usage: loop.Usage{CostUSD: 0.03, Input: 900, Output: 500}})
	a.Stories = append([]plan.Story{after}, a.Stories...)
	s.Add(loop.Record{Type: loop.Committed, Iteration: n,
		Commit: &loop.Commit{SHA: fmt.Sprintf("%040d", n), Tree: fmt.Sprintf("t%d", n), Plan: &a,
			Files: []loop.FileChange{{Path: "greet.go", Added: 8}, {Path: "ralph/tasks.json", Added: 1, Deleted: 1}}}})
	s.Judged(n, verdicts...)
}

// StoryAs is a story in another state.
func StoryAs(p plan.Plan, id string, status plan.ReviewStatus, count int, feedback string) plan.Story {
	st := *p.Story(id)
	st.ReviewStatus, st.ReviewCount, st.ReviewFeedback, st.Passes = status, count, feedback, status == plan.Approved
	return st
}

var (
	HandIn  = loop.Advance{Handed: true}
	Approve = loop.Advance{Handed: true, Opinion: &plan.Opinion{Approve: true}}
)

func reject(feedback string) loop.Advance {
	return loop.Advance{Handed: true, Opinion: &plan.Opinion{Feedback: feedback}}
}

// planScript is a run in which US-001 is approved, US-002 only at the cap of two reviews, and a review asks for changes
// in US-003.
func planScript() *Script {
	p := Greetings()
	s := Storied(p, nil)
	const joined, tested = "join.go:4: three names are joined by two ands", "bye_test.go: nothing tests the empty name"
	ok := []loop.Verdict{Pass("claim"), Pass("go test ./...")}
	s.Stepped(1, loop.Implement, StoryAs(p, "US-001", plan.NeedsReview, 0, ""), HandIn, ok...)
	s.Pull()
	s.Stepped(2, loop.Review, StoryAs(p, "US-001", plan.Approved, 1, ""), Approve, ok...)
	s.Stepped(3, loop.Implement, StoryAs(p, "US-002", plan.NeedsReview, 0, ""), HandIn, ok...)
	s.Stepped(4, loop.Review, StoryAs(p, "US-002", plan.ChangesRequested, 1, joined), reject(joined), ok...)
	s.Stepped(5, loop.ReviewFix, StoryAs(p, "US-002", plan.NeedsReview, 1, ""), HandIn, ok...)
	s.Stepped(6, loop.Review, StoryAs(p, "US-002", plan.Approved, 2, plan.AtCap+" "+joined), reject(joined), ok...)
	s.Stepped(7, loop.Implement, StoryAs(p, "US-003", "", 0, ""),
		loop.Advance{Violations: []plan.Violation{{Check: "2.5", Story: "US-003",
			Text: "implement iterations cannot approve"}}, Reverted: []string{"ralph/tasks.json"}},
		Fail(loop.PlanCheck, "implement iterations cannot approve", "implement iterations cannot approve\n"))
	s.Stepped(8, loop.Implement, StoryAs(p, "US-003", plan.NeedsReview, 0, ""), HandIn, ok...)
	s.Stepped(9, loop.Review, StoryAs(p, "US-003", plan.ChangesRequested, 1, tested), reject(tested), ok...)
	return s
}

func PlanRunning() *Script {
	s := planScript()
	s.Add(loop.Record{Type: loop.TurnBegun, Iteration: 10, Mode: loop.ReviewFix, Story: "US-003"})
	return s
}

func PlanCapped() *Script {
	s := planScript()
	s.State.MaxIterations = 9
	return s.Finish(loop.Capped, "9 of 9 iterations are used up", "wip/ralph-fail-greetings-20261121-061000")
}

func PlanDone() *Script {
	p := Greetings()
	s := planScript()
	s.Stepped(10, loop.ReviewFix, StoryAs(p, "US-003", plan.NeedsReview, 1, ""), HandIn, Pass("go test ./..."))
	s.Stepped(11, loop.Review, StoryAs(p, "US-003", plan.Approved, 2, ""), Approve, Pass("go test ./..."))
	return s.Finish(loop.Done, "all 3 stories are approved, and all checks passed on iteration 11; "+plan.AtCap+" US-002",
		"")
}

// PlanHostile is a plan in which every text tries everything at once.
func PlanHostile() *Script {
	evil := func(id string) plan.Story {
		return plan.Story{ID: id, Title: Nasty, Description: Nasty, AcceptanceCriteria: []string{Nasty, ""},
			ReviewFeedback: Nasty, Notes: Nasty, DependsOn: []string{Nasty, "`x`"}}
	}
	p := plan.Plan{Project: Nasty, Description: Nasty, BranchName: Nasty, VerifyCommands: []string{Nasty},
		Stories: []plan.Story{evil(Nasty), evil("@bob | #12"), evil("](x)"), evil("")}}
	p.Stories[1].Passes, p.Stories[1].ReviewStatus, p.Stories[1].ReviewCount, p.Stories[1].ReviewFeedback = true,
		plan.Approved, 5, plan.AtCap+" "+Nasty
	s := Storied(p, nil)
	s.Stepped(1, loop.Review, p.Stories[1],
		loop.Advance{Opinion: &plan.Opinion{Feedback: Nasty}, Violations: []plan.Violation{{Text: Nasty}},
			Reverted: []string{Nasty}}, Fail(loop.PlanCheck, Nasty, Nasty))
	s.Stepped(2, "implement @bob", p.Stories[0], loop.Advance{})
	s.Add(loop.Record{Type: loop.TurnBegun, Iteration: 3, Mode: loop.Review, Story: Nasty})
	return s
}

// PlanLarge is a run of a plan of n stories, all of them as long as text makes them.
func PlanLarge(n int, text string) *Script {
	p := plan.Plan{Project: "large"}
	for i := range n {
		st := plan.Story{ID: fmt.Sprintf("US-%03d", i+1), Title: text, Description: text,
			AcceptanceCriteria: []string{text, text, text}, ReviewCount: i % 6}
		switch i % 4 {
		case 0:
			st.Passes, st.ReviewStatus = true, plan.Approved
		case 1:
			st.ReviewStatus, st.ReviewFeedback = plan.ChangesRequested, text
		case 2:
			st.Passes, st.ReviewStatus, st.ReviewFeedback = true, plan.Approved, plan.AtCap+" "+text
		}
		if i > 0 {
			st.DependsOn = []string{fmt.Sprintf("US-%03d", i)}
		}
		p.Stories = append(p.Stories, st)
	}
	s := Storied(p, nil)
	for i := 1; i <= 40; i++ {
		s.Stepped(i, loop.Implement, p.Stories[i%n], loop.Advance{},
			Fail("go test ./...", text, strings.Repeat(text+"\n", 20)))
	}
	s.Add(loop.Record{Type: loop.TurnBegun, Iteration: 41, Mode: loop.Review, Story: p.Stories[n/2].ID})
	s.Wait(time.Minute)
	return s
}
