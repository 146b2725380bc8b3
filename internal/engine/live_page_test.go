package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/report/html"
)

// commits is a tree that commits one thing, as c2.
type commits struct{}

func (commits) Commit(context.Context, string, loop.State) (loop.Commit, error) {
	return loop.Commit{SHA: "c2"}, nil
}

// TestShownDiff: what a page is told of a commit has no secrets, is bounded in whole lines, and covers all turns of the
// iteration.
func TestShownDiff(t *testing.T) {
	var shown []html.Diff
	asked := ""
	text := "diff --git a/x b/x\n+the-key\n"
	run := &Run{Spec: &Spec{Output: Output{
		Redact: func(s string) string { return strings.ReplaceAll(s, "the-key", "***") },
		Shown:  Shown{Diff: func(_ int, d html.Diff) { shown = append(shown, d) }}}}}
	run.Commits = commits{}
	run.Copies = diffs(func(from, to string, most int) (string, error) {
		asked += from + ".." + to + " "
		return text[:min(len(text), most)], nil
	})
	s := loop.State{Iterations: []*loop.Iteration{{N: 1, Since: "c0"}}}
	for _, since := range []string{"c0", "c1"} { // the second turn of one iteration adds to what the first has changed
		if _, err := (shownCommits{run}).Commit(t.Context(), since, s); err != nil {
			t.Fatal(err)
		}
		text = strings.Repeat("+ the-key in a line of some length\n", 5000)
	}
	if asked != "c0..c2 c0..c2 " || len(shown) != 2 ||
		shown[0].Text != "diff --git a/x b/x\n+***\n" || shown[0].Note != "" {
		t.Errorf("%s %+v", asked, shown)
	}
	if long := shown[1]; len(long.Text) > html.DiffBytes || !strings.HasSuffix(long.Text, "length\n") || long.Note == "" ||
		strings.Contains(long.Text, "the-key") {
		t.Errorf("%d bytes, %q", len(long.Text), long.Note)
	}
}
