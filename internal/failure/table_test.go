package failure

import (
	"strings"
	"testing"
)

// TestVaries has a row for each kind of thing that differs between two runs of the same failure.
func TestVaries(t *testing.T) {
	const failed = "--- FAIL: TestAdd (0.00s)\n    add_test.go:3: got 4, want 3"
	tests := []struct{ name, a, b string }{
		{"colours", "\x1b[31mFAIL\x1b[0m a.js \x1b]8;;http://x\x07adds\x1b]8;;\x07", "FAIL a.js adds"},
		{"quotes", "a.c: error: expected ‘;’", "a.c: error: expected ';'"},
		{"progress on one line", " 10%\r 50%\rerror: no", "error: no"},
		{"progress redrawn", "tests 1/2\n\x1b[1A\x1b[2Ktests 2/2\nerror: no", "tests 2/2\nerror: no"},
		{"ends of lines", "error: no\r\nFAIL x\r\n", "error: no\nFAIL x\n"},
		{"durations", "--- FAIL: TestAdd (0.02s)\nwaited 3.5 seconds, 1m2.5s, 17ms, 8µs",
			"--- FAIL: TestAdd (12.75s)\nwaited 4 seconds, 2m0.1s, 3ms, 9µs"},
		{"a duration shown only when long", "FAIL src/a.test.js (5.123 s)", "FAIL src/a.test.js"},
		{"times", "at 2026-11-21T12:00:00.123Z: no", "at 2027-01-02T03:04:05+01:00: no"},
		{"times of a log", "2026/11/21 12:00:00 no", "2027/01/02 03:04:05 no"},
		{"times of a letter", "on Sat, 21 Nov 2026 18:49:00 GMT: no", "on Sun, 3 Jan 2027 01:02:03 GMT: no"},
		{"times as date prints them", "Sat Nov 21 18:49:00 UTC 2026 no", "Sun Jan  3 01:02:03 CET 2027 no"},
		{"times of America", "11/21/2026, 6:49:00 PM no", "1/2/2027, 11:04:05 AM no"},
		{"seconds since 1970", "at 1795286940123 no", "at 1795286941999 no"},
		{"times in names", "build-20261121-184900 failed", "build-20270102-030405 failed"},
		{"addresses", "<Foo object at 0x7f1160569090> and Foo@1b2c3d4e", "<Foo object at 0x7fa2bb010203> and Foo@6d7e8f90"},
		{"ids", "request 6f1c1c1e-5b0a-4a39-9d59-0f4a3c6c8a11 failed", "request 0b7f59a2-1b7e-4a58-8f0a-4f2f6dd0a6f2 failed"},
		{"hashes", "build a1b2c3d4e5f6 failed", "build 0f9e8d7c6b5a failed"},
		{"ports", "dial tcp 127.0.0.1:43211: connect: connection refused",
			"dial tcp 127.0.0.1:39393: connect: connection refused"},
		{"ports alone", "listen :43211: in use, port 43211", "listen :39393: in use, port 39393"},
		{"processes", "pid 123: no; worker process 4567", "pid 4711: no; worker process 8910"},
		{"what a log line numbers", "2026-11-21 12:00:00 loaded by 31966", "2026-11-21 12:00:00 loaded by 11240"},
		{"seeds", "Falsified with seed=668846129", "Falsified with seed=-12"},
		{"threads", "Exception in thread \"pool-1-thread-3\" java.lang.IllegalStateException: no",
			"Exception in thread \"pool-2-thread-14\" java.lang.IllegalStateException: no"},
		{"threads of Rust", "thread 'tests::adds' (4711) panicked at src/lib.rs:3:5:\nno",
			"thread 'tests::adds' panicked at src/lib.rs:8:9:\nno"},
		{"lines and columns", "a.go:3:5: undefined: x\nb.ts(3,5): error TS2304: no\nFile \"a.py\", line 3, in f",
			"a.go:30:1: undefined: x\nb.ts(14,2): error TS2304: no\nFile \"a.py\", line 12, in f"},
		{"directories", "open /home/dev/app/src/a.go: no", "open /srv/ci/build-7/app/src/a.go: no"},
		{"directories with a space", "open /home/my dev/app/a.go:3: no", "open /srv/app/a.go:3: no"},
		{"directories of Windows", `C:\Users\dev\app\a.ts(3,5): error TS2304: no`, `/srv/app/a.ts(3,5): error TS2304: no`},
		{"URLs of files", "at file:///home/dev/a.mjs:3:5", "at file:///tmp/x/a.mjs:9:1"},
		{"temporary files", "open /tmp/TestAdd123456/001/list.txt: no", "open /var/folders/zz/T/TestAdd9/002/list.txt: no"},
		{"temporary names", "/usr/bin/ld: /tmp/ccAbCd12.o: undefined reference to 'f'",
			"/usr/bin/ld: /tmp/ccXyZz98.o: undefined reference to 'f'"},
		{"order of blocks", "FAIL a\n  one\nFAIL b\n  two", "FAIL b\n  two\nFAIL a\n  one"},
		{"order of sets", "assert {'a', 'b', 'c'} == {1: {2, 3}}", "assert {'c', 'a', 'b'} == {1: {3, 2}}"},
		{"told twice", "error: no\nerror: no", "error: no"},
		{"width of rulers", "===== FAILURES =====\n__ test_a __\nE   assert 1 == 2",
			"========= FAILURES =========\n_______ test_a _______\nE   assert 1 == 2"},
		{"cached", failed, failed + "\nok  \texample.com/b\t(cached)"},
		{"downloads", failed, "go: downloading example.com/x v1.2.3\n" + failed},
		{"counts", "error: no\nTests: 1 failed, 2 passed, 3 total\n3 errors",
			"error: no\nTests: 1 failed, 12 passed, 13 total\n4 errors"},
		{"hints", "error: no\nnpm error A complete log of this run can be found in: " +
			"/root/.npm/_logs/2026-11-21T12_00_00_123Z-debug-0.log", "error: no"},
		{"progress bars", "Building [=====>   ] 3/5\nerror: no", "error: no"},
		{"which race came first", "WARNING: DATA RACE\nRead at 0x00c1 by goroutine 8:\n  a.F()\n      /x/a.go:3 " +
			"+0x1\n\nPrevious write at 0x00c1 by goroutine 7:\n  a.G()\n      /x/a.go:9 +0x2\n==================",
			"WARNING: DATA RACE\nWrite at 0x00c2 by goroutine 9:\n  a.G()\n      /x/a.go:9 +0x2\n\nPrevious read at 0x00c2 by " +
				"goroutine 6:\n  a.F()\n      /x/a.go:3 +0x1\n=================="},
		{"the runtime of Node", "Error: no\n    at f (/x/a.js:3:5)\n    at Module._compile " +
			"(node:internal/modules/cjs/loader:1521:14)", "Error: no\n    at f (/y/a.js:7:1)"},
		{"the runtime of Java", "java.lang.Error: no\n\tat com.a.B.c(B.java:3)\n\tat " +
			"java.base/jdk.internal.reflect.Method.invoke(Method.java:1)",
			"java.lang.Error: no\n\tat com.a.B.c(B.java:9)\n\tat org.junit.Runner.run(Runner.java:4)\n\t... 23 more"},
		{"warnings beside errors", "a.c:3:1: warning: unused\n    3 | int x;\n      |     ^\na.c:4:1: error: no",
			"a.c:4:1: error: no"},
		{"code around", "  1 | a\n> 2 | b(\n    | ^\n  3 | c\nError: no",
			"  7 | other\n> 8 | b(\n    | ^\n  9 | d\nError: no"},
		{"the TypeScript compiler in a terminal",
			"a.ts:3:5 - error TS2322: no\n\n3 const x = 1;\n        ~\n\nFound 1 error in a.ts:3",
			"a.ts(3,5): error TS2322: no"},
		{"numbers of TAP", "not ok 3 - adds\n  ---\n  duration_ms: 0.8", "not ok 1 - adds\n  ---\n  duration_ms: 1.9"},
		{"numbers of tests", "  1) adds:\n     Error: no", "  2) adds:\n     Error: no"},
		{"order and number of retries", "error: no (attempt 2 of 5)", "error: no (attempt 3 of 5)"},
		{"syslog", "app[1234]: no", "app[99]: no"},
		{"what make says", "cc -O2 -c a.c\na.c:1:1: error: no\nmake: *** [Makefile:3: a.o] Error 1",
			"a.c:9:2: error: no\nmake[1]: *** [a.o] Error 1"},
		{"the order of events", `{"Action":"output","Package":"a","Test":"TestX","Output":"--- FAIL: TestX (0.01s)\n"}` +
			"\n" + `{"Action":"output","Package":"b","Test":"TestY","Output":"--- FAIL: TestY (0.01s)\n"}`,
			`{"Time":"2026-11-21T12:00:00Z","Action":"output","Package":"b","Test":"TestY","Output":"--- FAIL: TestY (0.05s)\n"}` + "\n" + `{"Action":"output","Package":"a","Test":"TestX","Output":"--- FAIL: TestX (0.09s)\n"}`},
		{"times that a runner puts before lines",
			"2026-11-21T12:00:00.1234567Z --- FAIL: TestA (0.01s)\n2026-11-21T12:00:01.1234567Z     a_test.go:3: no",
			"--- FAIL: TestA (0.01s)\n    a_test.go:3: no"},
		{"sets that are cut", "assert {'a', 'b', ...'c'} == set()", "assert {'c', 'd', ...'a'} == set()"},
		{"sockets of Python", "unclosed <socket fd=3, laddr=('127.0.0.1', 43211)>",
			"unclosed <socket fd=3, laddr=('127.0.0.1', 39393)>"},
		{"random inputs", "Falsifying example: f(n=3)\nYou can reproduce this example by temporarily adding " +
			"@reproduce_failure('6.92', b'AXic')", "Falsifying example: f(n=3)\nYou can reproduce this example by temporarily " +
			"adding @reproduce_failure('6.92', b'BYjd')"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if Signature("", test.a) != Signature("", test.b) {
				t.Errorf("two signatures of one failure:\n%s\n---\n%s", Read(test.a).Explain(), Read(test.b).Explain())
			}
		})
	}
}

