package check

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// weakenedRow is a file before and after, and what is said about it; "" is nothing.
type weakenedRow struct{ name, file, before, after, want string }

func goTests(bodies ...string) string {
	text := "package a\n\nimport \"testing\"\n"
	for _, b := range bodies {
		text += "\n" + b + "\n"
	}
	return text
}

const (
	goLogin = "func TestLogin(t *testing.T) {\n\tif !Login(\"u\", \"p\") {\n\t\tt.Error(\"no login\")\n\t}\n\tif " +
		"Login(\"u\", \"x\") {\n\t\tt.Error(\"login\")\n\t}\n}"
	pyLogin  = "def test_login():\n    u = user(\"u\")\n    assert login(u)\n    assert u.in\n"
	pyLogout = "\n\ndef test_logout():\n    assert logout() == 3\n"
	jsLogin  = "  it('logs in', () => {\n    const u = user('u');\n    expect(login(u)).toBe(true);\n    " +
		"expect(u.in).toBe(1);\n  });\n"
	jvLogin = "  @Test\n  void logsIn() {\n    var u = user();\n    assertTrue(login(u));\n    assertEquals(1, " +
		"u.count());\n  }\n"
	rbLogin = "  it 'logs in' do\n    u = user\n    expect(login(u)).to eq 1\n    expect(u.count).to eq 2\n  end\n"
)

func in(before, after string) func(string) string {
	return func(s string) string { return before + s + after }
}

var (
	js = in("describe('session', () => {\n", "});\n")
	jv = in("class SessionTest {\n", "}\n")
	rb = in("describe Session do\n", "end\n")
)

