package check

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// TestWeakened has a file before and after, and what is said about it; "" is nothing.
func TestWeakened(t *testing.T) {
	rows := []struct{ name, file, before, after, want string }{
		// thresholds and rules
		{"jest threshold", "jest.config.js", "coverageThreshold: { global: { branches: 80, lines: 90 } }\n",
			"coverageThreshold: { global: { branches: 80, lines: 60 } }\n",
			`jest.config.js:1: the threshold "lines" went from 90 to 60`},
		{"nyc threshold gone", ".nycrc.json", "{\n  \"branches\": 80\n}\n", "{}\n", `the threshold "branches" of 80 is gone`},
		{"fail_under", "pyproject.toml", "fail_under = 90\n", "fail_under = 10\n", `went from 90 to 10`},
		{"--cov-fail-under gone", "Makefile", "test:\n\tpytest --cov-fail-under=90\n", "test:\n\tpytest\n", `is gone`},
		{"jacoco", "pom.xml", "<minimum>0.80</minimum>\n", "<minimum>0.10</minimum>\n", `went from 0.8 to 0.1`},
		{"codecov", "codecov.yml", "target: 80%\n", "target: 10%\n", `went from 80 to 10`},
		{"max-warnings", "package.json", "\"lint\": \"eslint --max-warnings 0 .\"\n",
			"\"lint\": \"eslint --max-warnings 100 .\"\n", `went from 0 to 100`},
		{"golangci disables", ".golangci.yml", "linters:\n  enable:\n    - errcheck\n", "linters:\n  disable:\n    - errcheck\n",
			`.golangci.yml:2: something is left out now: "disable:"`},
		{"eslint off", ".eslintrc.json", "{\"rules\": {\"no-undef\": \"error\"}}\n", "{\"rules\": {\"no-undef\": \"off\"}}\n",
			"silences what judges"},
		{"eslint warns", "eslint.config.js", "rules: {\n  'no-undef': 'error',\n}\n", "rules: {\n  'no-undef': 'warn',\n}\n",
			"silences what judges"},
		{"ruff ignores", "ruff.toml", "line-length = 9\n", "line-length = 9\nignore = [\"F401\"]\n", "something is left out now"},
		{"pytest ignores", "pytest.ini", "[pytest]\naddopts = -q\n", "[pytest]\naddopts = -q --ignore=tests/test_a.py\n",
			"silences what judges"},
		{"pytest -k", "setup.cfg", "addopts = -q\n", "addopts = -q -k \"not slow\"\n", "silences what judges"},
		{"tsconfig", "tsconfig.json", "{\n\"strict\": true\n}\n", "{\n\"strict\": false\n}\n", "silences what judges"},
		{"pass with no tests", "package.json", "\"test\": \"jest\"\n", "\"test\": \"jest --passWithNoTests\"\n",
			"silences what judges"},
		// silenced
		{"nolint", "a.go", "package a\n\nvar x = f()\n", "package a\n\nvar x = f() //nolint:errcheck\n",
			`silences what judges: "var x = f() //nolint:errcheck"`},
		{"noqa", "a.py", "import x\n", "import x  # noqa: F401\n", "silences what judges"},
		{"type: ignore", "a.py", "f(1)\n", "f(1)  # type: ignore\n", "silences what judges"},
		{"eslint-disable", "a.ts", "f()\n", "// eslint-disable-next-line\nf()\n", "silences what judges"},
		{"allow", "src/a.rs", "fn f() {}\n", "#[allow(dead_code)]\nfn f() {}\n", "silences what judges"},
		{"SuppressWarnings", "A.java", "class A {}\n", "@SuppressWarnings(\"all\")\nclass A {}\n", "silences what judges"},
		{"|| true", "Makefile", "test:\n\tgo test ./...\n", "test:\n\tgo test ./... || true\n", "silences what judges"},
		{"continue-on-error", ".github/workflows/ci.yml", "- run: make\n", "- run: make\n  continue-on-error: true\n",
			"silences what judges"},
		{"a second switch in a line", "package.json", "\"test\": \"pytest --no-cov\"\n", "\"test\": \"pytest --no-cov --ignore=a\"\n",
			"package.json:1: silences what judges"},
		// honest
		{"a switch that was there", "Makefile", "test:\n\tgo test -short ./a\n", "test:\n\tgo test -short ./a ./b\n", ""},
		{"a list that was there", "ruff.toml", "ignore = [\"E501\", \"F401\"]\n", "ignore = [\"E501\"]\n", ""},
		{"a silencer in quotes", "a.go", "package a\n", "package a\n\nvar x = \"//nolint # noqa\"\n", ""},
		{"a threshold raised", "jest.config.js", "lines: 80\n", "lines: 90\n", ""},
		{"a threshold added", "pyproject.toml", "[tool.coverage.report]\n", "[tool.coverage.report]\nfail_under = 90\n", ""},
		{"a rule back on", ".eslintrc.json", "{\"no-undef\": \"off\"}\n", "{\"no-undef\": \"error\"}\n", ""},
		{"a dependency", "package.json", "{\"dependencies\": {\"a\": \"1\"}}\n",
			"{\"dependencies\": {\"a\": \"1\", \"b\": \"2\"}}\n", ""},
		{"nolint moved", "a.go", "package a\n\nvar x = f() //nolint:errcheck\n\nvar y = 1\n",
			"package a\n\nvar y = 1\n\nvar x = f() //nolint:errcheck\n", ""},
		{"a target in the Makefile", "Makefile", "test:\n\tgo test ./...\n",
			"test:\n\tgo test ./...\n\nlint:\n\tgolangci-lint run\n", ""},
		// code that asks whether it is tested
		{"asks: go", "a.go", "package a\n", "package a\n\nvar x = testing.Testing()\n",
			"a.go:3: the code asks whether tests or a build run it"},
		{"asks: go: a build", "a.go", "package a\n", "package a\n\nvar x = os.Getenv(\"CI\")\n", "the code asks"},
		{"asks: go: a directory", "a.go", "package a\n", "package a\n\nvar x = os.Getenv(\"CITY\")\n", ""},
		{"asks: go: in a test", "a_test.go", "package a\n", "package a\n\nvar x = os.Getenv(\"CI\")\n", ""},
		{"asks: go: in a comment", "a.go", "package a\n", "package a\n\n// testing.Testing() is true in tests.\n", ""},
		{"asks: python", "a.py", "x = 1\n", "x = \"pytest\" in sys.modules\n", "the code asks"},
		{"asks: python: the environment", "a.py", "x = 1\n", "x = os.environ.get(\"PYTEST_CURRENT_TEST\")\n", "the code asks"},
		{"asks: node", "a.js", "x = 1\n", "x = process.env.NODE_TEST_CONTEXT\n", "the code asks"},
		{"asks: node: in settings", "playwright.config.ts", "x = 1\n", "x = process.env.CI\n", ""},
		{"asks: jest", "a.js", "x = 1\n", "x = typeof jest !== 'undefined'\n", "the code asks"},
		{"asks: rust", "src/a.rs", "fn a() {}\n", "fn a() { if cfg!(test) {} }\n", "the code asks"},
		{"asks: ruby", "lib/a.rb", "x = 1\n", "x = defined?(RSpec)\n", "the code asks"},
		{"asks: perl", "lib/A.pm", "1;\n", "my $x = $ENV{HARNESS_ACTIVE};\n1;\n", "the code asks"},
		{"asks: moved", "a.py", "x = os.environ[\"CI\"]\ny = 1\n", "y = 1\nx = os.environ[\"CI\"]\n", ""},
	}
	var pairs []pairOfTrees
	for _, row := range rows {
		work := files{"work.go": "package a\n"}
		pairs = append(pairs, pairOfTrees{files{}.with(files{row.file: row.before}),
			work.with(files{row.file: row.after})})
	}
	for i, c := range eachBetween(t, pairs) {
		row := rows[i]
		t.Run(row.name, func(t *testing.T) {
			v := run(t, &Weakened{Changes: c}, judged())
			if v.Pass != (row.want == "") || !strings.Contains(v.Output, row.want) || !v.Pass && (len(v.Concerns) == 0 || len(v.Findings) == 0) {
				t.Errorf("pass %v, %s, want %q\n%s", v.Pass, v.Severity, row.want, v.Output)
			}
		})
	}
}

// TestWeakenedIsToBeAccepted: whatever is found has a name to accept it by.
func TestWeakenedIsToBeAccepted(t *testing.T) {
	before := files{"a.go": "package a\n", "jest.config.js": "lines: 90\n"}
	for concern, change := range map[string]files{
		"jest.config.js": {"jest.config.js": "lines: 1\n"}, "a.go": {"a.go": "package a\n\nvar x = f() //nolint\n"},
	} {
		v := run(t, &Weakened{Changes: between(t, before, before.with(change))}, judged())
		if v.Pass || len(v.Concerns) != 1 || v.Concerns[0].Name != concern || v.Concerns[0].Kind != loop.Weakens {
			t.Errorf("pass %v, concerns %+v, want one of %s", v.Pass, v.Concerns, concern)
		}
	}
	for _, hard := range []bool{false, true} { // a reviewer may accept, unless the setting says hard
		w := &Weakened{Hard: hard, Changes: between(t, before, before.with(files{"jest.config.js": "lines: 1\n"}))}
		if v := verdictOf(t, w, judged().State); v.Blocks() != hard {
			t.Errorf("hard %v: %+v", hard, v)
		}
	}
}
