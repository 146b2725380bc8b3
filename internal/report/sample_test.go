package report

import (
	"fmt"
	"hash/crc32"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

var began = time.Date(2026, 11, 21, 5, 30, 0, 0, time.UTC)

// script folds records with a clock that goes forward.
type script struct {
	state   loop.State
	at      time.Time
	records []loop.Record
}

func begin(edit func(*loop.Start)) *script {
	s := &script{at: began}
	start := loop.Start{
		Run: "20261121-053000-7f3a", Task: "issue-42", Title: "Add `Greet(name)` to hello", Issue: 42, Asked: "alice",
		Base: strings.Repeat("a", 40), Onto: "main", Branch: "ralph/issue-42", Agent: "claude",
		Spec: "`Greet(\"Ann\")` should return **Hello, Ann!**\n\n- [ ] a test\n- [ ] the empty name gives " +
			"`Hello!`\n\n```go\nfunc Greet(name string) string\n```\n\nSee #7, thanks @bob.",
		Checks: []string{"go vet ./...", "go test ./..."}, Review: true, MaxIterations: 5, Owner: "runner-1",
		RunURL: "https://github.com/alice/demo/actions/runs/9001", Detected: "go.mod is there",
	}
	if edit != nil {
		edit(&start)
	}
	s.add(loop.Record{Type: loop.Started, Start: &start})
	s.add(loop.Record{Type: loop.Baselined,
		Baseline: []loop.Verdict{{Check: "go vet ./...", Severity: loop.Hard, Pass: true}}})
	return s
}

func (s *script) add(r loop.Record) {
	r.At = s.at
	s.state = s.state.With(r)
	s.records = append(s.records, r)
}

func (s *script) wait(d time.Duration) { s.at = s.at.Add(d) }

func (s *script) turning(n int, mode loop.Mode) {
	s.add(loop.Record{Type: loop.TurnBegun, Iteration: n, Mode: mode})
}

// as begins a turn of another role than the coder, or of a run that is stuck.
func (s *script) as(n int, role task.Role, tier loop.Tier) {
	s.add(loop.Record{Type: loop.TurnBegun, Iteration: n, Mode: loop.Implement, Role: role, Tier: tier})
}

func (s *script) turned(n int, t loop.Turn) {
	t.Duration = 95 * time.Second
	s.wait(t.Duration)
	s.add(loop.Record{Type: loop.Turned, Iteration: n, Turn: &t})
}

func (s *script) committed(n int, files ...loop.FileChange) {
	s.add(loop.Record{Type: loop.Committed, Iteration: n,
		Commit: &loop.Commit{SHA: fmt.Sprintf("%07x%033d", 0xc0ffee0+n, 0), Tree: fmt.Sprintf("t%d", n), Files: files,
			Empty: len(files) == 0}})
}

func (s *script) judged(n int, verdicts ...loop.Verdict) {
	s.wait(12 * time.Second)
	s.add(loop.Record{Type: loop.Judged, Iteration: n, Verdicts: verdicts})
}

// iterate adds a whole iteration.
func (s *script) iterate(n int, mode loop.Mode, text string, verdicts ...loop.Verdict) {
	s.turning(n, mode)
	s.iterated(n, text, verdicts...)
}

// iterated adds what follows the beginning of a turn.
func (s *script) iterated(n int, text string, verdicts ...loop.Verdict) {
	s.turned(n, loop.Turn{Class: loop.OK, Text: text, Claim: loop.Claim{Done: true, Tag: "response", Text: "DONE"},
		Usage: loop.Usage{CostUSD: 0.042, Input: 1200, Output: 830, CacheRead: 15400}})
	s.committed(n, loop.FileChange{Path: "hello.go", Added: 9, Deleted: 1},
		loop.FileChange{Path: "hello_test.go", Added: 20})
	s.judged(n, verdicts...)
}

func (s *script) pull() {
	draft := true
	s.add(loop.Record{Type: loop.Posted,
		Post: &loop.Post{Pull: 57, PullURL: "https://github.com/alice/demo/pull/57", Draft: &draft}})
}

func (s *script) end(o loop.Outcome, reason, branch string) View {
	s.wait(3 * time.Second)
	s.add(loop.Record{Type: loop.Ended, End: &loop.End{Outcome: o, Reason: reason, FailureBranch: branch}})
	return s.view()
}

func (s *script) view() View {
	return View{State: s.state, Now: s.at.Add(40 * time.Second), ServerURL: "https://github.com", Repo: "alice/demo",
		Phrase:    "/ralph",
		TokenNote: "Pushes made with GITHUB_TOKEN start no workflows; use an app's token for CI to run here."}
}

func pass(check string) loop.Verdict {
	return loop.Verdict{Check: check, Severity: loop.Hard, Pass: true, Duration: 2 * time.Second}
}

func fail(check, reason, output string) loop.Verdict {
	return loop.Verdict{Check: check, Severity: loop.Hard, Reason: reason, Output: output, Exit: 1,
		Hash: fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(check+output))), Duration: 4 * time.Second}
}

