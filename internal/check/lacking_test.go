package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestLacking has a row for each way to tell what a change took away from what was never there.
func TestLacking(t *testing.T) {
	const line = "jest && lint"
	missing := func(tool string) Lacks {
		return func(string, int, string) (Lack, bool) {
			return Lack{Tool: tool, Advice: tool + " is not installed"}, tool != ""
		}
	}
	chosen := func(string, int, string) (Lack, bool) {
		return Lack{Tool: "jest", Advice: "nvm has none", Chosen: true}, true
	}
	changes := func(names ...string) loop.Commit {
		c := loop.Commit{SHA: "c", Tree: "t"}
		for _, name := range names {
			c.Files = append(c.Files, loop.FileChange{Path: name})
		}
		return c
	}
	many, unseen := changes("a.go"), loop.Commit{Unchecked: true}
	many.MoreFiles = 3
	ran := loop.Verdict{Check: line, Severity: loop.Hard, Exit: 1}
	for _, tt := range []struct {
		name     string
		lacks    Lacks
		commit   loop.Commit
		present  []string
		baseline []loop.Verdict
		before   []loop.Verdict // of an earlier iteration
		written  string         // a file where the command runs
		want     bool
	}{
		{name: "the line names it, and it was never there", lacks: missing("jest"), commit: changes("a.js"), want: true},
		{name: "nothing is missing", lacks: missing(""), commit: changes("a.js")},
		{name: "it was there before the first turn", lacks: missing("jest"), commit: changes("a.js"),
			present: []string{"jest"}},
		{name: "the check ran on the base commit", lacks: missing("jest"), commit: changes("a.js"),
			baseline: []loop.Verdict{ran}},
		{name: "the check ran in an earlier iteration", lacks: missing("jest"), commit: changes("a.js"),
			before: []loop.Verdict{ran}},
		{name: "it was missing before, too", lacks: missing("jest"), commit: changes("a.js"),
			before: []loop.Verdict{{Check: line, Missing: true, Exit: 2}}, want: true},
		{name: "it was skipped before", lacks: missing("jest"), commit: changes("a.js"),
			before: []loop.Verdict{{Check: line, Skipped: "why"}}, want: true},
		{name: "something that the line runs names it", lacks: missing("deeper"), commit: changes("a.go"), want: true},
		{name: "a script may have brought it", lacks: missing("deeper"), commit: changes("a.go", "b.py")},
		{name: "what runs was edited", lacks: missing("deeper"), commit: changes("a.go", "justfile")},
		{name: "the change asks for other dependencies", lacks: missing("deeper"),
			commit: changes("a.go", "web/package.json")},
		{name: "nobody knows all that was changed", lacks: missing("deeper"), commit: many},
		{name: "of a prompt, something that the line runs names it", lacks: missing("deeper"), commit: unseen},
		{name: "a manager has no version of it", lacks: chosen, commit: changes("a.js"), present: []string{"jest"},
			want: true},
		{name: "the change chose another version", lacks: chosen, commit: changes(".nvmrc")},
		{name: "of a prompt, the line names it", lacks: missing("jest"), commit: unseen, want: true},
		{name: "of a prompt, a manager has no version", lacks: chosen, commit: unseen, want: true},
		{name: "of a prompt, a version was chosen meanwhile", lacks: chosen, commit: unseen, written: ".nvmrc"},
		{name: "of a prompt, another file was written", lacks: chosen, commit: unseen, written: "a.js", want: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			c := &Command{
				Title: line, Line: "exit 127 # " + line, Hard: true,
				Timeout: time.Minute, OnFailure: OnFailure{TruncateChars: 100},
				Programs: Programs{Lacks: tt.lacks, Present: tt.present, Versions: []string{".nvmrc"}}, Place: Place{Dir: dir, Env: os.Environ(), LogDir: t.TempDir()},
			}
			s := at(claimed, changed)
			s.StartedAt = time.Now()
			s.Baseline = tt.baseline
			s = s.With(loop.Record{Type: loop.Judged, Iteration: 1, Verdicts: tt.before})
			s = s.With(loop.Record{Type: loop.Turned, Iteration: 2, Turn: &claimed})
			s = s.With(loop.Record{Type: loop.Committed, Iteration: 2, Commit: &tt.commit})
			if tt.written != "" {
				if err := os.WriteFile(filepath.Join(dir, tt.written), nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			v, err := c.Run(t.Context(), Input{State: s, Iteration: *s.Last()})
			if err != nil {
				t.Fatal(err)
			}
			if v.Unfixable != tt.want || v.Unfixable != strings.HasPrefix(v.Reason, "the check cannot run here: ") {
				t.Errorf("verdict = %+v", v)
			}
		})
	}
	soft := &Command{Title: line, Line: "exit 127",
		Timeout: time.Minute, Programs: Programs{Lacks: chosen}, Place: placeIn(t.TempDir())}
	if v, err := soft.Run(t.Context(), Input{Iteration: *at(claimed, changed).Last()}); err != nil || v.Unfixable {
		t.Errorf("a soft check: %+v, %v", v, err)
	}
}
