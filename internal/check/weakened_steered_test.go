package check

import (
	"strings"
	"testing"
)

// What decides which tests run, which programs a check finds, and how tests end.
func TestSteered(t *testing.T) {
	const conftest = "import pytest\n"
	heldAgainst(t, []weakenedRow{
		{"make: a variable of the environment", "Makefile", "test:\n\tpytest\n",
			"export PATH := $(CURDIR)/tools:$(PATH)\ntest:\n\tpytest\n",
			"Makefile:1: decides which programs a check runs"},
		{"make: another variable", "Makefile", "test:\n\tpytest\n", "export NAME := x\ntest:\n\tpytest\n", ""},
		{"a file of the environment", ".env", gone, "PYTHONPATH=./shims\n", ".env:1: decides which programs"},
		{"a script of the environment", "env.sh", "export A=1\n", "export A=1\nexport GOFLAGS=-run=TestA\n",
			"env.sh:2: decides which programs"},
		{"npm: its shell", ".npmrc", gone, "script-shell=/bin/true\n", ".npmrc:1: decides which programs"},
		{"npm: its registry", ".npmrc", gone, "registry=https://example.com/\n", ""},
		{"cargo: a runner", ".cargo/config.toml", "[build]\njobs = 2\n",
			"[build]\njobs = 2\n[target.'cfg(all())']\nrunner = \"true\"\n",
			".cargo/config.toml:4: decides which programs"},
		{"cargo: jobs", ".cargo/config.toml", "[build]\njobs = 2\n", "[build]\njobs = 4\n", ""},
		{"prove", ".proverc", gone, "--exec true\n", ".proverc:1: decides which programs"},
		{"maven: options", ".mvn/maven.config", gone, "-Dtest=OneTest\n", "decides which tests run"},
		{"maven: threads", ".mvn/maven.config", gone, "-T2\n", ""},
		{"maven: a group", "pom.xml", "<project>\n</project>\n",
			"<project>\n<excludedGroups>slow</excludedGroups>\n</project>\n",
			"pom.xml:2: decides which tests run"},
		{"maven: a class", "pom.xml", "<project>\n</project>\n",
			"<project>\n<exclude>**/LoginTest.java</exclude>\n</project>\n",
			"pom.xml:2: decides which tests run"},
		{"maven: a dependency", "pom.xml", "<project>\n</project>\n",
			"<project>\n<exclude>log4j:log4j</exclude>\n</project>\n", ""},
		{"gradle: a tag", "build.gradle", "test {\n}\n", "test {\n  useJUnitPlatform { excludeTags 'slow' }\n}\n",
			"build.gradle:2: decides"},
		{"rspec: a pattern", ".rspec", "--color\n", "--color\n--pattern **/*_check.rb\n",
			".rspec:2: decides which tests run"},
		{"rspec: a format", ".rspec", "--color\n", "--color\n--format documentation\n", ""},
		{"busted", ".busted", gone, "return { default = { pattern = \"_check\" } }\n",
			".busted:1: decides which tests run"},
		{"jest: what is left out", "jest.config.js", gone, "module.exports = { testPathIgnorePatterns: ['a'] }\n",
			"jest.config.js:1: decides"},
		{"jest: what comes first", "package.json", "{\n}\n", "{\n  \"jest\": {\"setupFiles\": [\"./a\"]}\n}\n",
			"package.json:2: decides"},
		{"jest: a preset", "jest.config.js", gone, "module.exports = { preset: 'ts-jest' }\n", ""},
		{"pytest: names of files", "pytest.ini", gone, "[pytest]\npython_files = check_*.py\n",
			"pytest.ini:2: decides which tests run"},
		{"pytest: a hook", "conftest.py", conftest,
			conftest + "\n\ndef pytest_collection_modifyitems(items):\n    items[:] = []\n",
			"conftest.py:4: decides which tests run"},
		{"pytest: a fixture", "conftest.py", conftest, conftest + "\n\n@pytest.fixture\ndef user():\n    return 1\n", ""},
		{"pytest: an exit", "tests/test_a.py", pyBoth(), "import os\nos._exit(0)\n" + pyBoth(),
			"tests/test_a.py:2: ends tests before they are over"},
		{"unittest: load_tests", "test_a.py", pyBoth(),
			pyBoth() + "\n\ndef load_tests(loader, tests, pattern):\n    return tests\n",
			"decides which tests run"},
		{"unittest: a method taken away", "test_a.py", pyBoth(), pyBoth() + "\n\ndel TestA.test_login\n",
			"decides which tests run"},
		{"go: which tests run", "a_test.go", goTests(goLogin), goTests(goLogin,
			"func TestMain(m *testing.M) {\n\tflag.Set(\"test.run\", \"A\")\n\tos.Exit(m.Run())\n}"),
			"a_test.go:15: decides which tests run"},
		{"go: an exit", "a_test.go", goTests(goLogin), goTests(goLogin, "func TestMain(m *testing.M) {\n\tos.Exit(0)\n}"),
			"ends tests before they are over"},
		{"go: a TestMain", "a_test.go", goTests(goLogin), goTests(goLogin,
			"func TestMain(m *testing.M) {\n\tos.Exit(m.Run())\n}"), ""},
		{"go: a module below", "a/go.mod", gone, "module a\n", "a/go.mod: makes a module of its own"},
		{"node: an exit", "a.test.js", js(jsLogin), "process.exit(0)\n" + js(jsLogin), "a.test.js:1: ends tests"},
		{"ruby: an end", "a_spec.rb", rb(rbLogin), rb(rbLogin) + "__END__\n", "ends tests"},
		{"java: a class", "src/test/java/SessionTest.java", jv(jvLogin), "@Disabled\n" + jv(jvLogin),
			"decides which tests run"},
		{"perl: everything", "t/a.t", "use Test::More;\nok(f());\n", "use Test::More skip_all => 'x';\nok(f());\n",
			"t/a.t:1: ends tests"},
		{"lua: an exit", "spec/a_spec.lua", "it(\"a\", f)\n", "os.exit(0)\nit(\"a\", f)\n", "ends tests"},
		{"shell: an exit", "tests/test_a.sh", "f || exit 1\n", "exit 0\nf || exit 1\n", "tests/test_a.sh:1: ends tests"},
		{"a program that a runner finds first", "node_modules/.bin/jest", gone, "#!/bin/sh\n",
			"is found before the program"},
		{"a module that Python loads first", "shims/sitecustomize.py", gone, "import os\n",
			"is found before the program"},
		{"a package that is committed", "node_modules/a/index.js", gone, "module.exports = 1\n", ""},
	})
}

