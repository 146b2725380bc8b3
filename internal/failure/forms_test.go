package failure

import "testing"

// TestVariesInForm has a row for each form in which tools write what changes from run to run.
func TestVariesInForm(t *testing.T) {
	tests := []struct{ name, a, b string }{
		{"a range of columns behind a file", "ERROR in ./src/a.js 1:0-26\nno b", "ERROR in ./src/a.js 4:0-26\nno b"},
		{"several ranges behind a file", "no b\n @ ./src/a.js 1:0-34 4:23-28",
			"no b\n @ ./src/a.js 12:0-34 15:23-28:9"},
		{"a line behind an at sign", "Failure → spec/a_spec.lua @ 3\nno", "Failure → spec/a_spec.lua @ 14\nno"},
		{"a line in a tuple", `{adds,{file,"a.erl"},{line,4}} failed`, `{adds,{file,"a.erl"},{line, 12}} failed`},
		{"a line that begins a message", "3: no such user", "17: no such user"},
		{"source behind a sign of per cent", "a.erl:4:3: no\n%    4|   f(\n%     |   ^",
			"a.erl:8:3: no\n%    8|   f(\n%     |   ^"},
		{"source behind a tag", "no\n[error]   1 | a\n[error] > 2 | b(\n[error]     | ^",
			"no\n[error]   7 | x\n[error] > 8 | b(\n[error]     | ^\n[error]   9 | d"},
		{"numbered source with carets", "no\n1: import a\n   ^\n2: import b",
			"no\n3: x\n4: import a\n   ^\n5: import b"},
		{"a diff with two numbers", "no\n    1 1 │ a\n    2   │ - b\n      2 │ + c",
			"no\n    8 8 │ x\n    9   │ - b\n      9 │ + c"},
		{"a measured time above a limit", "p95 latency 500 ms exceeds the limit of 300 ms",
			"p95 latency 497 ms exceeds the limit of 300 ms"},
		{"sizes of what is written", "asset main.js 3.59 KiB [emitted]\ncacheable modules 260 bytes\nerror: no",
			"asset main.js 3.7 KiB [compared for emit]\ncacheable modules 1.06 KiB\nerror: no"},
		{"the size of a file with an error", "./src/a.js 104 bytes [built] [1 error]",
			"./src/a.js 285 bytes [built] [1 error]"},
		{"progress with a tag", "<s> [webpack.Progress] 9% setup DuplicatePlugin\nerror: no", "error: no"},
		{"progress that goes on", "transforming...\nrendering chunks...\nerror: no", "error: no"},
		{"progress in middle dots", "··F·\nerror: no", "F··±\nerror: no"},
		{"the number of a test behind a mark", "  ✘  2 a.spec.js:5:3 › adds (36ms)",
			"  ✘  11 a.spec.js:8:3 › adds (9ms)"},
		{"a seed in an argument", "no with --seed=1234", "no with --seed=77"},
		{"the process that a signal ended", "a.sh: line 3: 12345 Segmentation fault ./a",
			"a.sh: line 4: 4711 Segmentation fault ./a"},
		{"workers by number", "worker 12345 failed", "worker 4711 failed"},
		{"a temporary file elsewhere", "ld: /srv/scratch/ccXyZz98.o: no symbol f",
			"ld: /tmp/ccAb12Cd.o: no symbol f"},
		{"objects by number", "expected #<Basket:1280> to be empty", "expected #<Basket:480> to be empty"},
		{"the command in a subshell", "(cd _build && cc -c a.c)\nFile \"a.c\", line 3: no",
			"File \"a.c\", line 4: no"},
		{"annotations", "::error file=a.js,line=3::no\nError: no", "Error: no"},
		{"a message wrapped at the terminal's width",
			"a.c:3:5: error: no member named\n      'cell' in 'struct m'\n        m->cell;\n           ^",
			"a.c:9:5: error: no member named 'cell' in 'struct m'\n        m->cell;\n           ^"},
		{"a remark below a finding", "  × no\n\n  i use b instead", "  × no\n\n  ℹ use b instead"},
		{"arrows", "Failure -> a_spec.lua @ 3", "Failure → a_spec.lua @ 3"},
		{"what passed, by name", "a_tests: adds_test...ok\nno",
			"a_tests: adds_test... ok\nb_tests: subs_test... ok\nno"},
		{"what make leaves", "a.c:3:1: error: no",
			"a.c:3:1: error: no\ngmake[2]: Target 'all' not remade because of errors."},
		{"a verdict that is told below", "test_a (t.T.test_a) ... FAIL\n\nFAIL: test_a (t.T.test_a)\nAssertionError: 1 != 2",
			"F\n\nFAIL: test_a (t.T.test_a)\nAssertionError: 1 != 2"},
		{"a unified diff", "@@ -1,4 +1,4 @@\n # old\n-a b\n+a  b\n done",
			"@@ -7,4 +7,4 @@\n # other\n-a b\n+a  b\n done"},
		{"the sign of a warning", "  ! no such rule", "  ⚠ no such rule"},
		{"what a sanitized program printed", "0 110\n==12==ERROR: LeakSanitizer: leaks\n #0 0x5560f0d3 in f /x/a.c:3",
			"==14==ERROR: LeakSanitizer: leaks\n #0 0x7f7f8daa in f /y/a.c:4"},
		{"a time in an assertion", "want 2026-11-21T12:00:01.123Z, got none",
			"want 2027-01-02T03:04:05.678Z, got none"},
		{"a duration in an assertion", "expected less than 100ms, got 123.4ms",
			"expected less than 100ms, got 187.9ms"},
		{"a duration beside its limit", "latency 0.5 s exceeds the limit of 0.3 s",
			"latency 0.497 s exceeds the limit of 0.3 s"},
		{"a port in an assertion", "expected http://127.0.0.1:43211/a to answer",
			"expected http://127.0.0.1:39393/a to answer"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if Signature("", test.a) != Signature("", test.b) {
				t.Errorf("two signatures of one failure:\n%s\n---\n%s", Read(test.a).Explain(), Read(test.b).Explain())
			}
		})
	}
}

