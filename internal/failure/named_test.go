package failure

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestNames: which tests runners name, and how each ended.
func TestNames(t *testing.T) {
	for _, c := range []struct{ runner, output, passed, failed, skipped string }{
		{"go test -v", "=== RUN   TestA\n=== RUN   TestA/x\n--- PASS: TestA (0.00s)\n    --- PASS: TestA/x (0.00s)\n=== " +
			"RUN   TestB\n--- SKIP: TestB (0.00s)\nPASS\nok  \texample.com/a\t0.1s\n=== RUN   TestA\n--- FAIL: TestA " +
			"(0.00s)\nFAIL\nFAIL\texample.com/b\t0.1s\n",
			"example.com/a\tTestA,example.com/a\tTestA/x", "example.com/b\tTestA", "example.com/a\tTestB"},
		{"go test -json", `{"Action":"run","Package":"a","Test":"TestA"}` + "\n" +
			`{"Action":"pass","Package":"a","Test":"TestA","Elapsed":0}` + "\n" + `{"Action":"pass","Package":"a","Elapsed":0}` +
			"\n", "a\tTestA", "", ""},
		{"pytest -v", "tests/test_a.py::test_one PASSED     [ 33%]\ntests/test_a.py::test_two[a b] FAILED [ " +
			"66%]\ntests/test_a.py::test_three SKIPPED (later) [100%]\n",
			"tests/test_a.py::test_one", "tests/test_a.py::test_two[a b]", "tests/test_a.py::test_three"},
		{"pytest -rA", "PASSED tests/test_a.py::test_one\nFAILED tests/test_a.py::test_two - assert 1 == 2\n",
			"tests/test_a.py::test_one", "tests/test_a.py::test_two", ""},
		{"unittest -v", "test_a (test_x.T.test_a) ... ok\ntest_b (test_x.T.test_b) ... skipped 'later'\ntest_c " +
			"(test_x.T.test_c)\nIt has a sentence. ... FAIL\n",
			"test_a (test_x.T.test_a)", "test_c (test_x.T.test_c)", "test_b (test_x.T.test_b)"},
		{"jest --verbose", "PASS ./a.test.js\n  sums\n    ✓ adds (2 ms)\n    ✕ subtracts (1 ms)\n    ○ skipped divides\n",
			"adds", "subtracts", "divides"},
		{"vitest", " ✓ src/a.test.ts (3 tests) 5ms\n ✓ src/a.test.ts > sums > adds 1ms\n × src/a.test.ts > sums > " +
			"subtracts 3ms\n ↓ src/a.test.ts > sums > divides\n",
			"src/a.test.ts > sums > adds", "src/a.test.ts > sums > subtracts", "src/a.test.ts > sums > divides"},
		{"mocha", "  sums\n    ✔ adds\n    1) subtracts\n\n  1 passing (3ms)\n", "adds", "", ""},
		{"node", "✔ adds (0.5ms)\n✖ subtracts (1.2ms)\n﹣ divides (0.1ms) # SKIP\nℹ tests 3\n", "adds", "subtracts",
			"divides"},
		{"TAP", "TAP version 13\n# Subtest: adds\nok 1 - adds\nnot ok 2 - subtracts\nok 3 - divides # SKIP later\n1..3\n",
			"adds", "subtracts", "divides"},
		{"TAP without names", "ok 1\nok 2 # skip later\nnot ok 3\n1..3\n", "", "", ""},
		{"prove", "#   Failed test 'a tenth'\n#   at t/shop.t line 4.\n", "", "a tenth", ""},
		{"cargo test", "test tests::adds ... ok\ntest tests::subtracts ... FAILED\ntest tests::divides ... ignored\n",
			"tests::adds", "tests::subtracts", "tests::divides"},
		{"ctest", "1/2 Test #1: adds .............   Passed    0.00 sec\n2/2 Test #2: subtracts ........***Failed    0.00 " +
			"sec\n", "adds", "subtracts", ""},
		{"phpunit --testdox", " ✔ Adds\n ✘ Subtracts\n", "Adds", "Subtracts", ""},
		{"dotnet test", "  Passed Shop.Tests.Adds [5 ms]\n  Failed Shop.Tests.Subtracts [1 ms]\n", "Shop.Tests.Adds",
			"Shop.Tests.Subtracts", ""},
		{"gradle", "ShopTest > adds() PASSED\nShopTest > subtracts() FAILED\n", "ShopTest > adds()", "ShopTest > subtracts()",
			""},
		{"minitest -v", "ShopTest#test_adds = 0.00 s = .\nShopTest#test_subtracts = 0.00 s = F\n", "ShopTest#test_adds",
			"ShopTest#test_subtracts", ""},
		{"bats", " ✓ adds\n ✗ subtracts\n", "adds", "subtracts", ""},
		{"prose", "everything is ok now ... maybe\nThe test passed.\n", "", "", ""},
	} {
		t.Run(c.runner, func(t *testing.T) {
			counter := NewTestCounter()
			_, _ = counter.Write([]byte(c.output))
			names := counter.Names()
			if names == nil {
				names = &loop.TestNames{}
			}
			got := [3]string{strings.Join(names.Passed, ","), strings.Join(names.Failed, ","), strings.Join(names.Skipped, ",")}
			if got != [3]string{c.passed, c.failed, c.skipped} {
				t.Errorf("read %q", got)
			}
		})
	}
}

