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
		"a remark on no file":   {fixed(loop.Done), at(""), "all checks and the review passed."},
		"nothing was changed":   {unchanged, at("hello.go"), "Nothing was changed: the agent and the checks found"},
		"it failed without one": {stuck, at("hello.go"), "Not addressed: closes `#3`, says `@bob`."},
		"it gave no reason":     {silent, at("hello.go"), "Not addressed: interrupted after 1 iteration."},
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
	many := fixed("")
	many.State.Feedback = &loop.Feedback{Text: "CI: test failed",
		Items: slices.Repeat([]loop.Remark{{Path: "a.go", Text: "x"}}, 25)}
	if got := (page{many, rooms[0]}).feedback(); !strings.HasPrefix(got, "**Other workflows ask for changes:** CI: test failed\n") ||
		!strings.HasSuffix(got, "- 5 remarks more\n") {
		t.Errorf("of other workflows: %s", got)
	}
}
