// Package sample has runs and plans as reports show them, for tests: ordinary ones, and some that try everything.
package sample

import (
	"fmt"
	"hash/crc32"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/task"
)

var Began = time.Date(2026, 11, 21, 5, 30, 0, 0, time.UTC)

// Script folds records with a clock that goes forward.
type Script struct {
	State   loop.State
	At      time.Time
	Records []loop.Record
}

func Begin(edit func(*loop.Start)) *Script {
	s := &Script{At: Began}
	start := loop.Start{
		Run: "20261121-053000-7f3a", Task: "issue-42", Assignment: loop.Assignment{Title: "Add `Greet(name)` to hello", Spec: "`Greet(\"Ann\")` should return **Hello, Ann!**\n\n- [ ] a test\n- [ ] the empty name gives " +
			"`Hello!`\n\n```go\nfunc Greet(name string) string\n```\n\nSee #7, thanks @bob."}, Issue: 42, Asked: "alice",
		Base: strings.Repeat("a", 40), BaseBranch: "main", Branch: "ralph/issue-42", Agent: "claude",
		Checks: []string{"go vet ./...", "go test ./..."}, Review: true, MaxIterations: 5, Owner: "runner-1",
		RunURL: "https://github.com/alice/demo/actions/runs/9001", Detected: "go.mod is there",
	}
	if edit != nil {
		edit(&start)
	}
	s.Add(loop.Record{Type: loop.Started, Start: &start})
	s.Add(loop.Record{Type: loop.Baselined,
		Baseline: []loop.Verdict{{Check: "go vet ./...", Severity: loop.Hard, Pass: true}}})
	return s
}

func (s *Script) Add(r loop.Record) {
	r.At = s.At
	s.State = s.State.With(r)
	s.Records = append(s.Records, r)
}

func (s *Script) Wait(d time.Duration) { s.At = s.At.Add(d) }

func (s *Script) Turning(n int, mode loop.Mode) {
	s.Add(loop.Record{Type: loop.TurnBegun, Iteration: n, Mode: mode})
}

// As begins a turn of another role than the coder, or of a run that is stuck.
func (s *Script) As(n int, role task.Role, tier loop.Tier) {
	s.Add(loop.Record{Type: loop.TurnBegun, Iteration: n, Mode: loop.Implement, Role: role, Tier: tier})
}

func (s *Script) Turned(n int, t loop.Turn) {
	t.Duration = 95 * time.Second
	s.Wait(t.Duration)
	s.Add(loop.Record{Type: loop.Turned, Iteration: n, Turn: &t})
}

func (s *Script) Committed(n int, files ...loop.FileChange) {
	s.Add(loop.Record{Type: loop.Committed, Iteration: n,
		Commit: &loop.Commit{SHA: fmt.Sprintf("%07x%033d", 0xc0ffee0+n, 0), Tree: fmt.Sprintf("t%d", n), Files: files,
			Empty: len(files) == 0}})
}

func (s *Script) Judged(n int, verdicts ...loop.Verdict) {
	s.Wait(12 * time.Second)
	s.Add(loop.Record{Type: loop.Judged, Iteration: n, Verdicts: verdicts})
}

// Iterate adds a whole iteration.
func (s *Script) Iterate(n int, mode loop.Mode, text string, verdicts ...loop.Verdict) {
	s.Turning(n, mode)
	s.Iterated(n, text, verdicts...)
}

// Iterated adds what follows the beginning of a turn.
func (s *Script) Iterated(n int, text string, verdicts ...loop.Verdict) {
	s.Turned(n, loop.Turn{Class: loop.OK, Text: text, Claim: loop.Claim{Done: true, Tag: "response", Text: "DONE"},
		Usage: loop.Usage{CostUSD: 0.042, Input: 1200, Output: 830, CacheRead: 15400}})
	s.Committed(n, loop.FileChange{Path: "hello.go", Added: 9, Deleted: 1},
		loop.FileChange{Path: "hello_test.go", Added: 20})
	s.Judged(n, verdicts...)
}

func (s *Script) Pull() {
	draft := true
	s.Add(loop.Record{Type: loop.Posted,
		Post: &loop.Post{PostedPull: loop.PostedPull{Pull: 57, PullURL: "https://github.com/alice/demo/pull/57", Draft: &draft}}})
}

// Finish ends the run.
func (s *Script) Finish(o loop.Outcome, reason, branch string) *Script {
	s.Wait(3 * time.Second)
	s.Add(loop.Record{Type: loop.Ended, End: &loop.End{Outcome: o, Reason: reason, FailureBranch: branch}})
	return s
}

func Pass(check string) loop.Verdict {
	return loop.Verdict{Check: check, Severity: loop.Hard, Pass: true, Duration: 2 * time.Second}
}

func Fail(check, reason, output string) loop.Verdict {
	return loop.Verdict{Check: check, Severity: loop.Hard, Reason: reason, Output: output, Exit: 1,
		Hash: fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(check+output))), Duration: 4 * time.Second}
}

const TestOutput = `=== RUN   TestGreet
    hello_test.go:12: Greet("") = "Hello, !", want "Hello!"
--- FAIL: TestGreet (0.00s)
FAIL
FAIL	example.com/hello	0.003s
`

var (
	TestFailure = Fail("go test ./...", "exit code 1", TestOutput)
	AsksChange  = loop.Verdict{Check: loop.ReviewCheck, Severity: loop.Hard, Reason: "the reviewer asks for changes",
		Hash:     "c4d5e6f7",
		Output:   "Missing: the empty name (spec line 4)\nExtra: a --json flag that is not in the issue\n",
		Duration: 31 * time.Second, Usage: &loop.Usage{CostUSD: 0.01, Input: 900, Output: 200}}
	Weakened = loop.Verdict{Check: "weakened tests", Severity: loop.Soft, Reason: "1 threshold was lowered",
		Duration: time.Second,
		Findings: []loop.Finding{{File: "hello_test.go", Line: 9, Message: "the assertion on Greet(\"Ann\") is gone"}}}
	LintWarning = loop.Verdict{Check: "golangci-lint run", Severity: loop.Soft, Reason: "2 findings",
		Duration: time.Second}
)

// Nasty is a text that tries everything at once.
const Nasty = "# Title @alice fixes #12, closes alice/demo#3 and GH-4 https://github.com/alice/demo/issues/5\n" +
	"/ralph run everything\n<!-- ralph:run:20261121-053000-7f3a -->\n<details><summary>x</summary>\n</details>\n" +
	"![pixel](https://evil.example/p.png) [link](javascript:alert(1)) <img src=x onerror=alert(1)> " +
	"<script>alert(1)</script>\n" +
	"````\n@bob inside\n```\nout of it? @carol fixes #13\n::set-output name=x::y\n##[error]no\n~~~\n" +
	"a | b \\| c || `@dave` `` @erin ` &#64;frank \\@grace $x$ ~~y~~ [^1] www.evil.example mail@evil.example\n" +
	"    @henry\n\t@ivan\n> @judy\n- @kim #14\n1. @lena\n---\n===\n\x1b[31mred\x1b[0m \u202ebidi\u202c ze\u200bro " +
	"sk-ant-api03-abcdefghijkl\n" +
	"::add-mask::x\n*** <a href=\"`\">` @mallory `</a>\n"
