package failure

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// measured is a measure in short: "findings 3", "… < … 840 to 500", "shop.py:3".
func measured(m *loop.Measure) string {
	if m == nil {
		return ""
	}
	var all []string
	for _, q := range m.Quantities {
		text := fmt.Sprintf("%s %.6g%s", q.Name, q.Value, q.Unit)
		if q.Goal != nil {
			text += fmt.Sprintf(" to %.6g", *q.Goal)
		}
		if q.More {
			text += " or more"
		}
		if q.Timed {
			text += " timed"
		}
		all = append(all, text)
	}
	if m.Line > 0 {
		all = append(all, fmt.Sprintf("%s:%d", m.File, m.Line))
	}
	return strings.Join(all, "; ")
}

// TestMeasure has a row for each way in which tools name numbers.
func TestMeasure(t *testing.T) {
	tests := []struct{ name, output, want string }{
		{"nothing", "it does not work", ""},
		{"an assertion is no measure", "want 3, got 4", ""},
		{"nor is one of many numbers", "expected [1 2 3], got [1 2 4]", ""},
		{"a duration alone is none", "--- done in 5.03s", ""},
		{"a version, a date, a port and an address are none",
			"v1.2.3 below 2026-11-21 10:05:11 at localhost:3000 exceeds 0x7f", ""},
		{"what a function is called with is none", "total(3) is below total(9)", ""},
		{"findings, and the first place in the first file",
			"b.py:7:1: W291 trailing\na.py:9:1: W291 trailing\na.py:3:1: W291 trailing",
			"findings 3; a.py:3"},
		{"failing tests",
			"--- FAIL: TestA (0.00s)\n    a_test.go:7: wrong\n--- FAIL: TestB (0.00s)\n    a_test.go:9: wrong\nFAIL",
			"failing tests 2; a_test.go:7"},
		{"a count of problems", "✖ 7 problems (5 errors, 2 warnings)", "… problem 7; … error 5; … warning 2"},
		{"a count that comes several times", "2 errors generated.\n3 errors generated.", "… error 5"},
		{"one and many are the same", "error: could not compile due to 1 previous error", "… previous error 1"},
		{"a count in brackets' plural", "SUMMARY: AddressSanitizer: 480 byte(s) leaked in 12 allocation(s).",
			"… byte leaked 480"},
		{"a name and its count", "Tests run: 9, Failures: 3, Errors: 1", "… failure 3; … error 1"},
		{"some of many", "7 of 20 runs failed", "… run failed 7"},
		{"some of many, with a stroke", "7/20 tests failed", "… test failed 7"},
		{"no errors", "checked 5 files, no errors", ""},
		{"lines with places that nobody can read",
			"Code before strictures at line 3, column 1.\nCode before strictures at line 9, column 1.", "places 2"},
		{"a place of what only says that something else failed",
			"it does not work\nmake: *** [Makefile:2: test] Error 1", ""},
		{"jest's threshold", `Jest: "global" coverage threshold for functions (90%) not met: 45%`,
			`Jest: "global" coverage threshold for functions (…) not met: … 45% to 90`},
		{"nyc's", "ERROR: Coverage for lines (71.2%) does not meet global threshold (80%)",
			"ERROR: Coverage for lines (…) does not meet global threshold (…) 71.2% to 80"},
		{"pytest-cov's", "FAIL Required test coverage of 80% not reached. Total coverage: 61.50%",
			"FAIL Required test coverage of … not reached. Total coverage: … 61.5% to 80"},
		{"coverage.py's", "Coverage failure: total of 61 is less than fail-under=80",
			"Coverage failure: total of … is less than fail-under=… 61 to 80"},
		{"SimpleCov's", "Line coverage (61.00%) is below the expected minimum coverage (80.00%).",
			"Line coverage (…) is below the expected minimum coverage (…). 61% to 80"},
		{"Stryker's, among other numbers", "10:05:11 (2211) ERROR Final mutation score 61.54 under breaking threshold 80",
			"10:05:11 (…) ERROR Final mutation score … under breaking threshold … 61.54 to 80"},
		{"a latency and its limit", "p95 latency 840 ms exceeds the limit of 0.5 s",
			"p95 latency … exceeds the limit of … 0.84s to 0.5 timed"},
		{"a bound without a unit", "BenchmarkTotal: 41200 ns/op, want at most 20000",
			"BenchmarkTotal: …, want at most … 4.12e-05s to 2e-05 timed"},
		{"took and must", "discount took 1.92s, must be under 1.5s", "discount took …, must be under … 1.92s to 1.5 timed"},
		{"took and must, in whole units", "query took 840ms, must be under 500ms", "query took …, must be under … 0.84s to 0.5 timed"},
		{"what it may be at most, in brackets", "render took 12.1 s (max 10 s)", "render took … (max …) 12.1s to 10 timed"},
		{"two times of a round", "total: 41200ns/op > 20000ns/op", "total: … > … 4.12e-05s to 2e-05 timed"},
		{"a round, and how much it varies", "bench: 1,200 ns/iter (+/- 30)", "bench: … (+/- …) 1.2e-06s timed"},
		{"a dot an item", "..F..x.\n.✗.\nsome items are wrong", "marked items 3"},
		{"a place at the end", "wrong type in shop.zz:12\nno colon [src/a.zz, line 3]", "places 2"},
		{"a benchmark's rounds", "BenchmarkTotal-8   \t  100\t  41200 ns/op", "BenchmarkTotal-8 … … 4.12e-05s timed"},
		{"k6's", "✗ 'p(95)<500' p(95)=840.2ms", "✗ 'p(95)<…' p(95)=… 0.8402s to 0.5 timed"},
		{"got and want", "allocations: got 12, want <= 3", "allocations: got …, want <= … 12 to 3"},
		{"the bound first", "expected at least 80, got 61.5", "expected at least …, got … 61.5 to 80"},
		{"an operator", "assert 61.5 >= 80", "assert … >= … 61.5 to 80"},
		{"an operator and a name", "FAIL  ./dist/app.js: 18.6KB > maxSize 12KB (gzip)",
			"FAIL ./dist/app.js: … > maxSize … (gzip) 18600B to 12000"},
		{"a stroke", "the function has a cognitive complexity of (41/25)",
			"the function has a cognitive complexity of (…/…) 41 to 25"},
		{"two lines", "    Expected: < 500\n    Received:   840", "Expected: < … Received: … 840 to 500"},
		{"two lines, the other way round", "Size limit: 40 kB\nSize:       71.37 kB with all dependencies",
			"Size limit: … Size: … with all dependencies 71370B to 40000"},
		{"two lines that are to be equal", "Expected: 500\nReceived: 840", ""},
		{"a number alone that is too high", "memory use is too high: 512 MB", "memory use is too high: … 5.12e+08B"},
		{"a number alone that is too low", "throughput is too low: 320 req/s",
			"throughput is too low: … 320/s or more timed"},
		{"a limit alone says nothing", "Timeout of 5000ms exceeded.", ""},
		{"shown source is none", "  12 | if total > 500 { // over the limit of 30", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := Read(tt.output)
			if got := measured(o.Measure("c", o.Findings(), 0, nil)); got != tt.want {
				t.Errorf("measure of %q:\n%s\nwant\n%s", tt.output, got, tt.want)
			}
		})
	}
}