// TestDiffersInValue has a row for each kind of value that looks as if it changed from run to run, and is asserted.
func TestDiffersInValue(t *testing.T) {
	tests := []struct{ name, a, b string }{
		{"status of an answer", "GET http://127.0.0.1:43211/a returned status 404",
			"GET http://127.0.0.1:43211/a returned status 500"},
		{"function that leaks", "==1==ERROR: LeakSanitizer: leaks\n #1 0x5560f0d3 in rooms /x/a.c:3",
			"==1==ERROR: LeakSanitizer: leaks\n #1 0x5560f0d3 in names /x/a.c:3"},
		{"share", "expected '10 of 120 (10%)', got '12 of 120 (12%)'",
			"expected '10 of 120 (10%)', got '18 of 120 (15%)'"},
		{"day", "expected 2024-03-31, got 2024-04-01", "expected 2024-03-31, got 2024-04-30"},
		{"day in a diff", "-'2024-03-31'\n+'2024-04-01'", "-'2024-03-31'\n+'2024-04-30'"},
		{"day of Python", "AssertionError: datetime.date(2024, 2, 28) != datetime.date(2024, 2, 29)",
			"AssertionError: datetime.date(2024, 3, 1) != datetime.date(2024, 2, 29)"},
		{"midnight", "Expected '2025-02-28T00:00:00.000Z' to be '2025-03-01T00:00:00.000Z'",
			"Expected '2025-03-02T00:00:00.000Z' to be '2025-03-01T00:00:00.000Z'"},
		{"time of day", "left: ~T[20:15:00]", "left: ~T[22:15:00]"},
		{"duration", "Wait(5) = 25m0s, want 15m0s", "Wait(5) = 35m0s, want 15m0s"},
		{"duration in seconds", "expected '15 s' to equal '1.5 s'", "expected '2 s' to equal '1.5 s'"},
		{"limit of time", "Error: Timeout 1500ms exceeded while waiting",
			"Error: Timeout 2500ms exceeded while waiting"},
		{"port", "expected port 8080, got 9090", "expected port 8080, got 3000"},
		{"port of an address", "expected '127.0.0.1:8080'", "expected '127.0.0.1:9090'"},
		{"checksum", "want sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
			"want sha256 60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if Signature("", test.a) == Signature("", test.b) {
				t.Errorf("one signature of two failures:\n%s", Read(test.a).Explain())
			}
		})
	}
}