// TestNamesAreBounded whatever an output has.
func TestNamesAreBounded(t *testing.T) {
	counter := NewTestCounter()
	for i := range 3 * loop.MaxTestNames {
		fmt.Fprintf(counter, "ok %d - test number %d\n", i, i)
	}
	if names := counter.Names(); len(names.Passed) != loop.MaxTestNames || !names.Cut {
		t.Errorf("%d names, cut is %v", len(names.Passed), names.Cut)
	}
}

// TestRanOfOthers: runners whose count is in one line.
func TestRanOfOthers(t *testing.T) {
	for _, c := range []struct{ output, want string }{
		{"Finished in 0.03 seconds\n1 doctest, 2 tests, 1 failure, 1 skipped\n", "2 ran, 1 skipped, 1 failed (mix)"},
		{"There are no tests to run\n", "0 ran, 0 skipped, 0 failed (mix): mix: no tests to run"},
		{"  All 3 tests passed.\n", "3 ran, 0 skipped, 0 failed (eunit)"},
		{"  Failed: 1.  Skipped: 2.  Passed: 3.\n", "4 ran, 2 skipped, 1 failed (eunit)"},
		{"  There were no tests to run.\n", "0 ran, 0 skipped, 0 failed (eunit): eunit: no tests to run"},
		{"3 successes / 1 failure / 1 error / 2 pending : 0.01 seconds\n", "5 ran, 2 skipped, 2 failed (busted)"},
		{"0 successes / 0 failures / 0 errors / 0 pending : 0.0 seconds\n",
			"0 ran, 0 skipped, 0 failed (busted): busted: 0 tests"},
		{"Running 4 tests using 2 workers\n  1 failed\n    a.spec.ts:3:1 › adds\n  1 skipped\n  2 passed (1.3s)\n",
			"3 ran, 1 skipped, 1 failed (playwright)"},
		{"Error: No tests found\n", "0 ran, 0 skipped, 0 failed (playwright): playwright: no tests found"},
		{"[         3 tests found           ]\n[         1 tests skipped         ]\n[         1 tests successful      ]\n[ " +
			"        1 tests failed          ]\n", "2 ran, 1 skipped, 1 failed (junit)"},
		{"[         0 tests found           ]\n", "0 ran, 0 skipped, 0 failed (junit): junit: 0 tests"},
		{"OK (3 tests)\n", "3 ran, 0 skipped, 0 failed (junit)"},
		{"t/a.t .. ok\nAll tests successful.\nFiles=1, Tests=2,  0 wallclock secs\nResult: PASS\n",
			"2 ran, 0 skipped, 0 failed (prove)"},
		{"Files=0, Tests=0,  0 wallclock secs\nResult: NOTESTS\n", "0 ran, 0 skipped, 0 failed (prove): prove: no tests"},
		{"t/a.t ..\n1..2\nok 1 - a\nok 2 - b\nok\nAll tests successful.\nFiles=1, Tests=2,  0 wallclock secs\nResult: PASS\n",
			"2 ran, 0 skipped, 0 failed (TAP)"},
	} {
		if got := Ran(c.output).words(); got != c.want {
			t.Errorf("%q\nread %s\nwant %s", c.output, got, c.want)
		}
	}
}