// TestDiffers has a row for each kind of thing that tells two failures apart.
func TestDiffers(t *testing.T) {
	tests := []struct{ name, a, b string }{
		{"file", "a.go:3:5: undefined: x", "b.go:3:5: undefined: x"},
		{"directory in the project", "a/x.go:3:5: undefined: x", "b/x.go:3:5: undefined: x"},
		{"name", "a.go:3:5: undefined: x", "a.go:3:5: undefined: y"},
		{"test", "--- FAIL: TestAdd (0.00s)", "--- FAIL: TestSub (0.00s)"},
		{"subtest", "    --- FAIL: TestAdd/one (0.00s)", "    --- FAIL: TestAdd/two (0.00s)"},
		{"actual value", "a_test.go:3: want 3, got 4", "a_test.go:3: want 3, got 5"},
		{"expected value", "Expected: 3\nReceived: 4", "Expected: 5\nReceived: 4"},
		{"long numbers", "want 1000000, got 1000001", "want 1000000, got 1000002"},
		{"decimals", "expected 0.3 got 0.30000000000000004", "expected 0.3 got 0.4"},
		{"negative numbers", "want 1, got -1", "want 1, got 1"},
		{"small hexadecimal numbers", "want 0x1f, got 0x20", "want 0x1f, got 0x21"},
		{"order of a list", "want [1 2], got [2 1]", "want [1 2], got [1 3]"},
		{"exception", "ValueError: no", "KeyError: no"},
		{"rule", "a.py:1:1: E501 too long", "a.py:1:1: E502 too long"},
		{"route", "expected '/login', got '/'", "expected '/logout', got '/'"},
		{"status", "expected 200, got 404", "expected 200, got 500"},
		{"missing file", "open /tmp/x/y/users.json: no such file", "open /tmp/x/y/orders.json: no such file"},
		{"function that panics", "panic: no\n\ngoroutine 7 [running]:\na.F()\n",
			"panic: no\n\ngoroutine 7 [running]:\na.G()\n"},
		{"what raced", "WARNING: DATA RACE\nRead at 0x00c1 by goroutine 8:\n  a.F()\n",
			"WARNING: DATA RACE\nRead at 0x00c1 by goroutine 8:\n  a.H()\n"},
		{"one more failure", "--- FAIL: TestAdd (0.00s)", "--- FAIL: TestAdd (0.00s)\n--- FAIL: TestSub (0.00s)"},
		{"only noise", "make: *** [Makefile:3: a] Error 1", "make: *** [Makefile:3: b] Error 1"},
		{"only what passed", "ok a", "ok b"},
		{"missing module", "Cannot find module '../api/client'", "Cannot find module '../api/server'"},
		{"position", "Unexpected token } in JSON at position 15", "Unexpected token } in JSON at position 20"},
		{"version", "requires v1.2.3", "requires v1.2.4"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if Signature("", test.a) == Signature("", test.b) {
				t.Errorf("one signature of two failures:\n%s", Read(test.a).Explain())
			}
		})
	}
}

// TestHugeOutputs: an output of any size is looked at by its head and its tail, line by line so much.
func TestHugeOutputs(t *testing.T) {
	for name, output := range map[string]string{
		"one line":    strings.Repeat("a", 8<<20),
		"braces":      strings.Repeat("{", 8<<20),
		"escapes":     strings.Repeat("\x1b[1A\x1b]", 1<<20),
		"backspaces":  strings.Repeat("a\b", 1<<20),
		"paths":       strings.Repeat("/a b", 1<<20),
		"empty lines": strings.Repeat("\n", 8<<20),
		"no text":     strings.Repeat("\x00\xff", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			if n := len(Read(output).Explain()); n > mostBytes+mostLine {
				t.Errorf("%d bytes are hashed", n)
			}
			if n := len(Read(output).Findings()); n > 50 {
				t.Errorf("%d findings", n)
			}
			Read(output).MissingNames()
		})
	}
	middle := strings.Repeat("the same line\n", mostBytes/10)
	if Signature("", "error: one\n"+middle+"error: two") == Signature("", "error: one\n"+middle+"error: three") {
		t.Error("the tail is not looked at")
	}
}