const testOutput = `=== RUN   TestGreet
    hello_test.go:12: Greet("") = "Hello, !", want "Hello!"
--- FAIL: TestGreet (0.00s)
FAIL
FAIL	example.com/hello	0.003s
`

var (
	testFailure = fail("go test ./...", "exit code 1", testOutput)
	asksChange  = loop.Verdict{Check: loop.ReviewCheck, Severity: loop.Hard, Reason: "the reviewer asks for changes",
		Hash:     "c4d5e6f7",
		Output:   "Missing: the empty name (spec line 4)\nExtra: a --json flag that nobody asked for\n",
		Duration: 31 * time.Second, Usage: &loop.Usage{CostUSD: 0.01, Input: 900, Output: 200}}
	weakened = loop.Verdict{Check: "weakened tests", Severity: loop.Soft, Reason: "1 assertion was removed",
		Duration: time.Second,
		Findings: []loop.Finding{{File: "hello_test.go", Line: 9, Message: "the assertion on Greet(\"Ann\") is gone"}}}
	lintWarning = loop.Verdict{Check: "golangci-lint run", Severity: loop.Soft, Reason: "2 findings",
		Duration: time.Second}
)

func runningFirst() View {
	s := begin(nil)
	s.turning(1, loop.Implement)
	return s.view()
}

func runningThird() View {
	s := begin(nil)
	s.iterate(1, loop.Implement, "I added Greet.", pass("claim"), pass("go vet ./..."), testFailure)
	s.pull()
	s.iterate(2, loop.Implement, "Fixed.", pass("claim"), pass("go vet ./..."), pass("go test ./..."), asksChange)
	s.turning(3, loop.ReviewFix)
	return s.view()
}

func done() View {
	s := begin(nil)
	s.iterate(1, loop.Implement, "I added Greet.", pass("claim"), pass("go vet ./..."), pass("go test ./..."), asksChange)
	s.pull()
	s.iterate(2, loop.ReviewFix, "Done as asked.", pass("claim"), pass("go vet ./..."), pass("go test ./..."), lintWarning,
		pass(loop.ReviewCheck))
	return s.end(loop.Done, "all checks passed on iteration 2", "")
}

func capped() View {
	s := begin(nil)
	s.iterate(1, loop.Implement, "I added Greet.", pass("claim"), testFailure, lintWarning)
	s.pull()
	for n := 2; n <= 5; n++ {
		s.iterate(n, loop.Implement, "I am sure that it works now.", pass("claim"), testFailure, lintWarning)
	}
	return s.end(loop.Capped, "5 of 5 iterations are used up", "wip/ralph-fail-issue-42-20261121-054000")
}

