package failure

import (
	"strings"
	"testing"
)

// TestVaries has a row for each kind of thing that differs between two runs of the same failure.
func TestVaries(t *testing.T) {
	const failed, broken = "--- FAIL: TestAdd (0.00s)\n    add_test.go:3: got 4, want 3", "a.c:4:1: error: no\n"
	tests := []struct{ name, a, b string }{
		{"colours", "\x1b[31mFAIL\x1b[0m a.js \x1b]8;;http://x\x07adds\x1b]8;;\x07", "FAIL a.js adds"},
		{"quotes", "a.c: error: expected ‘;’", "a.c: error: expected ';'"},
		{"progress on one line", " 10%\r 50%\rerror: no", "error: no"},
		{"progress redrawn", "tests 1/2\n\x1b[1A\x1b[2Ktests 2/2\nerror: no", "tests 2/2\nerror: no"},
		{"durations", "--- FAIL: TestAdd (0.02s)\nwaited 3.5 seconds, 1m2.5s, 17ms, 8µs",
			"--- FAIL: TestAdd (12.75s)\nwaited 4 seconds, 2m0.1s, 3ms, 9µs"},
		{"a duration shown only when long", "FAIL src/a.test.js (5.123 s)", "FAIL src/a.test.js"},
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
		{"a date in a directory's name", "open /data/ci/2026-11-21/app/src/a.go: no", "open /srv/app/src/a.go: no"},
		{"the working directory", "no document in /opt/agent/_work/1/s", "no document in /srv/app"},
		{"the working directory at the root", "at /s/lib/a.js:3:1\nno document in /s",
			"at /srv/app/lib/a.js:4:1\nno document in /srv/app"},
		{"a directory behind a colon or an option", "not in cwd:/srv/app nor -I/srv/app/inc",
			"not in cwd:/home/dev/x nor -I/home/dev/x/inc"},
		{"URLs without a root", "no at file:///srv/app/test.js:3:1", "no at file://test.js:4:1"},
		{"a temporary directory's random name", "mkdir: cannot create '/tmp/tmp.db1WdFCLLv/x'",
			"mkdir: cannot create '/tmp/tmp.AWS3coMcZS/x'"},
		{"a temporary file's random name", "cannot read /tmp/tmp.db1WdFCLLv nor tmp.Ab12Cd34",
			"cannot read /tmp/tmp.6YqvvFGxsq nor tmp.Zz98Yy76"},
		{"pytest's temporary directories", "no such file: /tmp/pytest-of-runner/pytest-12/test_x0",
			"no such file: /tmp/pytest-of-dev/pytest-3/popen-gw1/test_x0"},
		{"files of a process", "--- /dev/fd/63\n+++ /dev/fd/62\n-a\n+b", "--- /dev/fd/12\n+++ /dev/fd/11\n-a\n+b"},
		{"configuring", broken, "-- The C compiler identification is GNU 12.2.0\n-- Detecting C compile features - " +
			"done\n-- Build files have been written to: /x/build\n" + broken},
		{"building", "[  7%] Building C object a.c.o\n[100%] Linking C executable a\n" + broken,
			"[1/3] Linking CXX executable ring\n" + broken},
		{"seeds that are told", broken + "Note: Randomizing tests' orders with a seed of 58789 .",
			broken + "ninja: no work to do."},
		{"fetching", "Collecting pytest\n  Downloading pytest-8.0.tar.gz (1.4 MB)\ngo: downloading example.com/x v1.2.3\n" +
			broken, "make[1]: Entering directory '/x'\nmake[1]: Nothing to be done for 'all'.\n" + broken},
		{"logging", broken + "2026-11-21 12:00:00,123 INFO [4711] loaded 3 of 4",
			broken + "[2026-11-21 12:00:00] connected to 127.0.0.1:54321"},
		{"serving", broken + `127.0.0.1 - - [21/Nov/2026 19:41:08] "GET /a HTTP/1.1" 200 -`,
			broken + `127.0.0.1 - - [22/Nov/2026 04:41:08] "GET /b HTTP/1.1" 200 -`},
		{"ratings", broken + "Your code has been rated at 8.57/10 (previous run: 4.17/10, +4.40)",
			broken + "Your code has been rated at 8.57/10"},
		{"spinners", "⠙\x1b[1G\x1b[0Kcheck 3: no", "check 3: no"},
		{"spinners drawn over", "⠙ working\x1b[2K\x1b[1Gcheck 3: no\n", "check 3: no"},
		{"what comes after the last line drawn over", "10%\r50%\rno such user\r\x1b[?25h", "no such user"},
		{"letters of progress", ".E..no such user", "...no such user"},
		{"the progress of prove", "t/add.t .... 1/? no such thing at lib/A.pm line 3.",
			"t/add.t ....\nno such thing at lib/A.pm line 9."},
		{"what perl needed", "no\nFiles=2, Tests=4,  0 wallclock secs ( 0.02 usr  0.00 sys +  0.15 cusr  0.01 csys =  0.18 " +
			"CPU)", "no\nFiles=2, Tests=5,  1 wallclock secs ( 0.03 usr  0.01 sys +  0.15 cusr  0.04 csys =  0.23 CPU)"},
		{"a runner's log", "2026-11-21T12:00:00.123456Z 01O error: no", "[2026-11-21T12:00:00.123Z] error: no"},
		{"numbered source", "  3: a()\n  4: b()\nError: no", "  13: a()\n  14: b()\nError: no"},
		{"numbered source with an arrow", "  3  a\n> 4  b(\nError: no", "  7  x\n> 8  b(\nError: no"},
		{"places of parsers", "cannot parse a.py: 2:11: return )", "cannot parse a.py: 5:1: return )"},
		{"hunks", "@@ -1,2 +1,2 @@\n-a\n+b", "@@ -7,7 +7,8 @@\n-a\n+b"},
		{"lengths of numbers", "no alarm at 12:00:00 of 1795286940", "no alarm at 12:00:00 of 34345600"},
		{"sortable ids", "no event 01ARZ3NDEKTSV4RRFFQ69G5FAV", "no event 01BX5ZZKBKACTAV9WEVGEMMVRZ"},
		{"commits", "no tag at commit 9f3c2ab", "no tag at commit 1234567"},
		{"rates and sizes", "too slow: 12.3 req/s, 4.5MB/s, memory: 12.5 MB", "too slow: 9 req/s, 10 kB/s, memory: 7 MB"},
		{"attempts", "no answer, attempt 2/3, try 1 of 5", "no answer, attempt 3/3, try 4 of 5"},
		{"processor time", "too slow: 0.02 usr, 0.15 cusr, 0.18 CPU", "too slow: 0.03 usr, 0.23 cusr, 0.2 CPU"},
		{"seeds that are set", "no (random seed set to 12)", "no (random seed set to 0x4711)"},
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
		{"bats", batsInPipe, batsOnTerminal},
		{"closures of Go", "panic: no\n\ngoroutine 7 [running]:\na.TestTouch.func1()\na.(*B).run.func1.2()\n",
			"panic: no\n\ngoroutine 7 [running]:\na.TestTouch.func2()\na.(*B).run.func3.1()\n"},
		{"closures of Rust, PHP and Java", "no: a::f::{closure#0} at a.B.lambda$run$0 and a.B$1.call",
			"no: a::f::{closure#3} at a.B.lambda$run$2 and a.B$4.call"},
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
	if a := Signature("make test", "error: no"); len(a) != 8 || a == Signature("make lint", "error: no") {
		t.Errorf("%q is not of eight digits, or that of another check", a)
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

// TestChatter: a line that speaks of this run is left out, unless it may tell why something failed, or nothing else
// does.
func TestChatter(t *testing.T) {
	const failed = "error: no\n"
	for _, line := range []string{"2026-11-21 12:00:00 got 3, want 4", "[12:00:00] ERROR no user",
		"Parsing a.json: unexpected token", "Testing adds: FAILED", "- 12:00:00", "listening on :54321 denied"} {
		if Signature("", failed+line) == Signature("", failed) {
			t.Errorf("%q is left out", line)
		}
	}
	if Signature("", "12:00:00 three users") == Signature("", "12:00:00 four users") {
		t.Error("nothing is said, and what is there is left out")
	}
}

// TestTimes: however a tool writes down when it was, it is left out, zone and all.
func TestTimes(t *testing.T) {
	want := Read("stored at 2026-11-21T19:41:08Z: no such user").Explain()
	for _, at := range []string{
		"2027-01-02 03:04:05", "2027-01-02 03:04:05.123456+09:00", "2027-01-02 03:04:05 -0300", "2027-01-02 03:04:05,123",
		"2027-01-02 03:04:05 JST",
		"2026-11-21 19:41:08.123 +0900 JST m=+0.003", "2026-11-21 16:18:32.9 -0300 -03 m=+0.012",
		"2026-11-21T19:41:08+01:00[Europe/Berlin]", "2026-11-21 19:41:08 America/Sao_Paulo",
		"Sat Nov 21 19:41:08 UTC 2026", "Sat Nov 21 19:41:08 JST 2026", "Sun Jul 12 09:01:02 CEST 2026",
		"Sat Nov 21 19:41:08 -03 2026", "Sat Nov 21 07:41:08 PM CET 2026", "Sat 21 Nov 2026 07:41:08 PM UTC",
		"Sat, 21 Nov 2026 18:49:00 GMT", "Saturday, 21-Nov-26 18:49:00 GMT", "Sat, 21 Nov 2026 18:49:00 +0000",
		"Nov 21 19:41:08", "21 November 2026 19:41", "November 21, 2026 at 7:41 PM",
		"Sat Nov 21 2026 19:41:08 GMT+0900 (Japan Standard Time)",
		"Sat Nov 21 2026 19:41:08 GMT+0000 (Coordinated Universal Time)", "11/21/2026, 7:41:08 PM",
		"11/21/2026, 7:41:08\u202fPM", "21.11.2026 19:41:08",
		"21/Nov/2026:19:41:08 +0000", "21/Nov/2026 19:41:08", "20261121T194108Z", "19:41:08.123",
		"19:41:08 CET", "7:41 PM",
	} {
		if got := Read("stored at " + at + ": no such user").Explain(); got != want {
			t.Errorf("%s leaves %q", at, got)
		}
	}
	if got, want := Read("stored at 1795286940: no such user").Explain(),
		Read("stored at 1795286940123: no such user").Explain(); got != want {
		t.Errorf("seconds leave %q, milliseconds %q", got, want)
	}
}

// TestNoTimes: what only resembles a time stays.
func TestNoTimes(t *testing.T) {
	for _, line := range []string{"Mark 3 of Decimal 12", "May I have 3", "12:00:00 WARN no", "version 1.2.2026",
		"want 3:1, got 2:1", "want 12/3/4"} {
		if got := Read(line).Explain(); got != line && got != "<time> "+line[len("12:00:00 "):] &&
			got != line[len("12:00:00 "):] {
			t.Errorf("%q becomes %q", line, got)
		}
	}
}
