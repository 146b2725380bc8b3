package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

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
		"the file was changed": {fixed(loop.Done), at("hello.go"),
			"Worked on in [`c0ffee2`](https://github.com/alice/demo/commit/c0ffee2000000000000000000000000000000000); all " +
				"checks and the review passed."},
		"another file was":    {fixed(loop.Done), at("README.md"), "which leaves this file as it was"},
		"a remark on no file": {fixed(loop.Done), at(""), "all checks and the review passed."},
		"nothing was changed": {unchanged, at("hello.go"), "Nothing was changed: the agent and the checks found"},
		"it failed with a commit": {fixed(loop.Stuck), at("hello.go"),
			"Not settled: the same failure of go test ./... 5 times in a row. What was tried is in [`c0ffee2`]"},
		"it failed without one": {stuck, at("hello.go"), "Not addressed: closes `#3`, says `@bob`."},
		"it gave no reason":     {silent, at("hello.go"), "Not addressed: interrupted after 1 iteration."},
		"it still runs":         {fixed(""), at("hello.go"), "ralph works on it."},
	} {
		got := Answer(tt.v, tt.remark)
		if !strings.HasPrefix(got, replyMarker("20261121-053000-7f3a-1", 5)+"\n") || !strings.Contains(got, tt.want) ||
			strings.Count(got, "\n") != 2 {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
	told := fixed(loop.Done)
	told.State.Post.Answered = []int64{71}
	if got := (page{told, rooms[0]}).feedback(); strings.Count(got, "→ answered in its thread\n") != 1 ||
		strings.Count(got, "→ Worked on in") != 1 {
		t.Errorf("of one that has its answer: %s", got)
	}
	if got := (page{done(), rooms[0]}).feedback(); got != "" {
		t.Errorf("without a review: %s", got)
	}
	if got := listed([]string{"a", "b", "c", "d"}, 3); got != "1 more, b, c and d" {
		t.Errorf("listed: %s", got)
	}
	many := fixed("")
	many.State.Feedback = &loop.Feedback{Text: "CI: test failed",
		Items: slices.Repeat([]loop.Remark{{Path: "a.go", Text: "x"}}, 25)}
	if got := (page{many, rooms[0]}).feedback(); !strings.HasPrefix(got, "**Other workflows ask for changes:** CI: test failed\n") ||
		!strings.HasSuffix(got, "- 5 remarks more\n") {
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