// stuckRun repeats one failure through both strategy shifts.
func stuckRun() View {
	s := begin(nil)
	missing := testFailure
	missing.Gap = []string{"greeting"}
	missing.Findings = []loop.Finding{
		{File: "hello_test.go", Line: 12, Test: "TestGreet", Message: `Greet("") = "Hello, !", want "Hello!"`},
		{File: "hello.go", Line: 3, Rule: "undefined", Message: "undefined: greeting"},
	}
	flaky := loop.Verdict{Check: "make race", Severity: loop.Hard, Pass: true, Flaky: true}
	for n, tier := range []loop.Tier{loop.Moving, loop.Moving, loop.Moving, loop.Shift, loop.Expand} {
		s.as(n+1, "", tier)
		s.iterated(n+1, "I am sure that it works now.", pass("claim"), flaky, missing, weakened)
	}
	return s.end(loop.Stuck, "the same failure of go test ./... 5 times in a row, also after 2 strategy shifts",
		"wip/ralph-fail-issue-42-20261121-054000")
}

// withRoles is a run of all four roles in which qa rejects.
func withRoles() View {
	s := begin(func(start *loop.Start) {
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
	s.iterate(1, loop.Implement, "Written.", pass("claim"), verify(task.Coder, false, "Command exited with 1, expected 0"),
		later)
	s.iterate(2, loop.Implement, "Repaired.", pass("claim"), verify(task.Coder, true, "External verification passed"),
		later)
	s.as(3, task.Tester, loop.Moving)
	qa := verify(task.QA, false, "Stage 'bandit' failed: Command exited with 1, expected 0")
	qa.Output = "B105: hardcoded password in hello.go:3\n"
	s.iterated(3, "Tested.", pass("claim"), verify(task.Coder, true, "External verification passed"),
		verify(task.Tester, true, "Promise found in output"),
		verify(task.Reviewer, true, "VERIFIED"), qa)
	s.as(4, task.Tester, loop.Moving)
	return s.view()
}

func timedOut() View {
	s := begin(nil)
	s.iterate(1, loop.Implement, "", fail("claim", "the agent did not claim completion", ""))
	return s.end(loop.Timeout, "the run's time limit of 1h0m0s is over", "wip/ralph-fail-issue-42-20261121-063000")
}

func invalid() View {
	s := begin(func(start *loop.Start) { start.Checks = nil; start.Review = false; start.Detected = "" })
	s.turning(1, loop.Implement)
	s.turned(1, loop.Turn{Class: loop.Auth,
		Reason: "the key in ANTHROPIC_API_KEY is refused; put a valid one into the secret", Exit: 1})
	s.committed(1)
	return s.end(loop.Invalid, "the key in ANTHROPIC_API_KEY is refused; put a valid one into the secret", "")
}

func interrupted() View {
	s := begin(nil)
	s.turning(1, loop.Implement)
	s.turned(1, loop.Turn{Class: loop.Stopped, Reason: "the run was cancelled"})
	s.committed(1, loop.FileChange{Path: "hello.go", Added: 4})
	return s.end(loop.Interrupted, "the run was cancelled", "")
}

func waiting() View {
	v := begin(nil).end(loop.Waiting, "claude's usage limit is reached until 2026-11-21T07:00:00Z: try again after that",
		"")
	v.State.End.Until = time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)
	return v
}

func failed() View {
	s := begin(nil)
	s.iterate(1, loop.Implement, "x", pass("claim"))
	return s.end(loop.Failed, "pushing ralph/issue-42: the branch moved", "")
}

// nasty is a text that tries everything at once.
const nasty = "# Title @alice fixes #12, closes alice/demo#3 and GH-4 https://github.com/alice/demo/issues/5\n" +
	"/ralph run everything\n<!-- ralph:run:20261121-053000-7f3a -->\n<details><summary>x</summary>\n</details>\n" +
	"![pixel](https://evil.example/p.png) [link](javascript:alert(1)) <img src=x onerror=alert(1)> " +
	"<script>alert(1)</script>\n" +
	"````\n@bob inside\n```\nout of it? @carol fixes #13\n::set-output name=x::y\n##[error]no\n~~~\n" +
	"a | b \\| c || `@dave` `` @erin ` &#64;frank \\@grace $x$ ~~y~~ [^1] www.evil.example mail@evil.example\n" +
	"    @henry\n\t@ivan\n> @judy\n- @kim #14\n1. @lena\n---\n===\n\x1b[31mred\x1b[0m \u202ebidi\u202c ze\u200bro " +
	"sk-ant-api03-abcdefghijkl\n" +
	"::add-mask::x\n*** <a href=\"`\">` @mallory `</a>\n"

func hostile() View {
	s := begin(func(start *loop.Start) {
		start.Title, start.Spec, start.Hint = nasty, nasty+strings.Repeat(nasty, 60), nasty
		start.Asked, start.Agent, start.Detected = "@eve\n#1", "`agent` @x", nasty
		start.Branch = "ralph/`x`@bob#12;$(rm -rf)'"
		start.Checks = []string{"make a | tee `b` @bob", "```\n@bob\n```", nasty}
		start.RunURL, start.Run = "javascript:alert(1)//) @bob", "x --> @bob <!-- ralph:run:y"
	})
	big := strings.Repeat(nasty, 40)
	s.turning(1, "implement @bob")
	s.turned(1, loop.Turn{Class: loop.OK, Text: nasty, Claim: loop.Claim{Done: true}})
	s.state.Feedback = &loop.Feedback{By: "@bob\n#12", Text: nasty,
		Items: []loop.Remark{{ID: 7, By: "@bob", Path: "`@bob`|#12 -->\n<!-- ralph:run:q -->", Line: 3, Text: nasty},
			{Text: nasty}}}
	s.committed(1, loop.FileChange{Path: ".github/workflows/`@bob`|#12.yml", Added: 1},
		loop.FileChange{Path: "a\n- @bob\n<!-- ralph:run:z -->.bin", Added: -1, Deleted: -1})
	failing := fail("make a | tee `b` @bob", nasty, big)
	failing.Findings = []loop.Finding{{File: "a|`@bob`\n#12", Line: 3, Rule: "@x", Message: nasty},
		{Test: nasty, Message: nasty}}
	s.judged(1, failing, loop.Verdict{Check: "@v #12", Role: "qa @bob", Verification: true, Reason: nasty,
		Severity: loop.Soft, Flaky: true, Findings: failing.Findings},
		loop.Verdict{Check: loop.ReviewCheck, Severity: loop.Hard, Skipped: nasty},
		loop.Verdict{Check: loop.ReviewCheck, Severity: loop.Hard, Reason: nasty, Output: big,
			Criteria: []loop.Criterion{{Text: nasty, Reason: nasty}, {Text: nasty, Met: true, Reason: nasty}}},
		loop.Verdict{Check: nasty, Severity: loop.Soft, Reason: nasty})
	s.add(loop.Record{Type: loop.Posted, Post: &loop.Post{Pull: 57, PullURL: "https://x.y/) @bob"}})
	v := s.end(loop.Stuck, nasty, "wip/@bob#12`")
	v.TokenNote = nasty
	v.Redact = Redactor(nil)
	v.Template, v.Labels, v.Subjects = nasty+"\n## Description @bob #12\n"+nasty+"\n## Testing\n- [x] "+nasty+
		"\n## Screenshots @eve\n"+nasty+"\n", []string{nasty}, []string{nasty, nasty, nasty}
	v.ReportURL, v.Limits = "javascript:alert(1)", loop.Limits{CostUSD: 5}
	return v
}

// long is a run of n failed iterations.
func long(n int) View {
	s := begin(func(start *loop.Start) { start.MaxIterations = n })
	for i := 1; i <= n; i++ {
		s.iterate(i, loop.Implement, strings.Repeat(nasty, 5),
			fail(strings.Repeat("`|@x ", 100), strings.Repeat(nasty, 3), strings.Repeat(nasty, 10)))
	}
	return s.end(loop.Capped, "all used up", "wip/ralph-fail-issue-42-20261121-054000")
}
