package failure

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestFindings has a row for each format that is read.
func TestFindings(t *testing.T) {
	tests := []struct {
		name, output string
		want         []loop.Finding
	}{
		{"go test", "--- FAIL: TestAdd (0.00s)\n    add_test.go:12: got 4,\n        want 3\n    --- FAIL: TestAdd/two " +
			"(0.00s)\n        add_test.go:20: no\nFAIL", []loop.Finding{
			{File: "add_test.go", Line: 12, Test: "TestAdd", Message: "got 4,"},
			{File: "add_test.go", Line: 20, Test: "TestAdd/two", Message: "no"}}},
		{"go test -v", "=== RUN   TestA\n    a_test.go:3: fine\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n    " +
			"a_test.go:9: no\n--- FAIL: TestB (0.00s)", []loop.Finding{
			{File: "a_test.go", Line: 9, Test: "TestB", Message: "no"}}},
		{"a Go test that says nothing", "--- FAIL: TestA (0.00s)\nFAIL",
			[]loop.Finding{{Test: "TestA", Message: "failed"}}},
		{"a panic", "=== RUN   TestA\n--- FAIL: TestA (0.00s)\npanic: no [recovered]\n\tpanic: no\n\ngoroutine 7 " +
			"[running]:\ntesting.tRunner.func1.2()\n\t/usr/local/go/src/testing/testing.go:1545 " +
			"+0x1c\nexample.com/a.F()\n\t/home/dev/app/a.go:3 +0x1d", []loop.Finding{
			{File: "a.go", Line: 3, Test: "TestA", Message: "panic: no"}}},
		{"go test -json", `{"Action":"output","Package":"a","Test":"TestX","Output":"--- FAIL: TestX (0.01s)\n"}` + "\n" +
			`{"Action":"output","Package":"a","Test":"TestX","Output":"    x_test.go:3: no\n"}`, []loop.Finding{
			{File: "x_test.go", Line: 3, Test: "TestX", Message: "no"}}},
		{"go build", "# example.com/a\n./a.go:3:5: undefined: x",
			[]loop.Finding{{File: "a.go", Line: 3, Column: 5, Message: "undefined: x"}}},
		{"pytest", "=== FAILURES ===\n____ test_add ____\n\n    def test_add():\n>       assert add(1, 2) == 4\nE      " +
			" assert 3 == 4\nE        +  where 3 = add(1, 2)\n\ntests/test_calc.py:12: AssertionError\n=== short test summary " +
			"info ===\nFAILED tests/test_calc.py::test_add - assert 3 == 4", []loop.Finding{
			{File: "tests/test_calc.py", Line: 12, Test: "test_add", Message: "assert 3 == 4"}}},
		{"pytest's summary alone",
			"=== short test summary info ===\nFAILED tests/test_calc.py::TestA::test_add - assert 3 == 4", []loop.Finding{
				{File: "tests/test_calc.py", Test: "TestA.test_add", Message: "assert 3 == 4"}}},
		{"unittest", "FAIL: test_a (test_u.T.test_a)\n----\nTraceback (most recent call last):\n  File " +
			"\"/x/test_u.py\", line 5, in test_a\n    self.assertEqual(3, 4)\nAssertionError: 3 != 4", []loop.Finding{
			{File: "test_u.py", Line: 5, Test: "test_a", Message: "AssertionError: 3 != 4"}}},
		{"jest", "FAIL src/a.test.js\n  ● calc › adds\n\n    expect(received).toBe(expected)\n\n    Expected: 4\n    " +
			"Received: 3\n\n      at Object.toBe (src/a.test.js:5:10)\n\nTest Suites: 1 failed", []loop.Finding{
			{File: "src/a.test.js", Line: 5, Column: 10, Test: "calc › adds",
				Message: "expect(received).toBe(expected); Expected: 4; Received: 3"}}},
		{"vitest", " FAIL  src/a.test.ts > calc > adds\nAssertionError: expected 3 to be 4\n ❯ src/a.test.ts:6:33\n",
			[]loop.Finding{
				{File: "src/a.test.ts", Line: 6, Column: 33, Test: "calc > adds", Message: "AssertionError: expected 3 to be 4"}}},
		{"node --test into a pipe", "TAP version 13\n# Subtest: calc\n    # Subtest: adds\n    not ok 1 - adds\n      ---\n" +
			"      location: '/tmp/app/a.test.js:2:1'\n      failureType: 'testCodeFailure'\n      error: |-\n" +
			"        Expected values to be strictly equal:\n      code: 'ERR_ASSERTION'\n      ...\n    1..1\n" +
			"not ok 1 - calc\n  ---\n  location: '/tmp/app/a.test.js:1:1'\n  error: '1 subtest failed'\n  ...\n" +
			"not ok 2 - later # TODO\nok 3 - fine\n1..3\n", []loop.Finding{
			{File: "a.test.js", Line: 2, Column: 1, Test: "adds", Message: "Expected values to be strictly equal:"}}},
		{"bats into a pipe", "1..2\nok 1 greets\nnot ok 2 writes\n# (in test file test/greet.bats, line 7)\n#   `bash x' failed\n",
			[]loop.Finding{{File: "test/greet.bats", Line: 7, Test: "writes", Message: "'bash x' failed"}}},
		{"mocha", "  1 passing (3ms)\n  1 failing\n\n  1) calc\n       adds:\n\n      AssertionError: 3 == 4\n      at " +
			"Context.<anonymous> (test/a.js:3:4)", []loop.Finding{
			{File: "test/a.js", Line: 3, Column: 4, Test: "calc adds", Message: "AssertionError: 3 == 4"}}},
		{"cargo test", "thread 'tests::adds' (4711) panicked at src/lib.rs:7:5:\nassertion `left == right` failed\n  " +
			"left: 3\n right: 4\nnote: run with", []loop.Finding{
			{File: "src/lib.rs", Line: 7, Column: 5, Test: "tests::adds",
				Message: "assertion 'left == right' failed, left: 3, right: 4"}}},
		{"rustc", "error[E0425]: cannot find value `x` in this scope\n --> src/lib.rs:3:5\n", []loop.Finding{
			{File: "src/lib.rs", Line: 3, Column: 5, Rule: "E0425", Level: "error",
				Message: "cannot find value 'x' in this scope"}}},
		{"ruff", "F401 [*] `os` imported but unused\n --> src/a.py:1:8\n  |\n1 | import os\n  |        ^^",
			[]loop.Finding{
				{File: "src/a.py", Line: 1, Column: 8, Rule: "F401", Message: "'os' imported but unused"}}},
		{"tsc", "src/a.ts(3,5): error TS2322: no",
			[]loop.Finding{{File: "src/a.ts", Line: 3, Column: 5, Rule: "TS2322", Message: "no"}}},
		{"eslint", "/home/dev/app/src/a.js\n  3:5  error  'x' is not defined  no-undef\n  4:1  warning  Long  max-len\n",
			[]loop.Finding{
				{File: "a.js", Line: 3, Column: 5, Rule: "no-undef", Level: "error", Message: "'x' is not defined"},
				{File: "a.js", Line: 4, Column: 1, Rule: "max-len", Level: "warning", Message: "Long"}}},
		{"shellcheck", "In a.sh line 3:\nrm $x\n   ^-- SC2086 (info): Double quote.", []loop.Finding{
			{File: "a.sh", Line: 3, Column: 4, Rule: "SC2086", Level: "warning", Message: "Double quote."}}},
		{"flake8", "a/b.py:3:80: E501 line too long",
			[]loop.Finding{{File: "a/b.py", Line: 3, Column: 80, Rule: "E501", Message: "line too long"}}},
		{"gcc", "a.c:3:5: error: no [-Werror=unused]\na.c:4:1: note: here",
			[]loop.Finding{{File: "a.c", Line: 3, Column: 5, Rule: "-Werror=unused", Level: "error", Message: "no"}}},
		{"javac", "src/A.java:3: error: cannot find symbol",
			[]loop.Finding{{File: "src/A.java", Line: 3, Level: "error", Message: "cannot find symbol"}}},
		{"maven", "[ERROR] /home/dev/app/src/A.java:[3,12] cannot find symbol",
			[]loop.Finding{{File: "A.java", Line: 3, Column: 12, Level: "error", Message: "cannot find symbol"}}},
		{"a test of maven", "[ERROR]   com.shop.CartTest.adds:12 expected: <4> but was: <3>",
			[]loop.Finding{{File: "CartTest.java", Line: 12, Test: "com.shop.CartTest.adds", Message: "expected: <4> but was: <3>"}}},
		{"out of the tree", "../../etc/x.go:1:1: no", []loop.Finding{{File: "x.go", Line: 1, Column: 1, Message: "no"}}},
		{"no place", "12:30:00: no\nlocalhost:8080: refused\nexample.com:80: refused\nhttp://x.go:1: no", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := Read(test.output).Findings(); !slices.Equal(got, test.want) {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

// TestFindingsAreBounded: however much a tool prints, there are so many findings of so many bytes.
func TestFindingsAreBounded(t *testing.T) {
	output := ""
	for i := range 200 {
		output += "a.go:" + strings.Repeat("1", 1+i%5) + ":" + strings.Repeat("2", 1+i/5%20) + ": " +
			strings.Repeat("é", 400) + "\n"
	}
	found := Read(output).Findings()
	if len(found) != loop.MaxFindings {
		t.Errorf("%d findings, want %d", len(found), loop.MaxFindings)
	}
	for _, f := range found {
		if len(f.Message) > mostMessage {
			t.Errorf("a message of %d bytes", len(f.Message))
		}
	}
}

// TestReport has a row for each format of a report, and for what is none.
func TestReport(t *testing.T) {
	deep := strings.Repeat("<a>", 100)
	tests := []struct {
		name, content string
		want          []loop.Finding
		ok            bool
	}{
		{"JUnit",
			`<?xml version="1.0" encoding="ISO-8859-1"?><testsuites><testsuite><testcase classname="pkg.A" name="adds" file="a.py" line="3"><failure message="3 != 4">trace</failure></testcase><testcase name="fine"/></testsuite></testsuites>`,
			[]loop.Finding{{File: "a.py", Line: 3, Test: "pkg.A.adds", Message: "3 != 4"}}, true},
		{"JUnit of Go", `<testsuite><testcase name="TestA"><error>    a.go:7: no</error></testcase></testsuite>`,
			[]loop.Finding{{Test: "TestA", Message: "a.go:7: no"}}, true},
		{"JUnit, all passed", `<testsuites><testsuite/></testsuites>`, nil, true},
		{"SARIF",
			`{"version":"2.1.0","runs":[{"results":[{"ruleId":"R1","level":"error","message":{"text":"no"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"src/a.c"},"region":{"startLine":3,"startColumn":5}}}]},{"ruleId":"R2","kind":"pass","message":{"text":"fine"}}]}]}`,
			[]loop.Finding{{File: "src/a.c", Line: 3, Column: 5, Rule: "R1", Level: "error", Message: "no"}}, true},
		{"a failure that nobody has named", `<testsuite><testcase><failure/></testcase></testsuite>`,
			[]loop.Finding{{Test: "a failure without a name", Message: "failed"}}, true},
		{"SARIF that names nothing", `{"version":"2.1.0","runs":[{"results":[{"level":"error"}]}]}`,
			[]loop.Finding{{Test: "a failure without a name", Level: "error", Message: "failed"}}, true},
		{"XML that begins and is nothing yet", `<?xml version="1.0"?>`, nil, false},
		{"other XML", `<html></html>`, nil, false},
		{"broken XML", `<testsuite><testcase>`, nil, false},
		{"deep XML", `<testsuite>` + deep, nil, false},
		{"an external entity",
			`<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><testsuite><testcase name="a"><failure>&e;</failure></testcase></testsuite>`, nil, false},
		{"other JSON", `{"a":1}`, nil, false},
		{"nothing", "", nil, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, ok := Report([]byte(test.content))
			got := r.Findings
			if ok != test.ok || !slices.Equal(got, test.want) {
				t.Errorf("got  %+v, %v\nwant %+v, %v", got, ok, test.want, test.ok)
			}
		})
	}
}

// TestMissingNames has a row for each way of saying that something is missing, and what should have it.
func TestMissingNames(t *testing.T) {
	tests := []struct{ output, want string }{
		{"ModuleNotFoundError: No module named 'jwt.api'", "jwt.api"},
		{"ImportError: cannot import name 'encode' from 'jwt' (/x/jwt.py)", "encode jwt"},
		{"NameError: name 'total' is not defined", "total"},
		{"AttributeError: 'Cart' object has no attribute 'total'", "total Cart"},
		{"FileNotFoundError: [Errno 2] No such file or directory: 'data/users.json'", "data/users.json"},
		{"./a.go:3:5: undefined: price.Sum", "price.Sum"},
		{"./a.go:3:5: c.Total undefined (type Cart has no field or method Total)", "c.Total Cart"},
		{"a.go:3:2: no required module provides package github.com/a/b; to add it:", "github.com/a/b"},
		{"a.go:3:2: package calc is not in std (/usr/local/go/src/calc)", "calc"},
		{"a_test.go:3: open testdata/x.json: no such file or directory", "testdata/x.json"},
		{"a.ts(1,1): error TS2304: Cannot find name 'Cart'.", "Cart"},
		{"a.ts(1,1): error TS2307: Cannot find module './cart' or its corresponding type declarations.", "./cart"},
		{"a.ts(1,1): error TS2339: Property 'total' does not exist on type 'Cart'.", "total Cart"},
		{"Error: Cannot find module './currency'", "./currency"},
		{"ReferenceError: total is not defined", "total"},
		{"Error: ENOENT: no such file or directory, open 'data.json'", "data.json"},
		{"error[E0425]: cannot find function `total` in this scope", "total"},
		{"error[E0432]: unresolved import `crate::cart`", "crate::cart"},
		{"error[E0433]: failed to resolve: use of undeclared type `Cart`", "Cart"},
		{"error[E0412]: cannot find type `Cart` in this scope", "Cart"},
		{"  symbol:   class Cart", "Cart"},
		{"A.java:1: error: package com.a.cart does not exist", "com.a.cart"},
		{"a.c:3:5: error: 'total' undeclared (first use in this function)", "total"},
		{"a.c:1:10: fatal error: cart.h: No such file or directory", "cart.h"},
		{"a.c:(.text+0x5): undefined reference to `total'", "total"},
		{"cannot load such file -- cart/total (LoadError)", "cart/total"},
		{"NameError: uninitialized constant Cart::Total", "Cart::Total"},
		{`Error: Class "App\Cart" not found`, `App\Cart`},
		{"sh: 1: jq: not found", "jq"},
		{"AttributeError: type object 'Parser' has no attribute 'parse'", "parse Parser"},
		{"AttributeError: module 'lib.parser' has no attribute 'parse'", "parse lib.parser"},
		{"TypeError: Parser.__init__() got an unexpected keyword argument 'strict'", "Parser"},
		{"AttributeError: 'NoneType' object has no attribute 'text'", "text"},
		{`a.py:3: error: "Parser" has no attribute "parse_body"  [attr-defined]`, "Parser"},
		{"./main.go:7:4: unknown field Strict in struct literal of type parser.Options", "Options"},
		{"./main.go:9:5: cannot use x (a *T) as Store value: *T does not implement Store (missing method Load)", "Store"},
		{"src/main.ts:2:8 - error TS2339: Property 'of' does not exist on type 'typeof Parser'.", "of Parser"},
		{"a.ts(1,9): error TS2551: Property 'parseBody' does not exist on type 'Parser<string>'. Did you mean 'parse'?", "parseBody Parser"},
		{`a.ts(1,9): error TS2305: Module '"./parser"' has no exported member 'parseBody'.`, "parseBody ./parser"},
		{"a.ts(1,9): error TS2339: Property 'x' does not exist on type '{ a: string; }'.", "x"},
		{"error[E0599]: no method named `parse_body` found for struct `Parser` in the current scope", "parse_body Parser"},
		{"error[E0599]: no method named `parse_body` found for reference `&Parser` in the current scope", "parse_body Parser"},
		{"error[E0599]: no function or associated item named `new` found for struct `Parser<'a>` in the current scope", "new Parser"},
		{"error[E0609]: no field `depth` on type `&Parser`", "Parser"},
		{"error[E0560]: struct `Parser` has no field named `depth`", "Parser"},
		{"NoMethodError: undefined method `parse_body' for an instance of Parser", "parse_body Parser"},
		{"NoMethodError: undefined method `parse_body' for #<App::Parser:0x00007f3c12358ec8>", "parse_body App::Parser"},
		{"NoMethodError: undefined method 'of' for class Parser", "of Parser"},
		{"NoMethodError: undefined method `text' for nil:NilClass", "text"},
		{`Error: Call to undefined method App\Parser::parseBody()`, `App\Parser::parseBody App\Parser`},
		{`Warning: Undefined property: App\Parser::$depth in /app/a.php on line 3`, `App\Parser`},
		{"  symbol:   method parseBody()\n  location: variable p of type Parser", "parseBody Parser"},
		{"a.cs(3,9): error CS1061: 'Parser' does not contain a definition for 'ParseBody'", "Parser"},
		{"a.swift:3:5: error: value of type 'Parser' has no member 'parseBody'", "Parser"},
		{"a.cc:3:5: error: 'class lex::Parser' has no member named 'parse_body'", "parse_body Parser"},
		{"a.cc:3:5: error: no member named 'parse_body' in 'lex::Parser'", "Parser"},
		{"assert 3 == 4", ""},
		{"NameError: name 'a' is not defined\nNameError: name 'b' is not defined\nNameError: name 'a' is not defined", "a b"},
	}
	for _, test := range tests {
		if got := strings.Join(Read(test.output).MissingNames(), " "); got != test.want {
			t.Errorf("%q: got %q, want %q", test.output, got, test.want)
		}
	}
	many := ""
	for _, name := range strings.Fields("a b c d e f g") {
		many += "NameError: name '" + name + "' is not defined\n"
	}
	if got := Read(many).MissingNames(); len(got) != mostMissing {
		t.Errorf("%d names, want %d", len(got), mostMissing)
	}
}
