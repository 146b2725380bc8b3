package failure

import "testing"

// TestVariesWithPlaceAndProgress has a row for each kind of thing that changes with the directory, the cache, the
// terminal and with what else runs.
func TestVariesWithPlaceAndProgress(t *testing.T) {
	const failed = "a.c:4:1: error: no\n"
	tests := []struct{ name, a, b string }{
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
		{"configuring", failed, "-- The C compiler identification is GNU 12.2.0\n-- Detecting C compile features - " +
			"done\n-- Build files have been written to: /x/build\n" + failed},
		{"building", "[  7%] Building C object a.c.o\n[100%] Linking C executable a\n" + failed,
			"[1/3] Linking CXX executable ring\n" + failed},
		{"seeds that are told", failed + "Note: Randomizing tests' orders with a seed of 58789 .",
			failed + "ninja: no work to do."},
		{"fetching", "Collecting pytest\n  Downloading pytest-8.0.tar.gz (1.4 MB)\ngo: downloading example.com/x v1.2.3\n" +
			failed, "make[1]: Entering directory '/x'\nmake[1]: Nothing to be done for 'all'.\n" + failed},
		{"logging", failed + "2026-11-21 12:00:00,123 INFO [4711] loaded 3 of 4",
			failed + "[2026-11-21 12:00:00] connected to 127.0.0.1:54321"},
		{"serving", failed + `127.0.0.1 - - [21/Nov/2026 19:41:08] "GET /a HTTP/1.1" 200 -`,
			failed + `127.0.0.1 - - [22/Nov/2026 04:41:08] "GET /b HTTP/1.1" 200 -`},
		{"ratings", failed + "Your code has been rated at 8.57/10 (previous run: 4.17/10, +4.40)",
			failed + "Your code has been rated at 8.57/10"},
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
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if Signature("", test.a) != Signature("", test.b) {
				t.Errorf("two signatures of one failure:\n%s\n---\n%s", Read(test.a).Explain(), Read(test.b).Explain())
			}
		})
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