func weakenedRows() []weakenedRow {
	return []weakenedRow{
		// thresholds and rules
		{"jest threshold", "jest.config.js", "coverageThreshold: { global: { branches: 80, lines: 90 } }\n",
			"coverageThreshold: { global: { branches: 80, lines: 60 } }\n",
			`jest.config.js:1: the threshold "lines" went from 90 to 60`},
		{"nyc threshold gone", ".nycrc.json", "{\n  \"branches\": 80\n}\n", "{}\n", `the threshold "branches" of 80 is gone`},
		{"fail_under", "pyproject.toml", "fail_under = 90\n", "fail_under = 10\n", `went from 90 to 10`},
		{"--cov-fail-under", ".github/workflows/ci.yml", "run: pytest --cov-fail-under=90\n",
			"run: pytest --cov-fail-under=50\n", `went from 90 to 50`},
		{"--cov-fail-under gone", "Makefile", "test:\n\tpytest --cov-fail-under=90\n", "test:\n\tpytest\n", `is gone`},
		{"tarpaulin", "tarpaulin.toml", "fail-under = 80\n", "fail-under = 8\n", `went from 80 to 8`},
		{"jacoco", "pom.xml", "<minimum>0.80</minimum>\n", "<minimum>0.10</minimum>\n", `went from 0.8 to 0.1`},
		{"gradle", "build.gradle", "minimum = 0.8\n", "minimum = 0.2\n", `went from 0.8 to 0.2`},
		{"simplecov", "spec/spec_helper.rb", "SimpleCov.minimum_coverage 90\n", "SimpleCov.minimum_coverage 10\n",
			`went from 90 to 10`},
		{"codecov", "codecov.yml", "target: 80%\n", "target: 10%\n", `went from 80 to 10`},
		{"coverlet", "a.csproj", "<Threshold>80</Threshold>\n", "<Threshold>0</Threshold>\n", `went from 80 to 0`},
		{"max-warnings", "package.json", "\"lint\": \"eslint --max-warnings 0 .\"\n",
			"\"lint\": \"eslint --max-warnings 100 .\"\n", `went from 0 to 100`},
		{"golangci disables", ".golangci.yml", "linters:\n  disable:\n    - dupl\n",
			"linters:\n  disable:\n    - dupl\n    - errcheck\n",
			`.golangci.yml:4: "errcheck" is left out now: it is under "disable"`},
		{"golangci enables less", ".golangci.yml", "linters:\n  enable:\n    - errcheck\n    - govet\n",
			"linters:\n  enable:\n    - govet\n", `"errcheck" is no longer under "enable"`},
		{"eslint off", ".eslintrc.json", "{\"rules\": {\"no-undef\": \"error\"}}\n", "{\"rules\": {\"no-undef\": \"off\"}}\n",
			`the rule "no-undef" is off or only warns now`},
		{"eslint warns", "eslint.config.js", "rules: {\n  'no-undef': 'error',\n}\n", "rules: {\n  'no-undef': 'warn',\n}\n",
			`the rule "no-undef" is off`},
		{"ruff ignores", "ruff.toml", "ignore = [\"E501\"]\n", "ignore = [\"E501\", \"F401\"]\n", `"F401" is left out now`},
		{"ruff ignores, in lines", "pyproject.toml", "[tool.ruff.lint]\nignore = [\n  \"E501\",\n]\n",
			"[tool.ruff.lint]\nignore = [\n  \"E501\",\n  \"F401\",\n]\n", `"F401" is left out now`},
		{"ruff selects less", "ruff.toml", "select = [\"E\", \"F\"]\n", "select = [\"E\"]\n",
			`"F" is no longer under "select"`},
		{"pytest ignores", "pytest.ini", "[pytest]\naddopts = -q\n", "[pytest]\naddopts = -q --ignore=tests/test_a.py\n",
			"less is judged"},
		{"pytest -k", "setup.cfg", "addopts = -q\n", "addopts = -q -k \"not slow\"\n", "less is judged"},
		{"pytest testpaths", "pytest.ini", "[pytest]\n", "[pytest]\ntestpaths = tests/unit\n",
			`"testpaths" limits which tests run now`},
		{"jest ignores", "jest.config.js", "testPathIgnorePatterns: ['/node_modules/'],\n",
			"testPathIgnorePatterns: ['/node_modules/', 'login'],\n", `"login" is left out now`},
		{"tsconfig", "tsconfig.json", "{\n\"strict\": true\n}\n", "{\n\"strict\": false\n}\n", "less is judged"},
		{"maven skips", "pom.xml", "<a/>\n", "<skipTests>true</skipTests>\n", "less is judged"},
		{"rubocop", ".rubocop.yml", "Style/X:\n  Enabled: true\n", "Style/X:\n  Enabled: false\n", "less is judged"},
		{"pass with no tests", "package.json", "\"test\": \"jest\"\n", "\"test\": \"jest --passWithNoTests\"\n",
			"less is judged"},
		{"go test -short", "Makefile", "test:\n\tgo test ./...\n", "test:\n\tgo test -short ./...\n", "less is judged"},
		// silenced
		{"nolint", "a.go", "package a\n\nvar x = f()\n", "package a\n\nvar x = f() //nolint:errcheck\n",
			`silences what judges: "var x = f() //nolint:errcheck"`},
		{"noqa", "a.py", "import x\n", "import x  # noqa: F401\n", "silences what judges"},
		{"type: ignore", "a.py", "f(1)\n", "f(1)  # type: ignore\n", "silences what judges"},
		{"eslint-disable", "a.ts", "f()\n", "// eslint-disable-next-line\nf()\n", "silences what judges"},
		{"ts-ignore", "a.ts", "f()\n", "// @ts-ignore\nf()\n", "silences what judges"},
		{"allow", "src/a.rs", "fn f() {}\n", "#[allow(dead_code)]\nfn f() {}\n", "silences what judges"},
		{"SuppressWarnings", "A.java", "class A {}\n", "@SuppressWarnings(\"all\")\nclass A {}\n", "silences what judges"},
		{"|| true", "Makefile", "test:\n\tgo test ./...\n", "test:\n\tgo test ./... || true\n", "silences what judges"},
		{"|| true in a script", "ci/test.sh", "go test ./...\n", "go test ./... || true\n", "silences what judges"},
		{"continue-on-error", ".github/workflows/ci.yml", "- run: make\n", "- run: make\n  continue-on-error: true\n",
			"silences what judges"},
		// honest
		{"a silencer in quotes", "a.go", "package a\n", "package a\n\nvar x = \"//nolint # noqa\"\n", ""},
		{"a threshold raised", "jest.config.js", "lines: 80\n", "lines: 90\n", ""},
		{"a threshold added", "pyproject.toml", "[tool.coverage.report]\n", "[tool.coverage.report]\nfail_under = 90\n", ""},
		{"a rule added", ".golangci.yml", "linters:\n  enable:\n    - govet\n",
			"linters:\n  enable:\n    - govet\n    - errcheck\n", ""},
		{"a rule back on", ".eslintrc.json", "{\"no-undef\": \"off\"}\n", "{\"no-undef\": \"error\"}\n", ""},
		{"build output left out", "ruff.toml", "exclude = [\"x\"]\n", "exclude = [\"x\", \"build\", \"node_modules\"]\n", ""},
		{"a dependency", "package.json", "{\"dependencies\": {\"a\": \"1\"}}\n",
			"{\"dependencies\": {\"a\": \"1\", \"b\": \"2\"}}\n", ""},
		{"numbers in data", "data.json", "{\"lines\": 90}\n", "{\"lines\": 10}\n", ""},
		{"nolint moved", "a.go", "package a\n\nvar x = f() //nolint:errcheck\n\nvar y = 1\n",
			"package a\n\nvar y = 1\n\nvar x = f() //nolint:errcheck\n", ""},
		{"|| true in the manual", "docs/a.md", "x\n", "x || true\n", ""},
		{"a target in the Makefile", "Makefile", "test:\n\tgo test ./...\n",
			"test:\n\tgo test ./...\n\nlint:\n\tgolangci-lint run\n", ""},
	}
}

func TestWeakened(t *testing.T) { heldAgainst(t, weakenedRows()) }

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