// Code that asks whether it is tested.
func TestAsked(t *testing.T) {
	heldAgainst(t, []weakenedRow{
		{"go", "a.go", "package a\n", "package a\n\nvar x = testing.Testing()\n",
			"a.go:3: the code asks whether tests or a build run it"},
		{"go: a flag", "a.go", "package a\n", "package a\n\nvar x = flag.Lookup(\"test.v\") != nil\n", "the code asks"},
		{"go: its name", "a.go", "package a\n", "package a\n\nvar x = strings.HasSuffix(os.Args[0], \".test\")\n",
			"the code asks"},
		{"go: a build", "a.go", "package a\n", "package a\n\nvar x = os.Getenv(\"CI\")\n", "the code asks"},
		{"go: a directory", "a.go", "package a\n", "package a\n\nvar x = os.Getenv(\"CITY\")\n", ""},
		{"go: in a test", "a_test.go", goTests(goLogin), goTests(goLogin, "var x = os.Getenv(\"CI\")"), ""},
		{"go: in a comment", "a.go", "package a\n", "package a\n\n// testing.Testing() is true in tests.\n", ""},
		{"python", "a.py", "x = 1\n", "x = \"pytest\" in sys.modules\n", "the code asks"},
		{"python: the environment", "a.py", "x = 1\n", "x = os.environ.get(\"PYTEST_CURRENT_TEST\")\n", "the code asks"},
		{"python: a module of that name", "a.py", "x = 1\n", "x = run([\"pytest\", \"-q\"])\n", ""},
		{"node", "a.js", "x = 1\n", "x = process.env.NODE_TEST_CONTEXT\n", "the code asks"},
		{"node: in settings", "playwright.config.ts", "x = 1\n", "x = process.env.CI\n", ""},
		{"jest", "a.js", "x = 1\n", "x = typeof jest !== 'undefined'\n", "the code asks"},
		{"node: its mode", "a.js", "x = 1\n", "x = process.env.NODE_ENV === 'test'\n", "the code asks"},
		{"node: another mode", "a.js", "x = 1\n", "x = process.env.NODE_ENV === 'production'\n", ""},
		{"rust", "src/a.rs", "fn a() {}\n", "fn a() { if cfg!(test) {} }\n", "the code asks"},
		{"rust: its tests", "src/a.rs", "fn a() {}\n", "fn a() {}\n\n#[cfg(test)]\nmod tests {}\n", ""},
		{"ruby", "lib/a.rb", "x = 1\n", "x = defined?(RSpec)\n", "the code asks"},
		{"perl", "lib/A.pm", "1;\n", "my $x = $ENV{HARNESS_ACTIVE};\n1;\n", "the code asks"},
		{"moved", "a.py", "x = os.environ[\"CI\"]\ny = 1\n", "y = 1\nx = os.environ[\"CI\"]\n", ""},
	})
}

func pyBoth() string { return pyLogin + pyLogout }

// heldAgainst holds what the check says of each change against its row.
func heldAgainst(t *testing.T, rows []weakenedRow) {
	t.Helper()
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
			if v.Pass != (row.want == "") || !strings.Contains(v.Output, row.want) || !v.Pass && len(v.Concerns) == 0 {
				t.Errorf("pass %v, %s, want %q\n%s", v.Pass, v.Severity, row.want, v.Output)
			}
			if !v.Pass && len(v.Findings) == 0 {
				t.Error("no findings")
			}
		})
	}
}
