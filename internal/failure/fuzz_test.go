package failure

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// FuzzSignature: whatever a tool prints, the signature is the same each time, and of bounded work.
func FuzzSignature(f *testing.F) {
	for _, seed := range []string{
		"", "--- FAIL: TestAdd (0.02s)\n  /tmp/x1/add.go:3: 3 != 4 at 0xc000012\nFAIL", "\x1b[1A\x1b]8;;\x07\r\b",
		"=== RUN a\n--- PASS: a", "{\"Action\":\"output\",\"Output\":\"x\"}",
		"==== FAILURES ====\n__ a __\nE   x\n> y",
		"Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    ~~^~~", "goroutine 1 [running]:\nmain.f()\n",
		"WARNING: DATA RACE\nRead at\n  f()",
		"{a, {b, c}} }{", "  3 | a\n    | ^\n> 4 | b", "│ a │\n│ b │", "a.ts(3,5): error TS1: x\n  y", " RUN  v1\n⎯⎯",
		"C:\\a b\\c.go:3:5: /a /b/ c/d ../..", "error: a\nwarning: b\n 3 | c", "abc...\nabcdefgh…",
		nodeInPipe, nodeOnTerminal, batsInPipe, batsOnTerminal, pytestTop + pytestHas + pytestStr + pytestEnd,
	} {
		f.Add("make test", seed)
	}
	f.Fuzz(func(t *testing.T, check, output string) {
		first := Signature(check, output)
		if len(first) != 8 || strings.Trim(first, "0123456789abcdef") != "" {
			t.Errorf("%q is not eight hexadecimal digits", first)
		}
		if again := Signature(check, output); again != first {
			t.Errorf("%s, then %s", first, again)
		}
		if told := Read(output).Explain(); len(told) > 2*len(output)+1000 && len(told) > 20*len(output) {
			t.Errorf("%d bytes of %d", len(told), len(output))
		}
	})
}

// FuzzFindings: findings, gaps and reports stay within their bounds.
func FuzzFindings(f *testing.F) {
	for _, seed := range []string{
		"", "a.go:3:5: undefined: x", "../a.go:99999999999999999999:5: x",
		"FAIL src/a.test.js\n  ● a\n\n  x\n  at a (b.js:1:1)", "error[E0425]: x\n --> a.rs:1:1",
		"In a.sh line 3:\n  ^-- SC1 (error): x",
		"<testsuite><testcase name='a'><failure>x</failure></testcase></testsuite>",
		`{"version":"2.1.0","runs":[{"results":[{}]}]}`, `{"Action":"output","Test":"a","Output":"--- FAIL: a"}`,
		"1 failing\n\n 1) a\n b:\n c",
	} {
		f.Add("flake8", seed)
	}
	f.Fuzz(func(t *testing.T, check, output string) {
		found, gap := Read(output).Findings(), Read(output).MissingNames()
		r, _ := Report([]byte(output))
		reported := r.Findings
		for _, one := range slices.Concat(found, reported) {
			if len(one.Message) > mostMessage || strings.ContainsAny(one.Message+one.File+one.Test+one.Rule, "\r\n") ||
				one.Line < 0 || one.Message == "" {
				t.Errorf("%+v", one)
			}
			if strings.HasPrefix(one.File, "/") || strings.Contains("/"+one.File+"/", "/../") {
				t.Errorf("%q leads out of the tree", one.File)
			}
		}
		if len(found) > loop.MaxFindings || len(reported) > loop.MaxFindings || len(gap) > mostMissing {
			t.Errorf("%d findings, %d reported, %d names", len(found), len(reported), len(gap))
		}
		if !slices.Equal(found, Read(output).Findings()) || !slices.Equal(gap, Read(output).MissingNames()) {
			t.Error("it is found only sometimes")
		}
	})
}
