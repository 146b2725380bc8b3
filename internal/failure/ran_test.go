package failure

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/fake/archive"
)

var updateRan = flag.Bool("update-ran", false,
	"write what is read from testdata/ran into the first lines; look at the diff")

// Ran is what an output that comes in one piece says about the tests that were run.
func Ran(output string) Tests {
	c := NewTestCounter()
	_, _ = c.Write([]byte(output))
	return c.Tests()
}

// words is a count as the first lines of testdata/ran say it.
func (t Tests) words() string {
	if !t.Known {
		return "unknown"
	}
	s := fmt.Sprintf("%d ran, %d skipped, %d failed (%s)", t.Ran, t.Skipped, t.Failed, t.Runner)
	if t.AtLeast {
		s = "at least " + s
	}
	if t.Said != "" {
		s += ": " + t.Said
	}
	return s
}

// ran are the files of testdata/ran, by runner and name.
func ran(t testing.TB) map[string]string { return archive.Files(t, "testdata/ran/*.txtar") }

// TestRan has a row for each file of testdata/ran: the first line says what the rest means, and whether a tool really
// printed it. How an output is cut into writes, and how often its count is asked, changes nothing. What a tool really
// printed ends with its failures exactly when there were some.
func TestRan(t *testing.T) {
	files := ran(t)
	if len(files) < 90 {
		t.Fatalf("%d files", len(files))
	}
	random := rand.New(rand.NewPCG(1, 2))
	for file, content := range files {
		t.Run(file, func(t *testing.T) {
			head, output, _ := strings.Cut(content, "\n")
			want, source, ok := strings.Cut(strings.TrimPrefix(head, "# "), " | ")
			if !ok {
				t.Fatalf("the first line %q does not say where the output is from", head)
			}
			got := Ran(output).words()
			if *updateRan {
				runner, name, _ := strings.Cut(file, "/")
				if err := archive.Put("testdata/ran/"+runner+".txtar", name, txtar.File{
					Name: name, Data: []byte("# " + got + " | " + source + "\n" + output),
				}); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != want {
				t.Errorf("read: %s\nwant: %s", got, want)
			}
			c := NewTestCounter()
			for rest := output; rest != ""; {
				n := min(len(rest), 1+random.IntN(40))
				_, _ = io.WriteString(c, rest[:n])
				rest = rest[n:]
			}
			for range 2 {
				if got := c.Tests().words(); got != want {
					t.Errorf("in pieces: %s\nwant: %s", got, want)
				}
			}
			if got := c.Tests(); source != "written by hand" && (got.Failed > 0) != (got.Closing > 0) {
				t.Errorf("%d failed, %d at its end", got.Failed, got.Closing)
			}
		})
	}
}

// TestEveryRunnerHasItsFour: some ran, none ran, all skipped, some failed.
func TestEveryRunnerHasItsFour(t *testing.T) {
	names := "\n" + strings.Join(slices.Collect(maps.Keys(ran(t))), "\n")
	for _, runner := range strings.Fields(
		"go pytest unittest jest vitest mocha node cargo maven gradle rspec minitest phpunit dotnet ctest") {
		for _, row := range []string{"some", "no", "skipped", "failed"} {
			if !strings.Contains(names, "\n"+runner+"/"+row) {
				t.Errorf("%s has no file for %q", runner, row)
			}
		}
	}
}

// TestCounterIsBounded: a line without an end, and a stream of parents that never end, are not kept.
func TestCounterIsBounded(t *testing.T) {
	c := NewTestCounter()
	block := []byte(strings.Repeat("x", 1<<16))
	for range 64 {
		_, _ = c.Write(block)
	}
	if cap(c.part) > 2*maxTestLine {
		t.Errorf("%d bytes of a line are kept", cap(c.part))
	}
	_, _ = io.WriteString(c, "\nTests: 2 passed, 2 total")
	if got := c.Tests(); got.Ran != 2 {
		t.Errorf("after a long line: %+v", got)
	}
	for i := range maxParents + 10 {
		_, _ = fmt.Fprintf(c, "\n"+`{"Action":"run","Package":"p","Test":"T%d/x"}`+"\n", i)
	}
	if n := len(c.runners[0].(*goTest).parents); n > maxParents {
		t.Errorf("%d parents are kept", n)
	}
}

func FuzzRan(f *testing.F) {
	for _, content := range ran(f) {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, output string) {
		got := Ran(output)
		if got.Ran < 0 || got.Skipped < 0 || got.Failed < 0 || !got.Known && got != (Tests{}) ||
			(got.Said != "") != (got.Known && got.Ran == 0) {
			t.Errorf("%+v", got)
		}
	})
}

