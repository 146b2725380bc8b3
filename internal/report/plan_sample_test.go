package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

// greetings is a plan of three stories.
func greetings() task.Plan {
	return task.Plan{Project: "hello", BranchName: "ralph/greetings", Description: "Greet people, one and many.", VerifyCommands: []string{"go test ./..."}, Stories: []task.Story{
		{ID: "US-001", Title: "Greet by name", Description: "As a caller I want to be greeted by my name.", AcceptanceCriteria: []string{"`Greet(\"Ann\")` is `Hello, Ann!`", "the empty name gives `Hello!`"}, Priority: 1},
		{ID: "US-002", Title: "Greet many", Description: "As a caller I want several people to be greeted.", AcceptanceCriteria: []string{"two names are joined by and"}, Priority: 2, DependsOn: []string{"US-001"}},
		{ID: "US-003", Title: "Say goodbye", Description: "As a caller I want to say goodbye.", AcceptanceCriteria: []string{"`Bye(\"Ann\")` is `Bye, Ann!`"}, Priority: 3, DependsOn: []string{"US-001"}},
	}}
}

// storied begins a run of a plan.
func storied(plan task.Plan, edit func(*loop.Planned)) *script {
	return begin(func(start *loop.Start) {
		start.Task, start.Title, start.Branch, start.Spec, start.MaxIterations = "greetings", "Greetings", "ralph/greetings", "Greet people, one and many.", 15
		start.Plan = &loop.Planned{Dir: "ralph", File: "ralph/tasks.json", Plan: plan, Tree: "t0", ReviewCap: 2}
		if edit != nil {
			edit(start.Plan)
		}
	})
}

// stepped adds a whole iteration for a story, which is as after says then.
func (s *script) stepped(n int, mode loop.Mode, after task.Story, a loop.Advance, verdicts ...loop.Verdict) {
	s.add(loop.Record{Type: loop.TurnBegun, Iteration: n, Mode: mode, Story: after.ID})
	s.turned(n, loop.Turn{Class: loop.OK, Text: "I did what " + after.ID + " asks for.", Usage: loop.Usage{CostUSD: 0.03, Input: 900, Output: 500}})
	a.Stories = append([]task.Story{after}, a.Stories...)
	s.add(loop.Record{Type: loop.Committed, Iteration: n, Commit: &loop.Commit{SHA: fmt.Sprintf("%040d", n), Tree: fmt.Sprintf("t%d", n), Plan: &a,
		Files: []loop.FileChange{{Path: "greet.go", Added: 8}, {Path: "ralph/tasks.json", Added: 1, Deleted: 1}}}})
	s.judged(n, verdicts...)
}

// at is a story in another state.
func at(plan task.Plan, id string, status task.ReviewStatus, count int, feedback string) task.Story {
	st := *plan.Story(id)
	st.ReviewStatus, st.ReviewCount, st.ReviewFeedback, st.Passes = status, count, feedback, status == task.Approved
	return st
}

var (
	handIn  = loop.Advance{Handed: true}
	approve = loop.Advance{Handed: true, Opinion: &task.Opinion{Approve: true}}
)

func reject(feedback string) loop.Advance {
	return loop.Advance{Handed: true, Opinion: &task.Opinion{Feedback: feedback}}
}

// planScript is a run in which US-001 is approved, US-002 only at the cap of two reviews, and changes were asked for in US-003.
func planScript() *script {
	plan := greetings()
	s := storied(plan, nil)
	const joined, tested = "join.go:4: three names are joined by two ands", "bye_test.go: nothing tests the empty name"
	ok := []loop.Verdict{pass("claim"), pass("go test ./...")}
	s.stepped(1, loop.Implement, at(plan, "US-001", task.NeedsReview, 0, ""), handIn, ok...)
	s.pull()
	s.stepped(2, loop.Review, at(plan, "US-001", task.Approved, 1, ""), approve, ok...)
	s.stepped(3, loop.Implement, at(plan, "US-002", task.NeedsReview, 0, ""), handIn, ok...)
	s.stepped(4, loop.Review, at(plan, "US-002", task.ChangesRequested, 1, joined), reject(joined), ok...)
	s.stepped(5, loop.ReviewFix, at(plan, "US-002", task.NeedsReview, 1, ""), handIn, ok...)
	s.stepped(6, loop.Review, at(plan, "US-002", task.Approved, 2, task.AtCap+" "+joined), reject(joined), ok...)
	s.stepped(7, loop.Implement, at(plan, "US-003", "", 0, ""), loop.Advance{Violations: []task.Violation{{Check: "2.5", Story: "US-003", Text: "implement iterations cannot approve"}}, Reverted: []string{"ralph/tasks.json"}},
		fail(loop.PlanCheck, "implement iterations cannot approve", "implement iterations cannot approve\n"))
	s.stepped(8, loop.Implement, at(plan, "US-003", task.NeedsReview, 0, ""), handIn, ok...)
	s.stepped(9, loop.Review, at(plan, "US-003", task.ChangesRequested, 1, tested), reject(tested), ok...)
	return s
}

