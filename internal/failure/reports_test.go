package failure

import (
	"strings"
	"testing"
)

const (
	nodeInPipe = `TAP version 13
# loading
# Subtest: keys
not ok 1 - keys
  ---
  location: '/home/dev/app/test/keys.test.js:3:1'
  error: 'the keys differ'
  name: 'AssertionError'
  expected:
    0: 'id'
    1: 'sku'
  actual:
    0: 'id'
  stack: |-
    TestContext.<anonymous> (file:///home/dev/app/test/keys.test.js:4:10)
  ...
1..1
# fail 1
`
	nodeOnTerminal = `loading
✖ keys (1.9ms)
  AssertionError [ERR_ASSERTION]: the keys differ
      at TestContext.<anonymous> (file:///srv/x/test/keys.test.js:4:10) {
    actual: [ 'id' ],
    expected: [ 'id', 'sku' ],
  }
`
	batsInPipe = "1..3\nok 1 greets\nnot ok 2 writes\n# (in test file test/greet.bats, line 7)\n#   `bash greet.sh' " +
		"failed\n# Hello\n# cat: pid: No such file or directory\nok 3 ends\n"
	batsOnTerminal = "greet.bats\n ✓ greets\n ✗ writes\n   (in test file test/greet.bats, line 17)\n     `bash " +
		"greet.sh' failed\n   Hello\n   cat: pid: No such file or directory\n ✓ ends\n\n3 tests, 1 failure\n"

	pytestTop = "=== FAILURES ===\n___ test_a ___\n>       assert f() == {\nE       AssertionError: assert {'a': 2, " +
		"...} == {'a': 3, ...}\n"
	pytestEnd = "\ntest_a.py:3: AssertionError\n=== short test summary info ===\nFAILED test_a.py::test_a\n"
	pytestHas = "E         Omitting 3 identical items, use -vv to show\nE         Differing items:\nE         {'a': 2} " +
		"!= {'a': 3}\n"
	pytestStr = "E           head\nE           ----\nE         - ann  7.50\nE         ?         -\nE         + ann  " +
		"7.5\nE         ?        +\n"
)

// TestReportsDiffer: what those reports say of a failure still tells it from another.
func TestReportsDiffer(t *testing.T) {
	cut := pytestTop + pytestStr + "E         ...Full output truncated (4 lines hidden), use '-vv' to show" + pytestEnd
	tests := []struct{ name, a, old, new string }{
		{"the name of a test of node", nodeInPipe, "ok 1 - keys", "ok 1 - key"},
		{"the name of a test of node on a terminal", nodeOnTerminal, "✖ keys", "✖ key"},
		{"the message", nodeInPipe, "keys differ", "keys are gone"},
		{"the message on a terminal", nodeOnTerminal, "keys differ", "keys are gone"},
		{"a value that the message does not hold", nodeInPipe, "1: 'sku'", "1: 'name'"},
		{"a value on a terminal", nodeOnTerminal, "'sku'", "'name'"},
		{"the file", nodeInPipe, "keys.test.js", "key.test.js"},
		{"what a test of node printed", nodeOnTerminal, "loading\n", "loading: no such file\n"},
		{"the name of a test of bats", batsInPipe, "not ok 2 writes", "not ok 2 reads"},
		{"the command of bats", batsOnTerminal, "greet.sh' failed", "greet.sh -v' failed"},
		{"the output of bats", batsOnTerminal, "cat: pid", "cat: lock"},
		{"an item of pytest", pytestTop + pytestHas + pytestEnd, "{'a': 2} !=", "{'a': 4} !="},
		{"a line of a diff", cut, "+ ann  7.5", "+ ann  7.6"},
		{"where a value is from", pytestTop + pytestStr + "E         +  where 1 = f(1)" + pytestEnd, "f(1)", "g(1)"},
		{"a difference behind much that is the same",
			pytestTop + strings.Repeat("E           same\n", 9) + "E         - x\nE         + y" + pytestEnd, "+ y", "+ z"},
		{"closures of two functions", "in a.TestTouch.func1", "TestTouch", "TestRead"},
		{"variables of a shell", "a.sh: $1: unbound variable", "$1", "$2"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			other := strings.ReplaceAll(test.a, test.old, test.new)
			if other == test.a {
				t.Fatal("the row changes nothing")
			}
			if Signature("", test.a) == Signature("", other) {
				t.Errorf("one signature of two failures:\n%s", Read(test.a).Explain())
			}
		})
	}
}
