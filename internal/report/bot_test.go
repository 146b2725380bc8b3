package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/event"
	"github.com/ralph-loop/ralph/internal/fake/sample"
	"github.com/ralph-loop/ralph/internal/loop"
)

// whatNows are what to do next, where no ending of TestFirst400Characters has it, and where the workflow starts on less.
func whatNows() string {
	limit := func(l loop.Limits) View {
		v := spentAll()
		v.Limits = l
		return v
	}
	unasked := asks()
	unasked.State.Start.Asked = ""
	unfixable := sample.Begin(nil)
	unfixable.Iterate(1, loop.Implement, "x", loop.Verdict{Check: loop.ReviewCheck, Severity: loop.Hard, Unfixable: true})
	limited := sample.Begin(nil)
	limited.Turning(1, loop.Implement)
	limited.Turned(1, loop.Turn{Class: loop.UsageLimit})
	unlabeled := works(runningThird(), event.Commented)
	unlabeled.Running = ""
	prompted := works(view(sample.Begin(func(s *loop.Start) { s.Issue = 0 })))
	prompted.Running = ""
	var b strings.Builder
	for _, row := range []struct {
		name string
		v    View
	}{
		{"the agent asks no one", unasked},
		{"a limit without a reset", end(limited, loop.Waiting, "why", "")},
		{"what no one can fix", end(unfixable, loop.Invalid, "why", "")},
		{"the run's tokens", limit(loop.Limits{Tokens: 10})},
		{"the run's tokens and money", limit(loop.Limits{Tokens: 10, CostUSD: 0.01})},
		{"the issue's money", limit(loop.Limits{IssueCostUSD: 0.01, CostUSD: 0.01})},
		{"a budget without a number", limit(loop.Limits{})},
		{"refused", end(sample.Begin(nil), loop.Refused, "why", "")},
		{"running, on labels", works(runningThird(), event.Labeled)},
		{"running, with no label", unlabeled},
		{"running, for no issue", prompted},
		{"done, on comments", works(done(), event.Commented)},
		{"done, on reviews", works(done(), event.Reviewed)},
		{"done, on labels", works(done(), event.Labeled)},
		{"a limit with a reset, without a schedule", works(waiting(), event.Commented)},
		{"a limit with a reset, on labels", works(waiting(), event.Labeled)},
		{"other workflows, on comments", works(heeds(), event.Commented)},
		{"invalid, on labels", works(mistaken(), event.Labeled)},
		{"capped, on a dispatch", works(capped())},
	} {
		fmt.Fprintf(&b, "== %s\n%s\n", row.name, row.v.whatNow())
	}
	return b.String()
}

// TestNoCommandWithoutComments: where no comment starts a job, no text names a command.
func TestNoCommandWithoutComments(t *testing.T) {
	for _, e := range endings() {
		mute := works(e.view)
		if all := Comment(mute) + PullBody(mute) + Failure(mute) + Status(mute); strings.Contains(all, "`/ralph ") {
			t.Errorf("%s: a command is named:\n%s", e.name, all)
		}
	}
}

// works is a view of a run whose workflow starts on these kinds of event alone.
func works(v View, kinds ...event.Kind) View {
	for _, kind := range []event.Kind{event.Labeled, event.Commented, event.Reviewed, event.Scheduled, event.Built} {
		if !slices.Contains(kinds, kind) {
			v.Ways.Lacks = append(v.Ways.Lacks, kind)
		}
	}
	return v
}

// costs are what runs have spent, of what they may.
func costs() string {
	begun := func(edit func(*loop.Start)) View { return view(sample.Begin(edit)) }
	earlier := begun(func(s *loop.Start) { s.Earlier = &loop.Usage{CostUSD: 1.5} })
	var b strings.Builder
	for _, row := range []struct {
		name   string
		v      View
		limits loop.Limits
	}{
		{"money", runningThird(), loop.Limits{CostUSD: 2}},
		{"tokens", done(), loop.Limits{Tokens: 1e6}},
		{"nothing spent yet", begun(nil), loop.Limits{CostUSD: 2}},
		{"since it was asked", fixed(loop.Done), loop.Limits{CostUSD: 2}},
		{"earlier runs", earlier, loop.Limits{}},
		{"earlier runs' tokens", begun(func(s *loop.Start) { s.Earlier = &loop.Usage{Input: 5000} }), loop.Limits{}},
		{"no issue", begun(func(s *loop.Start) { s.Earlier, s.Issue = &loop.Usage{CostUSD: 1.5}, 0 }), loop.Limits{}},
		{"the issue has a limit", earlier, loop.Limits{IssueCostUSD: 20}},
	} {
		row.v.Limits = row.limits
		fmt.Fprintf(&b, "== %s\n%s\n", row.name, row.v.cost())
	}
	return b.String()
}

// TestExcerpt: the lines that the findings come from are kept before those that only sound like a failure.
func TestExcerpt(t *testing.T) {
	var lines []string
	for i := range 200 {
		lines = append(lines, fmt.Sprintf("error %d", i))
	}
	lines[150] = "pkg/a.go:7: undefined: x"
	lines[170] = "the value of y is not what it was"
	got := View{}.fenceAt(strings.Join(lines, "\n"),
		[]loop.Finding{{File: "pkg/a.go", Line: 7, Message: "undefined: x"}, {Test: "T", Message: "value of y is not"},
			{Message: "error"}}, 12)
	for _, want := range []string{"error 148", lines[150], "error 153", lines[170], "[... 148 lines truncated ...]"} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("without %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "error 0\n") {
		t.Errorf("the beginning came first:\n%s", got)
	}
}

// TestMarkers: each kind of comment has its own, which nothing in a run's id can break.
func TestMarkers(t *testing.T) {
	for got, want := range map[string]string{
		Marker("a --> b"):              "<!-- ralph:run:a--b -->",
		iterationMarker("r-1", 3):      "<!-- ralph:iteration:r-1/3 -->",
		iterationMarker("--><!--", 1):  "<!-- ralph:iteration:----/1 -->",
		replyMarker("r-1", 1234567890): "<!-- ralph:reply:r-1/1234567890 -->",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestCriteriaShowWhatIsNotMetFirst(t *testing.T) {
	s := sample.Begin(nil)
	asks := sample.AsksChange
	asks.Criteria = []loop.Criterion{{Text: "a|b", Met: true, Reason: "r"}, {Text: "c", Reason: "missing"}, {Text: "d", Met: true},
		{Text: "e", Met: true}}
	s.Iterate(1, loop.Implement, "", sample.Pass("a"), asks)
	s.Iterate(2, loop.Implement, "", sample.TestFailure, loop.Verdict{Check: loop.ReviewCheck, Skipped: "a check failed"})
	v := page{view(s), 0}
	if got, want := v.criteria(), "| | criterion | why |\n|---|---|---|\n| ❌ not met | c | missing |\n"+
		"| … | 3 more |\n"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got := v.reviewLine(); got != "- ❌ the reviewer asks for changes — Missing: the empty name (spec line 4) (in iteration 1): 3 of 4 criteria met\n" {
		t.Errorf("the newest review: %q", got)
	}
}
