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

// TestWhatNow has a row for each thing that the bot may need, and from whom, that no ending of
// TestFirst400Characters has.
func TestWhatNow(t *testing.T) {
	ended := func(o loop.Outcome) View { return end(sample.Begin(nil), o, "why", "") }
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
	for name, tt := range map[string]struct {
		v    View
		want string
	}{
		"the agent asks nobody":     {unasked, "**What now:** answer with `/ralph continue <answer>`."},
		"a limit without a reset":   {end(limited, loop.Waiting, "why", ""), "`/ralph continue` tries again."},
		"what nobody can mend":      {end(unfixable, loop.Invalid, "why", ""), "fix what is named above; `/ralph retry` resumes with the same work."},
		"the run's tokens":          {limit(loop.Limits{Tokens: 10}), "raise `max_tokens` to"},
		"both":                      {limit(loop.Limits{Tokens: 10, CostUSD: 0.01}), "raise `max_cost_usd` and `max_tokens` to"},
		"the issue's money":         {limit(loop.Limits{IssueCostUSD: 0.01, CostUSD: 0.01}), "Raise `max_cost_usd_per_issue`; `/ralph retry` then resumes from here."},
		"a budget without a number": {limit(loop.Limits{}), "raise the limit to"},
		// where the workflow starts on less
		"running, on labels":     {works(runningThird(), event.Labeled), "**To stop it:** close the issue, or take the label"},
		"running, with no label": {unlabeled, "**To stop it:** comment `/ralph stop`, or close the issue; what"},
		"running, for no issue":  {prompted, "**To stop it:** cancel the workflow run; what"},
		"done, on comments":      {works(done(), event.Commented), "merge it. To send it back, comment `/ralph fix` or"},
		"done, on reviews":       {works(done(), event.Reviewed), "merge it. To send it back, request changes in a review."},
		"done, on labels":        {works(done(), event.Labeled), "merge it."},
		"a limit with a reset, without a schedule": {works(waiting(), event.Commented),
			"**What now:** `/ralph continue` resumes the run after that."},
		"a limit with a reset, on labels": {works(waiting(), event.Labeled), "**What now:** To resume the run, put the label `ralph` on #42 again."},
		"other workflows, on comments":    {works(heeds(), event.Commented), "`/ralph continue` resumes the run when they have finished."},
		"invalid, on labels":              {works(mistaken(), event.Labeled), "**What now:** fix what is named above. To resume the run, put the label"},
		"capped, on a dispatch":           {works(capped()), "**What now:** take the work over. To resume the run, run its job again."},
	} {
		if got := tt.v.whatNow(); !strings.Contains(got, tt.want) {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
	for _, e := range endings() {
		mute := works(e.view)
		if all := Comment(mute) + PullBody(mute) + Failure(mute) + Status(mute); strings.Contains(all, "`/ralph ") {
			t.Errorf("%s: a command is named, and no comment starts a job:\n%s", e.name, all)
		}
	}
	if got := ended(loop.Refused).whatNow(); got != "" {
		t.Errorf("refused: %s", got)
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

func TestCost(t *testing.T) {
	more := fixed(loop.Done)
	earlier := sample.Begin(func(s *loop.Start) { s.Earlier = &loop.Usage{CostUSD: 1.5} })
	taskless := sample.Begin(func(s *loop.Start) { s.Earlier, s.Issue = &loop.Usage{CostUSD: 1.5}, 0 })
	tokensOnly := sample.Begin(func(s *loop.Start) { s.Earlier = &loop.Usage{Input: 5000} })
	for name, tt := range map[string]struct {
		v      View
		limits loop.Limits
		want   string
	}{
		"money": {runningThird(), loop.Limits{CostUSD: 2},
			"**Cost so far:** $0.09 of at most $2.00 · 35k tokens"},
		"tokens":            {done(), loop.Limits{Tokens: 1e6}, "**Cost:** $0.09 · 35k of at most 1.0M tokens"},
		"nothing spent yet": {view(sample.Begin(nil)), loop.Limits{CostUSD: 2}, "**Cost so far:** $0.00 of at most $2.00"},
		"since it was asked": {more, loop.Limits{CostUSD: 2},
			"**Cost:** $0.04 of at most $2.00 · 17k tokens; $0.08 on this issue in all"},
		"earlier runs":         {view(earlier), loop.Limits{}, "**Cost so far:** $1.50 on this issue in all"},
		"earlier runs' tokens": {view(tokensOnly), loop.Limits{}, "**Cost so far:** 5.0k tokens on this issue in all"},
		"no issue":             {view(taskless), loop.Limits{}, "**Cost so far:** $1.50 in all"},
		"the issue has a limit": {view(earlier), loop.Limits{IssueCostUSD: 20},
			"**Cost so far:** $1.50 of at most $20.00 on this issue in all"},
	} {
		if tt.v.Limits = tt.limits; tt.v.cost() != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, tt.v.cost(), tt.want)
		}
	}
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
	v := page{view(s), room{checks: 1}}
	if got, want := v.criteria(), "| | criterion | why |\n|---|---|---|\n| ❌ not met | c | missing |\n"+
		"| ✅ met | a\\|b | r |\n| ✅ met | d |  |\n| … | 1 more |  |\n"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got := v.reviewLine(); got != "- ❌ the reviewer asks for changes — Missing: the empty name (spec line 4) (in iteration 1): 3 of 4 criteria met\n" {
		t.Errorf("the newest review: %q", got)
	}
}
