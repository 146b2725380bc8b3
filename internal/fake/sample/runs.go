package sample

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

func RunningFirst() *Script {
	s := Begin(nil)
	s.Turning(1, loop.Implement)
	return s
}

func RunningThird() *Script {
	s := Begin(nil)
	s.Iterate(1, loop.Implement, "I added Greet.", Pass("claim"), Pass("go vet ./..."), TestFailure)
	s.Pull()
	s.Iterate(2, loop.Implement, "Fixed.", Pass("claim"), Pass("go vet ./..."), Pass("go test ./..."), AsksChange)
	s.Turning(3, loop.ReviewFix)
	return s
}

func Done() *Script {
	s := Begin(nil)
	s.Iterate(1, loop.Implement, "I added Greet.", Pass("claim"), Pass("go vet ./..."), Pass("go test ./..."), AsksChange)
	s.Pull()
	s.Iterate(2, loop.ReviewFix, "Done as asked.", Pass("claim"), Pass("go vet ./..."), Pass("go test ./..."), LintWarning,
		Pass(loop.ReviewCheck))
	return s.Finish(loop.Done, "all checks passed on iteration 2", "")
}

func Capped() *Script {
	s := Begin(nil)
	s.Iterate(1, loop.Implement, "I added Greet.", Pass("claim"), TestFailure, LintWarning)
	s.Pull()
	for n := 2; n <= 5; n++ {
		s.Iterate(n, loop.Implement, "I am sure that it works now.", Pass("claim"), TestFailure, LintWarning)
	}
	return s.Finish(loop.Capped, "5 of 5 iterations are used up", "wip/ralph-fail-issue-42-20261121-054000")
}

// Stuck repeats one failure through both strategy shifts.
func Stuck() *Script {
	s := Begin(nil)
	missing := TestFailure
	missing.MissingNames = []string{"greeting"}
	missing.Findings = []loop.Finding{
		{File: "hello_test.go", Line: 12, Test: "TestGreet", Message: `Greet("") = "Hello, !", want "Hello!"`},
		{File: "hello.go", Line: 3, Rule: "undefined", Message: "undefined: greeting"},
	}
	flaky := loop.Verdict{Check: "make race", Severity: loop.Hard, Pass: true, Flaky: true}
	for n, tier := range []loop.Tier{loop.Moving, loop.Moving, loop.Moving, loop.Shift, loop.Expand} {
		s.As(n+1, "", tier)
		s.Iterated(n+1, "I am sure that it works now.", Pass("claim"), flaky, missing, Weakened)
	}
	return s.Finish(loop.Stuck, "the same failure of go test ./... 5 times in a row, also after 2 strategy shifts",
		"wip/ralph-fail-issue-42-20261121-054000")
}

// WithRoles is a run of all four roles in which qa rejects.
func WithRoles() *Script {
	s := Begin(func(start *loop.Start) {
		start.Pipeline = task.Roles
		start.Completion = &task.Completion{Outcome: "Greet greets",
			Acceptance: []string{"a test", "the empty name gives `Hello!`"},
			Coder:      &task.Criteria{Promise: "IMPLEMENTATION_COMPLETE", Method: task.External, MaxIterations: 15},
			Tester:     &task.Criteria{Promise: "TESTS_PASSED", Method: task.StringMatch},
			Reviewer:   &task.Criteria{Promise: "REVIEW_PASSED", Method: task.Semantic},
			QA:         &task.Criteria{Promise: "QA_PASSED", Method: task.MultiStage}}
	})
	verify := func(r task.Role, ok bool, reason string) loop.Verdict {
		return loop.Verdict{Check: "verify " + string(r), Severity: loop.Hard, Role: r, Verification: true, Pass: ok,
			Reason: reason, Hash: "c4d5e6f7"}
	}
	later := loop.Verdict{Check: "verify tester", Severity: loop.Hard, Role: task.Tester, Verification: true,
		Skipped: "the tester has not had a turn yet", Later: true}
	s.Iterate(1, loop.Implement, "Written.", Pass("claim"), verify(task.Coder, false, "Command exited with 1, expected 0"),
		later)
	s.Iterate(2, loop.Implement, "Repaired.", Pass("claim"), verify(task.Coder, true, "External verification passed"),
		later)
	s.As(3, task.Tester, loop.Moving)
	qa := verify(task.QA, false, "Stage 'bandit' failed: Command exited with 1, expected 0")
	qa.Output = "B105: hardcoded password in hello.go:3\n"
	s.Iterated(3, "Tested.", Pass("claim"), verify(task.Coder, true, "External verification passed"),
		verify(task.Tester, true, "Promise found in output"),
		verify(task.Reviewer, true, "VERIFIED"), qa)
	s.As(4, task.Tester, loop.Moving)
	return s
}

func Waiting() *Script {
	s := Begin(nil).Finish(loop.Waiting,
		"claude's usage limit is reached until 2026-11-21T07:00:00Z: try again after that",
		"")
	s.State.End.Until = time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)
	return s
}

func Hostile() *Script {
	s := Begin(func(start *loop.Start) {
		start.Title, start.Spec, start.Hint = Nasty, Nasty+strings.Repeat(Nasty, 60), Nasty
		start.Asked, start.Agent, start.Detected = "@eve\n#1", "`agent` @x", Nasty
		start.Branch = "ralph/`x`@bob#12;$(rm -rf)'"
		start.Checks = []string{"make a | tee `b` @bob", "```\n@bob\n```", Nasty}
		start.RunURL, start.Run = "javascript:alert(1)//) @bob", "x --> @bob <!-- ralph:run:y"
	})
	big := loop.Excerpt(strings.Repeat(Nasty, 40))
	s.Turning(1, "implement @bob")
	s.Turned(1, loop.Turn{Class: loop.OK, Text: Nasty, Claim: loop.Claim{Done: true}})
	s.State.Feedback = &loop.Feedback{By: "@bob\n#12", Text: Nasty,
		Items: []loop.Remark{{ID: 7, By: "@bob", Path: "`@bob`|#12 -->\n<!-- ralph:run:q -->", Line: 3, Text: Nasty},
			{Text: Nasty}}}
	s.Committed(1, loop.FileChange{Path: ".github/workflows/`@bob`|#12.yml", Added: 1},
		loop.FileChange{Path: "a\n- @bob\n<!-- ralph:run:z -->.bin", Added: -1, Deleted: -1})
	failing := Fail("make a | tee `b` @bob", Nasty, big)
	failing.Findings = []loop.Finding{{File: "a|`@bob`\n#12", Line: 3, Rule: "@x", Message: Nasty},
		{Test: Nasty, Message: Nasty}}
	s.Judged(1, failing, loop.Verdict{Check: "@v #12", Role: "qa @bob", Verification: true, Reason: Nasty,
		Severity: loop.Soft, Flaky: true, Findings: failing.Findings},
		loop.Verdict{Check: loop.ReviewCheck, Severity: loop.Hard, Skipped: Nasty},
		loop.Verdict{Check: loop.ReviewCheck, Severity: loop.Hard, Reason: Nasty, Output: big,
			Criteria: []loop.Criterion{{Text: Nasty, Reason: Nasty}, {Text: Nasty, Met: true, Reason: Nasty}}},
		loop.Verdict{Check: Nasty, Severity: loop.Soft, Reason: Nasty})
	s.Add(loop.Record{Type: loop.Posted, Post: &loop.Post{PostedPull: loop.PostedPull{Pull: 57, PullURL: "https://x.y/) @bob"}}})
	return s.Finish(loop.Stuck, Nasty, "wip/@bob#12`")
}
