package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestWhatNow has a row for each thing that the bot may need, and from whom.
func TestWhatNow(t *testing.T) {
	ended := func(o loop.Outcome) View { return begin(nil).end(o, "why", "") }
	limit := func(l loop.Limits) View {
		v := spentAll()
		v.Limits = l
		return v
	}
	local := done()
	local.Repo = ""
	unasked := asks()
	unasked.State.Start.Asked = ""
	limited := begin(nil)
	limited.turning(1, loop.Implement)
	limited.turned(1, loop.Turn{Class: loop.UsageLimit})
	for name, tt := range map[string]struct {
		v    View
		want string
	}{
		"running":                      {runningThird(), "**To stop it:** comment `/ralph stop`, close the issue, or take the label `ralph:running` off"},
		"done":                         {done(), "**What now:** review the pull request and merge it. To have something else, request changes in a review or comment `/ralph fix` there, or `/ralph retry <what to change>`."},
		"done without a change":        {ended(loop.Done), "nothing was left to change"},
		"done on a laptop":             {local, "**What now:** read the change and merge the branch."},
		"the agent asks":               {asks(), "**What now:** `alice`, please answer with `/ralph continue <answer>`."},
		"the agent asks nobody":        {unasked, "**What now:** answer with `/ralph continue <answer>`."},
		"a limit with a reset":         {waiting(), "nothing; the next sweep after that goes on. `/ralph continue` tries at once."},
		"a limit without one":          {limited.end(loop.Waiting, "why", ""), "`/ralph continue` tries again."},
		"other workflows":              {heeds(), "nothing; it goes on when they have finished. `/ralph continue` looks at once."},
		"interrupted":                  {interrupted(), "`/ralph continue` goes on from here; `/ralph retry --fresh` starts over."},
		"invalid":                      {invalid(), "put right what the sentence above names, then `/ralph run`."},
		"capped":                       {capped(), "`/ralph retry` goes on from here, `/ralph retry <hint>` tells the agent more"},
		"failed":                       {failed(), "`/ralph retry` goes on from here"},
		"the run's money":              {spentAll(), "may spend as much again; raise `max_cost_usd` to"},
		"the run's tokens":             {limit(loop.Limits{Tokens: 10}), "raise `max_tokens` to"},
		"both":                         {limit(loop.Limits{Tokens: 10, CostUSD: 0.01}), "raise `max_cost_usd` and `max_tokens` to"},
		"the issue's money":            {limit(loop.Limits{IssueCostUSD: 0.01, CostUSD: 0.01}), "Raise `max_cost_usd_per_issue`, then `/ralph retry` goes on from here."},
		"a budget that nobody told of": {limit(loop.Limits{}), "raise the limit to"},
	} {
		if got := tt.v.whatNow(); !strings.Contains(got, tt.want) {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
	if got := ended(loop.Refused).whatNow(); got != "" {
		t.Errorf("refused: %s", got)
	}
}

func TestCost(t *testing.T) {
	more := fixed(loop.Done)
	earlier := begin(func(s *loop.Start) { s.Earlier = &loop.Usage{CostUSD: 1.5} })
	taskless := begin(func(s *loop.Start) { s.Earlier, s.Issue = &loop.Usage{CostUSD: 1.5}, 0 })
	tokensOnly := begin(func(s *loop.Start) { s.Earlier = &loop.Usage{Input: 5000} })
	for name, tt := range map[string]struct {
		v      View
		limits loop.Limits
		want   string
	}{
		"nothing known":         {begin(nil).view(), loop.Limits{}, ""},
		"no limit":              {done(), loop.Limits{}, "**Cost:** $0.09 · 34k tokens in (30k from cache), 1.9k out"},
		"money":                 {runningThird(), loop.Limits{CostUSD: 2}, "**Cost so far:** $0.09 of at most $2.00 · 35k tokens"},
		"tokens":                {done(), loop.Limits{Tokens: 1e6}, "**Cost:** $0.09 · 35k of at most 1.0M tokens"},
		"nothing spent yet":     {begin(nil).view(), loop.Limits{CostUSD: 2}, "**Cost so far:** $0.00 of at most $2.00"},
		"since it was asked":    {more, loop.Limits{CostUSD: 2}, "**Cost:** $0.04 of at most $2.00 · 17k tokens; $0.08 on this issue in all"},
		"earlier runs":          {earlier.view(), loop.Limits{}, "**Cost so far:** $1.50 on this issue in all"},
		"earlier runs' tokens":  {tokensOnly.view(), loop.Limits{}, "**Cost so far:** 5.0k tokens on this issue in all"},
		"no issue":              {taskless.view(), loop.Limits{}, "**Cost so far:** $1.50 in all"},
		"the issue has a limit": {earlier.view(), loop.Limits{IssueCostUSD: 20}, "**Cost so far:** $1.50 of at most $20.00 on this issue in all"},
	} {
		if tt.v.Limits = tt.limits; tt.v.cost() != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, tt.v.cost(), tt.want)
		}
	}
}

