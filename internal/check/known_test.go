package check

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestKnownFailures: what fails on the base commit in the same way is for the reviewer to accept, once the agent was
// told; all else blocks.
func TestKnownFailures(t *testing.T) {
	fails := func(tests ...string) loop.Verdict {
		v := loop.Verdict{Check: "test", Severity: loop.Hard, Exit: 1, Hash: strings.Join(tests, " "), Reason: "tests fail"}
		for _, name := range tests {
			v.Findings = append(v.Findings, loop.Finding{Test: name, Message: name + " failed"})
		}
		return v
	}
	lint := func(places ...string) loop.Verdict {
		v := loop.Verdict{Check: "test", Severity: loop.Hard, Exit: 1, Hash: "lint"}
		for _, at := range places {
			file, rule, _ := strings.Cut(at, " ")
			v.Findings = append(v.Findings, loop.Finding{File: file, Rule: rule, Message: "line 7 is too long"})
		}
		return v
	}
	told := fails("TestA")
	told.Concerns = []loop.Concern{{Name: "TestA", Kind: loop.FailedBefore}}
	with := func(v loop.Verdict, change func(*loop.Verdict)) loop.Verdict { change(&v); return v }
	for _, row := range []struct {
		name      string
		base, now loop.Verdict
		earlier   []loop.Verdict // of an iteration that claimed to be done
		task      string
		most      int  // iterations; 0: five
		changed   bool // the newest one has changed something
		must      bool
		want      string // "": it blocks; "told": it blocks, and says why; else the names to be accepted
	}{
		{name: "the first time, the agent is told", base: fails("TestA"), now: fails("TestA"), want: "told"},
		{name: "the second time, it is a question", base: fails("TestA"), now: fails("TestA"),
			earlier: []loop.Verdict{told}, want: "TestA"},
		{name: "the task speaks of failing tests", base: fails("TestA"), now: fails("TestA"), most: 1,
			task: "Make a page. All tests have to pass.", want: "TestA, for people"},
		{name: "the task speaks of failing and of tests", base: fails("TestA"), now: fails("TestA"), most: 1,
			task: "The page is broken. Add tests.", want: "TestA"},
		{name: "the change touches a file of the failure", base: lint("shop.go E1"), now: lint("shop.go E1"), most: 1, changed: true,
			want: "shop.go:E1, for people"},
		{name: "the task is to repair something, and nothing is", base: fails("TestA"), now: fails("TestA"), most: 1,
			task: "Fix the discount", want: "TestA, for people"},
		{name: "the task is to repair something, and one is", base: fails("TestA", "TestB"), now: fails("TestA"), most: 1,
			task: "Fix the discount", want: "TestA"},
		{name: "in the only iteration", base: fails("TestA"), now: fails("TestA"), most: 1, changed: true, want: "TestA"},
		{name: "one more", base: fails("TestA"), now: fails("TestA", "TestB"), most: 1},
		{name: "it passed before", base: loop.Verdict{Check: "test", Pass: true}, now: fails("TestA"), most: 1},
		{name: "another exit code", base: fails("TestA"),
			now: with(fails("TestA"), func(v *loop.Verdict) { v.Exit = 2 }), most: 1},
		{name: "its program is missing", base: fails("TestA"),
			now: with(fails("TestA"), func(v *loop.Verdict) { v.Missing = true }), most: 1},
		{name: "the task names it", base: fails("TestA"), now: fails("TestA"), task: "TestA has to pass", most: 1},
		{name: "the task names another", base: fails("TestA"), now: fails("TestA"), task: "TestAll has to pass", most: 1,
			want: "TestA"},
		{name: "the setting wants all to pass", base: fails("TestA"), now: fails("TestA"), most: 1, must: true},
		{name: "a finding in another line", base: lint("a.go E1"), now: lint("a.go E1"), most: 1, want: "a.go:E1"},
		{name: "one more finding in a file", base: lint("a.go E1"), now: lint("a.go E1", "a.go E1"), most: 1},
		{name: "a finding in another file", base: lint("a.go E1"), now: lint("b.go E1"), most: 1},
		{name: "nothing named, the same signature", base: with(fails(), func(v *loop.Verdict) { v.Hash = "h" }),
			now: with(fails(), func(v *loop.Verdict) { v.Hash = "h" }), want: "told"},
		{name: "nothing named, the agent was told", base: with(fails(), func(v *loop.Verdict) { v.Hash = "h" }),
			now: with(fails(), func(v *loop.Verdict) { v.Hash = "h" }), earlier: []loop.Verdict{told}, want: "test"},
		{name: "nothing named, another signature", base: with(fails(), func(v *loop.Verdict) { v.Hash = "h" }),
			now: with(fails(), func(v *loop.Verdict) { v.Hash = "i" }), most: 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			records := []loop.Record{
				{Type: loop.Started, Start: &loop.Start{Run: "r", Assignment: loop.Assignment{Spec: row.task}, MaxIterations: 5}},
				{Type: loop.Baselined, Baseline: []loop.Verdict{row.base}},
			}
			changed := map[bool][]loop.FileChange{true: {{Path: "src/shop.go"}}}
			for n := 1; n <= 2; n++ {
				records = append(records, loop.Record{Type: loop.Turned, Iteration: n, Turn: &claimed},
					loop.Record{Type: loop.Committed, Iteration: n,
						Commit: &loop.Commit{SHA: "c", Tree: "t", Empty: n == 2 && !row.changed, Files: changed[row.changed && n == 2]}})
				if n == 1 {
					records = append(records, loop.Record{Type: loop.Judged, Iteration: n, Verdicts: row.earlier})
				}
			}
			s := loop.Fold(records)
			if row.most > 0 {
				s.MaxIterations = row.most
			}
			v := row.now
			known(Input{State: s, Iteration: *s.Last()}, row.must, &v)
			got := strings.Join(loop.Names(v.Concerns), " ")
			if got != "" && v.Concerns[0].ForPeople() {
				got += ", for people"
			}
			if v.Severity == loop.Hard && got != "" {
				got = ""
				if strings.Contains(v.PromptText, "The base commit fails in the same way") {
					got = "told"
				}
			}
			if got != row.want {
				t.Errorf("got %q (%s), want %q", got, v.Severity, row.want)
			}
		})
	}
}