// TestRanReport: a test case counts once, whatever is in it.
func TestRanReport(t *testing.T) {
	for name, tt := range map[string]struct{ report, want string }{
		"some": {`<?xml version="1.0" encoding="ISO-8859-1"?><testsuites><testsuite tests="9"><testcase name="a"/><testcase name="b"><failure message="x">y</failure></testcase><testcase name="c"><skipped/></testcase></testsuite></testsuites>`, "2 ran, 1 skipped, 1 failed (JUnit report)"},
		"none": {`<testsuite tests="3"></testsuite>`,
			"0 ran, 0 skipped, 0 failed (JUnit report): JUnit report: 0 tests"},
		"skipped": {`<testsuite><testcase><skipped/></testcase><testcase><skipped/></testcase></testsuite>`,
			"0 ran, 2 skipped, 0 failed (JUnit report): JUnit report: all 2 skipped"},
		"broken off": {`<testsuite><testcase/><testcase><fail`, "unknown"},
		"SARIF":      {`{"version":"2.1.0","runs":[]}`, "unknown"},
	} {
		if r, _ := Report([]byte(tt.report)); r.Tests.words() != tt.want {
			t.Errorf("%s: %s, want %s", name, r.Tests.words(), tt.want)
		}
	}
}

// TestClosing: what the end of an output says of failures, whatever stands above.
func TestClosing(t *testing.T) {
	for name, tt := range map[string]struct {
		output string
		want   int
	}{
		"go test -v that passes and prints a sample": {"=== RUN   TestReader\n--- FAIL: TestSample (0.00s)\n" +
			"FAIL\nFAIL\tsample\t0.01s\nFAIL\n--- PASS: TestReader (0.00s)\nPASS\nok  \texample.com/m\t0.004s\n", 0},
		"go test":               {"--- FAIL: TestA (0.00s)\n    a_test.go:5: no\nFAIL\nFAIL\tm\t0.004s\nFAIL\n", 1},
		"go test, a later pass": {"FAIL\ta\t0.1s\nok  \tb\t0.1s\nFAIL\n", 1},
		"go test through turbo": {"web:test: --- FAIL: TestA (0.00s)\nweb:test: FAIL\tm\t0.1s\nweb:test: FAIL\n", 1},
		"go test -json": {`{"Action":"fail","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"fail","Package":"p"}` +
			"\n" + `{"Action":"pass","Package":"q","Test":"TestB"}` + "\n" + `{"Action":"pass","Package":"q"}` + "\n", 1},
		"a change log": {"# Changes\n\nTests: 1 failed\n\n    Tests:       1 failed, 2 total\n\nNew.\n", 0},
		"jest":         {"Test Suites: 1 failed, 1 total\nTests:       2 failed, 3 total\nTime:        1 s\n", 2},
		"jest that tests jest": {"Test Suites: 1 failed, 1 total\nTests:       2 failed, 3 total\n\n" +
			"Test Suites: 1 passed, 1 total\nTests:       9 passed, 9 total\n", 0},
		"pytest":               {"===== 1 failed, 2 passed in 0.10s =====\n", 1},
		"pytest that tests it": {"===== 1 failed, 2 passed in 0.10s =====\n===== 30 passed in 4.10s =====\n", 0},
		"a sample of pytest": {"--- PASS: TestRead (0.00s)\n===== 1 failed in 0.10s =====\nPASS\nok  " +
			"\tm\t0.1s\n", 0},
		"far above, no summary":             {"===== 1 failed in 0.10s =====\n" + strings.Repeat("a line\n", 100), 0},
		"a sample after unittest's summary": {"Ran 3 tests in 0.001s\n\nOK\n===== 1 failed in 0.10s =====\n", 0},
		"pytest after unittest": {"Ran 3 tests in 0.001s\n\nOK\n=== FAILURES ===\nE no\n=== 1 failed in 0.10s " +
			"===\n", 1},
		"unittest":             {"Ran 3 tests in 0.001s\n\nFAILED (failures=1)\n", 1},
		"prove":                {"t/a.t .. \nnot ok 1\n1..1\nFiles=1, Tests=1\nResult: FAIL\n", 1},
		"TAP":                  {"1..2\nok 1 a\nnot ok 2 b\n# Failed test 'b'\n", 1},
		"TAP among other text": {"1..2\nok 1 a\nnot ok 2 b\nThat was a sample.\n", 0},
		"make passes it over": {"===== 1 failed in 0.10s =====\nmake: [Makefile:2: test] Error 1 (ignored)\n" +
			"===== 3 passed in 0.10s =====\n", 1},
		"mocha with a long list": {"\n  1 passing (3ms)\n  2 failing\n\n" + strings.Repeat("     at frame\n", 80), 2},
	} {
		if got := Ran(tt.output).Closing; got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}
