package bot

import (
	"cmp"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/engine"
	"github.com/ralph-loop/ralph/internal/loop"
)

// holdsPage holds the page of a run below dir against what fixer did.
func holdsPage(t *testing.T, dir string, result loop.Result) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, ".ralph", "runs", result.State.Start.Run, "report.html")) // the test's own
	if err != nil {
		t.Fatal(err)
	}
	page := html.UnescapeString(string(text))
	for _, want := range []string{
		`id="iteration-1"`, `id="iteration-3"`, "# tried", "-add() { echo $(($1 - $2)); }",
		"+add() { echo $(($1 + $2)); }",                      // diffs
		"FAIL: add", "say what it does", "I think it works.", // what was printed and said
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestStepsOfARun: an iteration's diff goes from where its first turn began to its last commit.
func TestStepsOfARun(t *testing.T) {
	t.Parallel()
	begun := func(n int) loop.Record { return loop.Record{Type: loop.TurnBegun, Iteration: n} }
	turned := func(n int) loop.Record {
		return loop.Record{Type: loop.Turned, Iteration: n, Turn: &loop.Turn{Class: loop.OK}}
	}
	committed := func(n int, sha string) loop.Record {
		return loop.Record{Type: loop.Committed, Iteration: n, Commit: &loop.Commit{SHA: sha}}
	}
	corrected := loop.Record{Type: loop.Corrected, Commit: &loop.Commit{SHA: "own"}}
	for _, tt := range []struct {
		name    string
		records []loop.Record
		want    string
		alone   string // from the state without its journal; empty: the same
	}{
		{"one after the other", []loop.Record{begun(1), turned(1), committed(1, "a"), begun(2), turned(2), committed(2, "b")},
			"[{1 base a} {2 a b}]", ""},
		{"nothing was changed", []loop.Record{begun(1), turned(1), committed(1, "base"), begun(2), turned(2),
			committed(2, "b")}, "[{2 base b}]", ""},
		{"a turn was taken again", []loop.Record{begun(1), turned(1), committed(1, "a"), begun(1), turned(1),
			committed(1, "b")}, "[{1 base b}]", ""},
		{"the harness corrected in between",
			[]loop.Record{begun(1), turned(1), committed(1, "a"), corrected, begun(2), turned(2), committed(2, "b")},
			"[{1 base a} {2 own b}]", "[{1 base a} {2 a b}]"},
		{"a turn still runs", []loop.Record{begun(1)}, "[]", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			records := append([]loop.Record{{Type: loop.Started, Start: &loop.Start{Base: "base"}}}, tt.records...)
			s := loop.Fold(records)
			if got := fmt.Sprint(engine.StepsOf(s, records)); got != tt.want {
				t.Errorf("with the journal: %s, want %s", got, tt.want)
			}
			if got := fmt.Sprint(engine.StepsOf(s, nil)); got != cmp.Or(tt.alone, tt.want) {
				t.Errorf("from the state alone: %s, want %s", got, cmp.Or(tt.alone, tt.want))
			}
		})
	}
}
