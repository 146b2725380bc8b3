package report

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

// reviewed is a run that is done, whose reviewer has spoken of each criterion, with limits on what it may spend.
func reviewed() View {
	s := begin(nil)
	s.iterate(1, loop.Implement, "I added Greet.", pass("claim"), pass("go vet ./..."), testFailure)
	s.pull()
	approves := loop.Verdict{Check: loop.ReviewCheck, Severity: loop.Hard, Pass: true,
		Reason: "Greet does what was asked and is tested", Duration: 31 * time.Second,
		Usage: &loop.Usage{CostUSD: 0.01, Input: 900, Output: 200}, Criteria: []loop.Criterion{
			{Text: "a test", Met: true, Reason: "TestGreet in hello_test.go covers a name and the empty name"},
			{Text: "the empty name gives `Hello!`", Met: true, Reason: "hello.go:5 returns it"}}}
	s.iterate(2, loop.Implement, "The empty name is greeted, too.", pass("claim"), pass("go vet ./..."),
		pass("go test ./..."), approves)
	v := s.end(loop.Done, "all checks passed on iteration 2", "")
	v.Limits = loop.Limits{CostUSD: 5, Tokens: 2_000_000, IssueCostUSD: 20}
	v.ReportURL = v.State.RunURL + "#artifacts"
	return v
}

// fixed is a run that a review of its pull request has sent back; outcome is what came of that.
func fixed(outcome loop.Outcome) View {
	s := begin(nil)
	s.iterate(1, loop.Implement, "I added Greet.", pass("claim"), pass("go test ./..."), pass(loop.ReviewCheck))
	s.pull()
	s.end(loop.Done, "all checks passed on iteration 1", "")
	s.wait(time.Hour)
	s.add(loop.Record{Type: loop.Resumed,
		Resume: &loop.Resume{Owner: "runner-2", Retry: true, MaxIterations: 5,
			RunURL: "https://github.com/alice/demo/actions/runs/9002",
			Feedback: &loop.Feedback{By: "bob", Text: "Nearly there.", Items: []loop.Remark{
				{ID: 71, By: "bob", Path: "hello.go", Line: 7, Text: "Use a constant for the greeting."},
				{ID: 72, By: "bob", Path: "README.md", Text: "Please mention it here, @alice."}}}}})
	if outcome == "" {
		s.turning(2, loop.ReviewFix)
		return s.view()
	}
	checks, why := []loop.Verdict{pass("claim"), pass("go test ./..."), pass(loop.ReviewCheck)},
		"all checks passed on iteration 2"
	if outcome != loop.Done {
		checks, why = []loop.Verdict{pass("claim"), testFailure}, "the same failure of go test ./... 5 times in a row"
	}
	s.iterate(2, loop.ReviewFix, "The greeting is a constant now.", checks...)
	return s.end(outcome, why, "")
}

// asks is a run whose agent waits for an answer.
func asks() View {
	s := begin(nil)
	s.turning(1, loop.Implement)
	s.turned(1, loop.Turn{Class: loop.Waits, Reason: "the agent waits for a human",
		Text: "Should the empty name be greeted as **Hello!** or be an error?\n\n- `Hello!` is friendlier\n- an error is " +
			"safer"})
	s.committed(1, loop.FileChange{Path: "hello.go", Added: 4})
	s.pull()
	return s.end(loop.Waiting, "the agent waits for a human", "")
}

// heeds is a run that waits for other workflows.
func heeds() View {
	s := begin(nil)
	s.iterate(1, loop.Implement, "I added Greet.", pass("claim"), pass("go test ./..."),
		loop.Verdict{Check: "other workflows", Severity: loop.Hard, Waits: true,
			Reason: "CI has not finished within 20 minutes"})
	s.pull()
	return s.end(loop.Waiting, "CI has not finished within 20 minutes", "")
}

// spentAll is a run whose budget is used up.
func spentAll() View {
	s := begin(nil)
	s.iterate(1, loop.Implement, "I added Greet.", pass("claim"), testFailure)
	s.pull()
	s.iterate(2, loop.Implement, "I added Greet again.", pass("claim"), testFailure)
	v := s.end(loop.Budget, "the run has spent $0.08, and may spend $0.05", "wip/ralph-fail-issue-42-20261121-063000")
	v.Limits = loop.Limits{CostUSD: 0.05}
	return v
}

// judging is a run whose checks run.
func judging() View {
	s := begin(nil)
	s.turning(1, loop.Implement)
	s.turned(1, loop.Turn{Class: loop.OK, Text: "Done.", Claim: loop.Claim{Done: true}})
	s.committed(1, loop.FileChange{Path: "hello.go", Added: 4})
	return s.view()
}

// annotated is a run that is stuck on places in files, one of them named in many ways.
func annotated() View {
	s := begin(nil)
	lint := fail("golangci-lint run", "3 findings", "hello.go:3:2: undefined: greeting\n\tgreeting\n\t^\nother.go:1: x\n")
	lint.Severity = loop.Soft
	lint.Findings = []loop.Finding{{File: "hello.go", Line: 3, Column: 2, Rule: "unused", Level: "warning",
		Message: "greeting is unused"},
		{File: "/home/runner/work/demo/demo/cmd/main.go", Message: "package comment is missing"}}
	tests := fail("go test ./...", "exit code 1",
		"hello_test.go:12: Greet(\"\") = \"Hello, !\"\n    want \"Hello!\"\nFAIL\n")
	twice := loop.Finding{File: "hello_test.go", Line: 12, Test: "TestGreet",
		Message: `Greet("") = "Hello, !", want "Hello!"`}
	tests.Findings = []loop.Finding{twice, twice,
		{File: "/usr/local/go/src/testing/testing.go", Line: 9, Message: "elsewhere"},
		{File: "../secret", Line: 1, Message: "elsewhere"}, {Test: "TestX", Message: "no file"}}
	s.iterate(1, loop.Implement, "x", pass("claim"), lint, tests)
	v := s.end(loop.Stuck, "the same failure of go test ./... 5 times in a row", "wip/x")
	v.Worktree = "/home/runner/work/demo/demo"
	return v
}

// ownTemplate is a template as repositories have them.
var ownTemplate = strings.ReplaceAll(`<!-- Thank you! Read CONTRIBUTING first. -->
# Pull request

## Description
Please include a summary of the change. Fixes # (issue)

## Related issues
- Fixes #

## How was this tested?
- [ ] ''make test'' passes
- [x] I tested by hand

## Screenshots
<img src="x">
none yet, ask @design

## Checklist
- [ ] I have read the [guide](CONTRIBUTING.md) and the [code of conduct](https://example.com/conduct)
- [x] See #5, closes alice/demo#6

| Q | A |
|---|---|
| BC break? | no |
`, "''", "`")