func TestConclusions(t *testing.T) {
	for outcome, want := range map[loop.Outcome]string{
		loop.Done: "success", loop.Waiting: "neutral", loop.Refused: "neutral", loop.Interrupted: "cancelled", loop.Capped: "failure", loop.Stuck: "failure",
		loop.Timeout: "failure", loop.Budget: "failure", loop.Invalid: "failure", loop.Failed: "failure",
	} {
		if got := CheckRunOf(begin(nil).end(outcome, "why", "")).Conclusion; got != want {
			t.Errorf("%s is shown as %s, want %s", outcome, got, want)
		}
	}
	if got := CheckRunOf(runningThird()); got.Conclusion != "" || got.Title != "🔄 Working: iteration 3 of 5" {
		t.Errorf("a running run: %+v", got)
	}
}

// TestAnnotatedFiles: which names of files are paths in the repository.
func TestAnnotatedFiles(t *testing.T) {
	v := View{Worktree: "/home/r/demo/", Redact: Redactor(nil)}
	in := View{Worktree: "/home/r/demo", Dir: "sub/dir"}
	for _, tt := range []struct {
		v          View
		file, want string
	}{
		{v, "a.go", "a.go"}, {v, "./x/../a.go", "a.go"}, {v, "/home/r/demo/x/a.go", "x/a.go"}, {v, "/home/r/demo2/a.go", ""}, {v, "/etc/passwd", ""},
		{v, "../a.go", ""}, {v, "x/../../a.go", ""}, {v, "/home/r/demo/../x.go", ""}, {v, "", ""}, {v, ".", ""}, {v, "..", ""}, {v, "a\nb", ""}, {v, `C:\a.go`, ""},
		{v, "https://x.y/z", ""}, {v, "file:/x", ""}, {v, "a\u202eb.go", ""}, {v, "a\x00", ""}, {v, "\xff", ""}, {v, ".git/config", ""}, {v, strings.Repeat("a/", 400), ""},
		{v, "dir with space/é.go", "dir with space/é.go"}, {in, "a.go", "sub/dir/a.go"}, {in, "../a.go", "sub/a.go"}, {in, "../../../a.go", ""},
		{in, "/home/r/demo/a.go", "a.go"}, {View{}, "/a.go", ""}, {View{}, "a.go", "a.go"}, {v, "..a/b", "..a/b"}, {v, ".github/x.yml", ".github/x.yml"},
	} {
		if got := tt.v.inRepository(tt.file); got != tt.want {
			t.Errorf("%q in %q is %q, want %q", tt.file, tt.v.Dir, got, tt.want)
		}
	}
}