func planRunning() View {
	s := planScript()
	s.add(loop.Record{Type: loop.TurnBegun, Iteration: 10, Mode: loop.ReviewFix, Story: "US-003"})
	return s.view()
}

func planCapped() View {
	s := planScript()
	s.state.MaxIterations = 9
	return s.end(loop.Capped, "9 of 9 iterations are used up", "wip/ralph-fail-greetings-20261121-061000")
}

func planDone() View {
	plan := greetings()
	s := planScript()
	s.stepped(10, loop.ReviewFix, at(plan, "US-003", task.NeedsReview, 1, ""), handIn, pass("go test ./..."))
	s.stepped(11, loop.Review, at(plan, "US-003", task.Approved, 2, ""), approve, pass("go test ./..."))
	return s.end(loop.Done, "all 3 stories are approved, and all checks passed on iteration 11; "+task.AtCap+" US-002", "")
}

func planReviewing() View {
	plan := greetings()
	s := storied(plan, nil)
	s.stepped(1, loop.Implement, at(plan, "US-001", task.NeedsReview, 0, ""), handIn, pass("go test ./..."))
	s.add(loop.Record{Type: loop.TurnBegun, Iteration: 2, Mode: loop.Review, Story: "US-001"})
	return s.view()
}

func planSkipped() View {
	plan := greetings()
	s := storied(plan, func(p *loop.Planned) { p.SkipReview = true })
	done := *plan.Story("US-001")
	done.Passes, done.Notes = true, "greets"
	s.stepped(1, loop.Implement, done, handIn, pass("go test ./..."))
	return s.view()
}

// planHostile is a plan in which every text tries everything at once.
func planHostile() View {
	evil := func(id string) task.Story {
		return task.Story{ID: id, Title: nasty, Description: nasty, AcceptanceCriteria: []string{nasty, ""}, ReviewFeedback: nasty, Notes: nasty, DependsOn: []string{nasty, "`x`"}}
	}
	plan := task.Plan{Project: nasty, Description: nasty, BranchName: nasty, VerifyCommands: []string{nasty}, Stories: []task.Story{evil(nasty), evil("@bob | #12"), evil("](x)"), evil("")}}
	plan.Stories[1].Passes, plan.Stories[1].ReviewStatus, plan.Stories[1].ReviewCount, plan.Stories[1].ReviewFeedback = true, task.Approved, 5, task.AtCap+" "+nasty
	s := storied(plan, nil)
	s.stepped(1, loop.Review, plan.Stories[1], loop.Advance{Opinion: &task.Opinion{Feedback: nasty}, Violations: []task.Violation{{Text: nasty}}, Reverted: []string{nasty}}, fail(loop.PlanCheck, nasty, nasty))
	s.stepped(2, "implement @bob", plan.Stories[0], loop.Advance{})
	s.add(loop.Record{Type: loop.TurnBegun, Iteration: 3, Mode: loop.Review, Story: nasty})
	v := s.view()
	v.Redact = Redactor(nil)
	return v
}

// planLarge is a run of a plan of n stories, all of them as long as text makes them.
func planLarge(n int, text string) View {
	plan := task.Plan{Project: "large"}
	for i := range n {
		st := task.Story{ID: fmt.Sprintf("US-%03d", i+1), Title: text, Description: text, AcceptanceCriteria: []string{text, text, text}, ReviewCount: i % 6}
		switch i % 4 {
		case 0:
			st.Passes, st.ReviewStatus = true, task.Approved
		case 1:
			st.ReviewStatus, st.ReviewFeedback = task.ChangesRequested, text
		case 2:
			st.Passes, st.ReviewStatus, st.ReviewFeedback = true, task.Approved, task.AtCap+" "+text
		}
		if i > 0 {
			st.DependsOn = []string{fmt.Sprintf("US-%03d", i)}
		}
		plan.Stories = append(plan.Stories, st)
	}
	s := storied(plan, nil)
	for i := 1; i <= 40; i++ {
		s.stepped(i, loop.Implement, plan.Stories[i%n], loop.Advance{}, fail("go test ./...", text, strings.Repeat(text+"\n", 20)))
	}
	s.add(loop.Record{Type: loop.TurnBegun, Iteration: 41, Mode: loop.Review, Story: plan.Stories[n/2].ID})
	v := s.view()
	v.Now = v.Now.Add(time.Minute)
	return v
}