// TestKind: a failure is known again when nothing but what it measures has changed, and only then.
func TestKind(t *testing.T) {
	tests := []struct {
		name, a, b string
		same       bool
	}{
		{"a latency", "p95 latency 840 ms exceeds 500 ms", "p95 latency 620 ms exceeds 500 ms", true},
		{"another bound", "coverage 61% is below 80%", "coverage 61% is below 70%", true},
		{"a coverage table", "shop.py     40     16    60%\ncoverage 60% is below 80%",
			"shop.py     42     17    59%\ncoverage 59% is below 80%", true},
		{"two lines", "Expected: < 500\nReceived: 840", "Expected: < 500\nReceived: 760", true},
		{"how many files there are",
			"2 files inspected, 3 offenses detected", "5 files inspected, 3 offenses detected", true},
		{"a line of dots",
			"..C.\n4 files inspected, 1 offense detected", "..C....\n7 files inspected, 1 offense detected", true},
		{"another measure", "p95 latency 840 ms exceeds 500 ms", "p50 latency 840 ms exceeds 500 ms", false},
		{"an assertion", "a.go:3: total(3) = 5, want 9\n1 error", "a.go:3: total(4) = 5, want 9\n1 error", false},
		{"how many there should be", "want 3 files, got 2 files\n1 test failed", "want 5 files, got 2 files\n1 test failed",
			false},
		{"some of more", "7 of 20 runs failed", "5 of 20 runs failed", true},
		{"which one it is", "case 3: 840 ms, over the limit of 500 ms", "case 4: 840 ms, over the limit of 500 ms", false},
		{"a table without a bound",
			"cart.py   40   12   70%\ncoverage is too low", "cart.py   40   11   72%\ncoverage is too low",
			false},
		{"a failure beside it", "coverage 61% is below 80%", "coverage 61% is below 80%\npanic: nil map", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := kindOf(tt.a), kindOf(tt.b)
			if (a == b) != tt.same {
				t.Errorf("the kinds of %q and %q: %s, %s", tt.a, tt.b, a, b)
			}
		})
	}
}

// kindOf is by what a failure is known again.
func kindOf(output string) string {
	o := Read(output)
	if m := o.Measure("c", o.Findings(), 0, nil); m != nil && m.Kind != "" {
		return m.Kind
	}
	return o.Signature("c")
}

// TestManyFindingsAreCounted: more than a verdict keeps.
func TestManyFindingsAreCounted(t *testing.T) {
	var b strings.Builder
	for i := range 3 * loop.MaxFindings {
		fmt.Fprintf(&b, "a.py:%d:1: W291 trailing whitespace\n", i+1)
	}
	o := Read(b.String())
	m := o.Measure("flake8", o.Findings(), 0, nil)
	if got := m.Quantities[0]; got.Name != loop.Findings || got.Value != 3*loop.MaxFindings {
		t.Errorf("counted %+v, want %d findings", got, 3*loop.MaxFindings)
	}
}
