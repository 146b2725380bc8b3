package loop

import (
	"fmt"
	"strings"
	"testing"
)

// measuredRun is a run whose one failure has these measures, an iteration each; edits are what each changes.
func measuredRun(measures []*Measure, edits []FileChange) State {
	s := State{MaxIterations: 20}
	for i, m := range measures {
		it := &Iteration{N: i + 1, Mode: Implement, Turn: Turn{Class: OK}, Commit: &Commit{Tree: fmt.Sprint(i)}, Judged: true,
			Verdicts: []Verdict{{Check: "make test", Severity: Hard, Hash: "a", Measure: m}}}
		if edits != nil {
			it.Commit.Files = []FileChange{edits[i]}
		}
		s.Iterations = append(s.Iterations, it)
	}
	return s
}

func quantities(all ...Quantity) (measures []*Measure) {
	for _, q := range all {
		measures = append(measures, &Measure{Quantities: []Quantity{q}})
	}
	return measures
}

// TestProgress has a row for each way in which a failure gets better, or does not.
func TestProgress(t *testing.T) {
	bound := func(goal float64, timed bool, values ...float64) (all []*Measure) {
		for _, v := range values {
			all = append(all, quantities(Quantity{Name: "x", Value: v, Goal: &goal, Timed: timed})...)
		}
		return all
	}
	count := func(name string, values ...float64) (all []*Measure) {
		for _, v := range values {
			all = append(all, quantities(Quantity{Name: name, Value: v})...)
		}
		return all
	}
	more := quantities(Quantity{Name: "x", Value: 1, More: true}, Quantity{Name: "x", Value: 2, More: true})
	lowered, other := 70.0, quantities(Quantity{Name: "y", Value: 1})
	tests := []struct {
		name     string
		measures []*Measure
		want     int    // StuckCount: how often the failure has come without getting better
		numbers  string // what a person reads of it
	}{
		{"nothing to measure", make([]*Measure, 3), 3, ""},
		{"the same", count(Findings, 3, 3, 3), 3, "never fewer than 3 findings"},
		{"one that is the same", count(FailingTests, 1, 1, 1), 3, "never fewer than 1 failing test"},
		{"fewer each time", count(Findings, 5, 4, 3), 1, ""},
		{"to and fro", count(Findings, 5, 4, 5, 4), 3, "never fewer than 4 findings"},
		{"towards a bound from below", bound(80, false, 61.5, 61.6, 61.7), 1, ""},
		{"towards a bound from above", bound(300, false, 840, 620, 410), 1, ""},
		{"away from a bound", bound(80, false, 61.5, 61, 60), 3, `61.5 at best, held against 80, in "x"`},
		{"a time that is a little less, by chance", bound(300, true, 502, 499, 500, 498), 4,
			`498 at best, held against 300, in "x"`},
		{"a time that is less than by chance", bound(300, true, 502, 480, 460), 1, ""},
		{"a time that varies by more", bound(300, true, 512, 487, 530, 480, 500), 4,
			`480 at best, held against 300, in "x"`},
		{"a time that varies, and gets far better", bound(300, true, 512, 487, 530, 400), 1, ""},
		{"more is better", append(more, more[1]), 2, `2 at best, in "x"`},
		{"a bound that is lowered", append(bound(80, false, 61.5, 61.5),
			quantities(Quantity{Name: "x", Value: 61.5, Goal: &lowered})...), 3, `61.5 at best, held against 70, in "x"`},
		{"something else is measured", append(count("x", 2, 2), other...), 3, ""},
		{"no measure in between", append(count("x", 3, 2), nil, count("x", 1)[0]), 1, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			spin := measuredRun(tt.measures, nil).Spins()
			if spin.Count != tt.want || spin.Numbers != tt.numbers {
				t.Errorf("count %d, %q; want %d, %q", spin.Count, spin.Numbers, tt.want, tt.numbers)
			}
		})
	}
}

// TestPlacesMoveOn: a failure that comes at a later line is nearer to its end, unless lines were put before it.
func TestPlacesMoveOn(t *testing.T) {
	at := func(file string, lines ...int) (all []*Measure) {
		for _, line := range lines {
			all = append(all, &Measure{File: file, Line: line})
		}
		return all
	}
	edit := func(path string, added, deleted int) []FileChange {
		return []FileChange{{path, 1, 1}, {path, added, deleted}, {path, added, deleted}, {path, added, deleted}}
	}
	tests := []struct {
		name     string
		measures []*Measure
		edits    []FileChange
		want     int
	}{
		{"the same line", at("a.py", 3, 3, 3), edit("a.py", 1, 1), 3},
		{"later lines", at("a.py", 3, 7, 9), edit("a.py", 1, 1), 1},
		{"later lines of a file that nobody edits", at("a_test.py", 3, 7, 9), edit("a.py", 30, 1), 1},
		{"moved by what was put before it", at("a.py", 3, 5, 7), edit("a.py", 2, 0), 3},
		{"moved by more than that", at("a.py", 3, 6, 9), edit("a.py", 2, 0), 1},
		{"named from below the top", at("shop/a.py", 3, 5, 7), edit("lib/shop/a.py", 2, 0), 3},
		{"named by its last name", at("a.py", 3, 5, 7), edit("lib/a.py", 2, 0), 3},
		{"to and fro", at("a.py", 7, 3, 7, 3), edit("a.py", 1, 1), 4},
		{"in another file", append(at("a.py", 3, 3), at("b.py", 9)...), edit("c.py", 1, 1), 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := measuredRun(tt.measures, tt.edits).StuckCount(); got != tt.want {
				t.Errorf("StuckCount = %d, want %d", got, tt.want)
			}
		})
	}
	s := measuredRun(at("a.py", 3, 7, 9), edit("z.py", 1, 0))
	for _, it := range s.Iterations {
		it.Commit.MoreFiles = 1
	}
	if got := s.StuckCount(); got != 3 {
		t.Errorf("StuckCount = %d of a run in which nobody knows what was edited, want 3", got)
	}
}

// TestOneKind: failures with one kind are one failure, whatever numbers they have.
func TestOneKind(t *testing.T) {
	s := measuredRun([]*Measure{{Kind: "k"}, {Kind: "k"}, {Kind: "k"}, {Kind: "l"}}, nil)
	for i, it := range s.Iterations {
		it.Verdicts[0].Hash = fmt.Sprint(i)
	}
	if got := s.StuckCount(); got != 1 {
		t.Errorf("StuckCount = %d after another kind, want 1", got)
	}
	s.Iterations = s.Iterations[:3]
	if got := s.StuckCount(); got != 3 {
		t.Errorf("StuckCount = %d, want 3", got)
	}
}

// TestFailuresInTurnAreTold in words: which checks, and over how many attempts.
func TestFailuresInTurnAreTold(t *testing.T) {
	s := history("a b c a b c a b c")
	if got := s.Spins().Told(); got != "3 failures in turn (make test) over 9 attempts" {
		t.Errorf("told %q", got)
	}
	for i, it := range s.Iterations {
		it.Verdicts[1].Check = "check " + []string{"x", "y", "z"}[i%3]
	}
	if got := s.Spins().Told(); got != "3 failures in turn (check x, check y, check z) over 9 attempts" {
		t.Errorf("told %q", got)
	}
	if got := history("a a a").Spins().Told(); got != "the same failure of make test 3 times in a row" {
		t.Errorf("told %q", got)
	}
	if got := history("-= -= -=").Spins(); !strings.Contains(got.Numbers, "does not say that it is done") {
		t.Errorf("of a run in which nothing happens: %+v", got)
	}
}