// However much the checks name, annotations stay within what GitHub takes, tell no secret, and those that block come first.
func TestAnnotationsAreBounded(t *testing.T) {
	secret := "sk-ant-api03-abcdefghijkl"
	s := begin(nil)
	var many []loop.Verdict
	for i := range 10 {
		c := fail(fmt.Sprintf("check %d %s", i, nasty), "x", strings.Repeat("f.go:1: é"+secret+"\n", 400))
		if i%2 == 0 {
			c.Severity = loop.Soft
		}
		for line := range 50 {
			c.Findings = append(c.Findings, loop.Finding{File: "f.go", Line: 60*i + line - 1, Column: -1, Rule: nasty, Message: strings.Repeat("@x🙂 "+secret, 300)})
		}
		many = append(many, c)
	}
	many = append(many, loop.Verdict{Check: "skipped", Skipped: "x", Findings: []loop.Finding{{File: "s.go", Message: "x"}}}, loop.Verdict{Check: "passed", Pass: true, Findings: []loop.Finding{{File: "p.go", Message: "x"}}},
		loop.Verdict{Check: "says", Severity: loop.Hard, Findings: []loop.Finding{{File: secret, Message: "x"}, {File: "empty.go"}}})
	s.iterate(1, loop.Implement, "", many...)
	v := s.end(loop.Stuck, "x", "")
	v.Redact = Redactor(nil)
	got := CheckRunOf(v)
	if len(got.Annotations) != mostAnnotations || len(got.Title) > 800 {
		t.Errorf("%d annotations", len(got.Annotations))
	}
	for i, a := range got.Annotations {
		switch {
		case a.Path != "f.go" || a.Line < 1 || a.Column < 0, a.Message == "", len(a.Message) > 64<<10, len(a.Title) > 800, len(a.Raw) > maxRaw, !utf8.ValidString(a.Message + a.Raw + a.Title):
			t.Fatalf("annotation %d: %+v", i, a)
		case strings.Contains(a.Message+a.Raw+a.Title, "sk-ant-"):
			t.Fatalf("a secret: %+v", a)
		case i > 0 && a.Level == "failure" && got.Annotations[i-1].Level == "warning":
			t.Fatal("a failure comes after a warning")
		}
	}
	s = begin(nil)
	s.iterate(1, loop.Implement, "", many[1])
	s.turning(2, loop.Implement)
	s.turned(2, loop.Turn{Class: loop.OK})
	if list := CheckRunOf(s.view()).Annotations; len(list) > 0 {
		t.Errorf("%d annotations on lines of another commit", len(list))
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
	got := View{}.fenceAt(strings.Join(lines, "\n"), []loop.Finding{{File: "pkg/a.go", Line: 7, Message: "undefined: x"}, {Test: "T", Message: "value of y is not"}, {Message: "error"}}, 12)
	for _, want := range []string{"error 148", lines[150], "error 153", lines[170], "[... 148 lines truncated ...]"} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("without %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "error 0\n") {
		t.Errorf("the beginning came first:\n%s", got)
	}
}

// A timeline holds nothing that Mermaid would take for its own language, and stays below what it draws.
func TestGantt(t *testing.T) {
	line := regexp.MustCompile(`^(  section \d+ [\p{L}\p{N}_.,/… -]+|  (turn|review|check [\p{L}\p{N}_.,/… -]+) :(crit, |done, |active, )?-?\d+, \d+s|` + "```mermaid|gantt|  dateFormat x|  axisFormat %H:%M|```" + `)$`)
	for name, v := range map[string]View{"hostile": hostile(), "long": huge(1000), "plan": planHostile(), "ordinary": done()} {
		md := v.gantt(1000)
		if len(md) > 50_000 || strings.Count(md, "  section ") > mostSections || !strings.HasPrefix(md, "```mermaid\ngantt\n") {
			t.Errorf("%s: %d bytes, %d sections", name, len(md), strings.Count(md, "  section "))
		}
		for _, l := range strings.Split(strings.TrimRight(md, "\n"), "\n") {
			if !line.MatchString(l) {
				t.Errorf("%s: %q", name, l)
			}
		}
	}
	if got := begin(nil).view().gantt(10); got != "" {
		t.Errorf("of no iteration: %q", got)
	}
}

// huge is a run of n iterations in which every name and every output is long and of many bytes a character.
func huge(n int) View {
	name := strings.Repeat("名🙂`|@x<", 25)
	s := begin(func(start *loop.Start) {
		start.MaxIterations, start.Spec, start.Title, start.Agent, start.Asked = n, strings.Repeat(name+"\n", 200), name, name, name
		start.Checks = slices.Repeat([]string{name}, 100)
	})
	s.add(loop.Record{Type: loop.Resumed, Resume: &loop.Resume{Feedback: &loop.Feedback{By: name, Text: name, Items: slices.Repeat([]loop.Remark{{ID: 9, By: name, Path: name, Text: name}}, 200)}}})
	for i := 1; i <= n; i++ {
		var files []loop.FileChange
		for j := range 50 {
			files = append(files, loop.FileChange{Path: fmt.Sprint(name, i%5, j), Added: 1})
		}
		s.turning(i, loop.Implement)
		s.turned(i, loop.Turn{Class: loop.OK, Text: strings.Repeat(name, 20)})
		s.committed(i, files...)
		bad := fail(name, name, strings.Repeat(name+"\n", 100))
		bad.Findings = slices.Repeat([]loop.Finding{{File: name, Line: 3, Message: name, Rule: name}}, 50)
		s.judged(i, slices.Repeat([]loop.Verdict{bad}, 30)...)
	}
	v := s.end(loop.Capped, name, "wip/ralph-fail-issue-42-20261121-054000")
	v.Template = strings.Repeat("## "+name+"\n"+name+"\n", 200)
	v.ReportURL = v.State.RunURL + "#artifacts"
	return v
}

// A report of a thousand long iterations still fits, reads as one, and says what it does not show.
func TestHuge(t *testing.T) {
	v := huge(1000)
	for name, md := range views(v) {
		limit := commentLimit
		if name == "body" || name == "template" {
			limit = pullLimit
		}
		if len(md) > limit || !utf8.ValidString(md) {
			t.Errorf("the %s has %d bytes, valid: %v", name, len(md), utf8.ValidString(md))
		}
		for _, p := range inertness(md) {
			t.Errorf("%s: %.300s", name, p)
		}
	}
	md := Comment(v)
	for _, p := range broken(md, v.State.Start.Run) {
		t.Error(p)
	}
	if !strings.Contains(md, "earlier iterations not shown, ") || !strings.Contains(md, "❌ Stopped: all 1000 iterations are used up") {
		t.Errorf("the comment says little: %.400s", md)
	}
}

// TestMarkers: each kind of comment has its own, which nothing in a run's id can break.
func TestMarkers(t *testing.T) {
	for got, want := range map[string]string{
		Marker("a --> b"):              "<!-- ralph:run:a--b -->",
		IterationMarker("r-1", 3):      "<!-- ralph:iteration:r-1/3 -->",
		IterationMarker("--><!--", 1):  "<!-- ralph:iteration:----/1 -->",
		ReplyMarker("r-1", 1234567890): "<!-- ralph:reply:r-1/1234567890 -->",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for _, n := range []int{0, 3, 7} {
		if got := IterationComment(runningThird(), n); got != "" {
			t.Errorf("iteration %d: %s", n, got)
		}
	}
	if got := IterationComment(hostile(), 1); !strings.HasPrefix(got, IterationMarker(hostile().State.Start.Run, 1)+"\n") || strings.Count(got, "<!-- ralph:") != 1 {
		t.Errorf("markers: %.200s", got)
	}
}

// TestAnswers has a row for what may come of one remark.
func TestAnswers(t *testing.T) {
	at := func(path string) loop.Remark { return loop.Remark{ID: 5, Path: path} }
	unchanged := fixed("")
	unchanged.State.End = &loop.End{Outcome: loop.Done}
	stuck := fixed("")
	stuck.State.End = &loop.End{Outcome: loop.Stuck, Reason: "closes #3, says @bob."}
	silent := fixed("")
	silent.State.End = &loop.End{Outcome: loop.Interrupted}
	for name, tt := range map[string]struct {
		v      View
		remark loop.Remark
		want   string
	}{
		"the file was changed":    {fixed(loop.Done), at("hello.go"), "Worked on in [`c0ffee2`](https://github.com/alice/demo/commit/c0ffee2000000000000000000000000000000000); all checks and the review passed."},
		"another file was":        {fixed(loop.Done), at("README.md"), "which leaves this file as it was"},
		"a remark on no file":     {fixed(loop.Done), at(""), "all checks and the review passed."},
		"nothing was changed":     {unchanged, at("hello.go"), "Nothing was changed: the agent and the checks found"},
		"it failed with a commit": {fixed(loop.Stuck), at("hello.go"), "Not settled: the same failure of go test ./... 5 times in a row. What was tried is in [`c0ffee2`]"},
		"it failed without one":   {stuck, at("hello.go"), "Not addressed: closes `#3`, says `@bob`."},
		"it gave no reason":       {silent, at("hello.go"), "Not addressed: interrupted after 1 iteration; the work is kept."},
		"it still runs":           {fixed(""), at("hello.go"), "ralph works on it."},
	} {
		got := Answer(tt.v, tt.remark)
		if !strings.HasPrefix(got, ReplyMarker("20261121-053000-7f3a", 5)+"\n") || !strings.Contains(got, tt.want) || strings.Count(got, "\n") != 2 {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
	told := fixed(loop.Done)
	told.State.Post.Answered = []int64{71}
	if got := FeedbackSummary(told); strings.Count(got, "→ answered in its thread\n") != 1 || strings.Count(got, "→ Worked on in") != 1 {
		t.Errorf("of one that has its answer: %s", got)
	}
	if got := FeedbackSummary(done()); got != "" {
		t.Errorf("without a review: %s", got)
	}
	if got := listed([]string{"a", "b", "c", "d"}, 3); got != "1 more, b, c and d" {
		t.Errorf("listed: %s", got)
	}
	many := fixed("")
	many.State.Feedback = &loop.Feedback{Text: "CI: test failed", Items: slices.Repeat([]loop.Remark{{Path: "a.go", Text: "x"}}, 25)}
	if got := FeedbackSummary(many); !strings.HasPrefix(got, "**Other workflows ask for changes:** CI: test failed\n") || !strings.HasSuffix(got, "- 5 remarks more\n") {
		t.Errorf("of other workflows: %s", got)
	}
}

// A run that was asked for again answers with the commits made since, not with those before.
func TestAnswerNamesTheNewCommits(t *testing.T) {
	v := fixed(loop.Done)
	if got := Answer(v, loop.Remark{Path: "hello.go"}); strings.Contains(got, "c0ffee1") {
		t.Error(got)
	}
	v.ServerURL = ""
	if got := Answer(v, loop.Remark{Path: "hello.go"}); !strings.Contains(got, "Worked on in `c0ffee2`;") {
		t.Error(got)
	}
}

// TestHeeding: a turn for somebody's review says whose; one for ralph's own reviewer does not.
func TestHeeding(t *testing.T) {
	v := fixed("")
	if got := v.now(); got != "The agent works on what `bob` asked for since 06:31 UTC." {
		t.Error(got)
	}
	feedback := *v.State.Feedback
	feedback.By = ""
	v.State.Feedback = &feedback
	if got := v.now(); got != "The agent works on what other workflows found since 06:31 UTC." {
		t.Error(got)
	}
	turning := *v.State.Turning
	turning.Iteration++
	v.State.Turning = &turning
	if got := v.now(); got != "The agent works on what the reviewer asked for since 06:31 UTC." {
		t.Error(got)
	}
}

func TestCriteriaShowWhatIsNotMetFirst(t *testing.T) {
	v := View{}
	list := []loop.Criterion{{Text: "a|b", Met: true, Reason: "r"}, {Text: "c", Reason: "missing"}, {Text: "d", Met: true}}
	if got, want := v.criteria(list, 2), "| | criterion | why |\n|---|---|---|\n| ❌ not met | c | missing |\n| ✅ met | a\\|b | r |\n| … | 1 more |  |\n"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	s := begin(nil)
	s.iterate(1, loop.Implement, "", pass("a"), asksChange)
	s.iterate(2, loop.Implement, "", testFailure, loop.Verdict{Check: loop.ReviewCheck, Skipped: "a check failed"})
	if got := s.view().reviewed(rooms[0]); got != "❌ asks for changes, iteration 1: the reviewer asks for changes.\n" {
		t.Errorf("the newest review: %q", got)
	}
	if took := begin(nil).view().reviewed(rooms[0]); took != "" {
		t.Errorf("without a review: %q", took)
	}
}
