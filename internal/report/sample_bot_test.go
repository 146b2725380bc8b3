package report

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
)

// reviewed is a run that is done, whose reviewer has spoken of each criterion, with limits on what it may spend.
func reviewed() View {
	s := sample.Begin(nil)
	s.Iterate(1, loop.Implement, "I added Greet.", sample.Pass("claim"), sample.Pass("go vet ./..."), sample.TestFailure)
	s.Pull()
	approves := loop.Verdict{Check: loop.ReviewCheck, Severity: loop.Hard, Pass: true,
		Reason: "Greet does what was asked and is tested", Duration: 31 * time.Second,
		Usage: &loop.Usage{CostUSD: 0.01, Input: 900, Output: 200}, Criteria: []loop.Criterion{
			{Text: "a test", Met: true, Reason: "TestGreet in hello_test.go covers a name and the empty name"},
			{Text: "the empty name gives `Hello!`", Met: true, Reason: "hello.go:5 returns it"}}}
	s.Iterate(2, loop.Implement, "The empty name is greeted, too.", sample.Pass("claim"), sample.Pass("go vet ./..."),
		sample.Pass("go test ./..."), approves)
	v := end(s, loop.Done, "all checks passed on iteration 2", "")
	v.Limits = loop.Limits{CostUSD: 5, Tokens: 2_000_000, IssueCostUSD: 20}
	v.ReportURL = v.State.RunURL + "#artifacts"
	return v
}

// fixed is a run that a review of its pull request has sent back; outcome is what came of that.
func fixed(outcome loop.Outcome) View {
	s := sample.Begin(nil)
	s.Iterate(1, loop.Implement, "I added Greet.", sample.Pass("claim"), sample.Pass("go test ./..."),
		sample.Pass(loop.ReviewCheck))
	s.Pull()
	end(s, loop.Done, "all checks passed on iteration 1", "")
	s.Wait(time.Hour)
	s.Add(loop.Record{Type: loop.Resumed,
		Resume: &loop.Resume{Owner: "runner-2", Retry: true, MaxIterations: 5,
			RunURL: "https://github.com/alice/demo/actions/runs/9002",
			Feedback: &loop.Feedback{By: "bob", Text: "Nearly there.", Items: []loop.Remark{
				{ID: 71, By: "bob", Path: "hello.go", Line: 7, Text: "Use a constant for the greeting."},
				{ID: 72, By: "bob", Path: "README.md", Text: "Please mention it here, @alice."}}}}})
	if outcome == "" {
		s.Turning(2, loop.ReviewFix)
		return view(s)
	}
	checks, why := []loop.Verdict{sample.Pass("claim"), sample.Pass("go test ./..."), sample.Pass(loop.ReviewCheck)},
		"all checks passed on iteration 2"
	if outcome != loop.Done {
		checks, why = []loop.Verdict{sample.Pass("claim"), sample.TestFailure},
			"the same failure of go test ./... 5 times in a row"
	}
	s.Iterate(2, loop.ReviewFix, "The greeting is a constant now.", checks...)
	return end(s, outcome, why, "")
}

// asks is a run whose agent waits for an answer.
func asks() View {
	s := sample.Begin(nil)
	s.Turning(1, loop.Implement)
	s.Turned(1, loop.Turn{Class: loop.Waits, Reason: "the agent waits for a human",
		Text: "Should the empty name be greeted as **Hello!** or be an error?\n\n- `Hello!` is friendlier\n- an error is " +
			"safer"})
	s.Committed(1, loop.FileChange{Path: "hello.go", Added: 4})
	s.Pull()
	return end(s, loop.Waiting, "the agent waits for a human", "")
}

// heeds is a run that waits for other workflows.
func heeds() View {
	s := sample.Begin(nil)
	s.Iterate(1, loop.Implement, "I added Greet.", sample.Pass("claim"), sample.Pass("go test ./..."),
		loop.Verdict{Check: "other workflows", Severity: loop.Hard, Waits: true,
			Reason: "CI has not finished within 20 minutes"})
	s.Pull()
	return end(s, loop.Waiting, "CI has not finished within 20 minutes", "")
}

// spentAll is a run whose budget is used up.
func spentAll() View {
	s := sample.Begin(nil)
	s.Iterate(1, loop.Implement, "I added Greet.", sample.Pass("claim"), sample.TestFailure)
	s.Pull()
	s.Iterate(2, loop.Implement, "I added Greet again.", sample.Pass("claim"), sample.TestFailure)
	v := end(s, loop.Budget, "the run has spent $0.08, and may spend $0.05", "wip/ralph-fail-issue-42-20261121-063000")
	v.Limits = loop.Limits{CostUSD: 0.05}
	return v
}

// judging is a run whose checks run.
func judging() View {
	s := sample.Begin(nil)
	s.Turning(1, loop.Implement)
	s.Turned(1, loop.Turn{Class: loop.OK, Text: "Done.", Claim: loop.Claim{Done: true}})
	s.Committed(1, loop.FileChange{Path: "hello.go", Added: 4})
	return view(s)
}

// annotated is a run that is stuck on places in files, one of them named in many ways.
func annotated() View {
	s := sample.Begin(nil)
	lint := sample.Fail("golangci-lint run", "3 findings",
		"hello.go:3:2: undefined: greeting\n\tgreeting\n\t^\nother.go:1: x\n")
	lint.Severity = loop.Soft
	lint.Findings = []loop.Finding{{File: "hello.go", Line: 3, Column: 2, Rule: "unused", Level: "warning",
		Message: "greeting is unused"},
		{File: "/home/runner/work/demo/demo/cmd/main.go", Message: "package comment is missing"}}
	tests := sample.Fail("go test ./...", "exit code 1",
		"hello_test.go:12: Greet(\"\") = \"Hello, !\"\n    want \"Hello!\"\nFAIL\n")
	twice := loop.Finding{File: "hello_test.go", Line: 12, Test: "TestGreet",
		Message: `Greet("") = "Hello, !", want "Hello!"`}
	tests.Findings = []loop.Finding{twice, twice,
		{File: "/usr/local/go/src/testing/testing.go", Line: 9, Message: "elsewhere"},
		{File: "../secret", Line: 1, Message: "elsewhere"}, {Test: "TestX", Message: "no file"}}
	s.Iterate(1, loop.Implement, "x", sample.Pass("claim"), lint, tests)
	v := end(s, loop.Stuck, "the same failure of go test ./... 5 times in a row", "wip/x")
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
