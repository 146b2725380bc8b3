package check

import (
	"fmt"
	"strings"
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
	goLogout = "func TestLogout(t *testing.T) {\n\tif got := Logout(); got != 3 {\n\t\tt.Fatal(got)\n\t}\n}"
	pyLogin  = "def test_login():\n    u = user(\"u\")\n    assert login(u)\n    assert u.in\n"
	pyLogout = "\n\ndef test_logout():\n    assert logout() == 3\n"
	jsLogin  = "  it('logs in', () => {\n    const u = user('u');\n    expect(login(u)).toBe(true);\n    " +
		"expect(u.in).toBe(1);\n  });\n"
	jsLogout = "  it('logs out', async () => {\n    expect(await logout()).toBe(3);\n  });\n"
	rsLogin  = "    #[test]\n    fn logs_in() {\n        let u = user();\n        assert!(login(&u));\n        " +
		"assert_eq!(u.count, 1);\n    }\n"
	rsLogout = "\n    #[test]\n    fn logs_out() {\n        assert_eq!(logout(), 3);\n    }\n"
	jvLogin  = "  @Test\n  void logsIn() {\n    var u = user();\n    assertTrue(login(u));\n    assertEquals(1, " +
		"u.count());\n  }\n"
	jvLogout = "\n  @Test\n  void logsOut() {\n    assertEquals(3, logout());\n  }\n"
	rbLogin  = "  it 'logs in' do\n    u = user\n    expect(login(u)).to eq 1\n    expect(u.count).to eq 2\n  end\n"
	rbLogout = "\n  it 'logs out' do\n    expect(logout).to eq 3\n  end\n"
	phLogin  = "    public function testLogin(): void\n    {\n        $u = user();\n        " +
		"$this->assertTrue(login($u));\n        $this->assertSame(1, $u->count);\n    }\n"
	phLogout = "\n    public function testLogout(): void\n    {\n        $this->assertSame(3, logout());\n    }\n"
	csLogin  = "    [Fact]\n    public void LogsIn()\n    {\n        var u = User();\n        Assert.True(Login(u));\n  " +
		"      Assert.Equal(1, u.Count);\n    }\n"
	csLogout = "\n    [Fact]\n    public void LogsOut()\n    {\n        Assert.Equal(3, Logout());\n    }\n"
)

func in(before, after string) func(string) string {
	return func(s string) string { return before + s + after }
}

var (
	js = in("describe('session', () => {\n", "});\n")
	rs = in("#[cfg(test)]\nmod tests {\n    use super::*;\n\n", "}\n")
	jv = in("class SessionTest {\n", "}\n")
	rb = in("describe Session do\n", "end\n")
	ph = in("<?php\nclass SessionTest extends TestCase\n{\n", "}\n")
	cs = in("public class SessionTests\n{\n", "}\n")
)

// swap replaces once, and panics when there is nothing to replace: a row would test nothing.
func swap(text, old, new string) string {
	if !strings.Contains(text, old) {
		panic(fmt.Sprintf("no %q in %q", old, text))
	}
	return strings.Replace(text, old, new, 1)
}

func weakenedRows() []weakenedRow {
	goBoth, pyBoth, jsBoth, rsBoth, jvBoth, rbBoth, phBoth, csBoth := goTests(goLogin, goLogout), pyLogin+pyLogout,
		js(jsLogin+jsLogout), rs(rsLogin+rsLogout), jv(jvLogin+jvLogout), rb(rbLogin+rbLogout), ph(phLogin+phLogout),
		cs(csLogin+csLogout)
	return []weakenedRow{
		// deleted
		{"go: deleted", "a_test.go", goBoth, goTests(goLogout), "a_test.go: deleted TestLogin"},
		{"go: a case deleted", "a_test.go",
			goTests(goLogin + "\n\nvar cases = []c{\n\t{\"zero\", 0},\n\t{name: \"one\", n: 1},\n}"),
			goTests(goLogin + "\n\nvar cases = []c{\n\t{name: \"one\", n: 1},\n}"), `a_test.go: deleted the case zero`},
		{"go: a subtest deleted", "a_test.go", goTests("func TestX(t *testing.T) {\n\tt.Run(\"a b\", func(t *testing.T) " +
			"{\n\t\tt.Error(1)\n\t})\n\tt.Run(\"c\", func(t *testing.T) {\n\t\tt.Error(2)\n\t})\n}"),
			goTests("func TestX(t *testing.T) {\n\tt.Run(\"c\", func(t *testing.T) {\n\t\tt.Error(2)\n\t})\n}"),
			`a_test.go: deleted "a b"`},
		{"go: commented out", "a_test.go", goBoth, goTests("/*\n"+goLogin+"\n*/", goLogout), "a_test.go: deleted TestLogin"},
		{"go: a suite's method", "a_test.go", goTests("func (s *S) TestA() {\n\ts.Equal(1, f())\n}", goLogout),
			goTests(goLogout), "a_test.go: deleted TestA"},
		{"py: deleted", "test_a.py", pyBoth, pyLogout, "test_a.py: deleted test_login"},
		{"py: commented out", "tests/a.py", pyBoth,
			"# " + strings.ReplaceAll(strings.TrimSuffix(pyLogin, "\n"), "\n", "\n# ") + "\n" + pyLogout,
			"tests/a.py: deleted test_login"},
		{"py: in a class", "a_test.py",
			"class TestA:\n    def test_a(self):\n        assert f()\n\n    def test_b(self):\n        assert g()\n",
			"class TestA:\n    def test_b(self):\n        assert g()\n", "a_test.py: deleted test_a"},
		{"js: deleted", "a.test.js", jsBoth, js(jsLogout), `a.test.js: deleted "logs in"`},
		{"ts: deleted", "src/__tests__/a.ts", jsBoth, js(jsLogout), `deleted "logs in"`},
		{"rust: deleted", "src/lib.rs", rsBoth, rs(rsLogout), "src/lib.rs: deleted logs_in"},
		{"java: deleted", "src/test/java/SessionTest.java", jvBoth, jv(jvLogout), "deleted logsIn"},
		{"kotlin: deleted", "SessionTest.kt", "class SessionTest {\n  @Test\n  fun `logs in`() {\n    assertEquals(1, " +
			"login())\n  }\n\n  @Test fun out() = assertEquals(1, logout())\n}\n",
			"class SessionTest {\n  @Test fun out() = assertEquals(1, logout())\n}\n", `deleted "logs in"`},
		{"junit 3: deleted", "SessionTest.java",
			"class SessionTest {\n  public void testIn() {\n    assertTrue(f());\n  }\n}\n", "class SessionTest {\n}\n",
			"deleted testIn"},
		{"ruby: deleted", "a_spec.rb", rbBoth, rb(rbLogout), `deleted "logs in"`},
		{"minitest: deleted", "test/a_test.rb", "class A < T\n  def test_a\n    assert_equal 1, f\n  end\nend\n",
			"class A < T\nend\n", "deleted test_a"},
		{"php: deleted", "tests/SessionTest.php", phBoth, ph(phLogout), "deleted testLogin"},
		{"php: by attribute", "tests/SessionTest.php",
			ph("    #[Test]\n    public function works(): void\n    {\n        self::assertSame(1, f());\n    }\n"), ph(""),
			"deleted works"},
		{"php: by annotation", "tests/SessionTest.php", ph("    /**\n     * @test\n     */\n    public function works(): " +
			"void\n    {\n        self::assertSame(1, f());\n    }\n"), ph(""), "deleted works"},
		{"c#: deleted", "SessionTests.cs", csBoth, cs(csLogout), "deleted LogsIn"},
		{"a file deleted", "a_test.go", goBoth, gone, "a_test.go: deleted TestLogin, with its file"},
		// skipped
		{"go: t.Skip", "a_test.go", goBoth, swap(goBoth, "\tif !Login", "\tt.Skip(\"flaky\")\n\tif !Login"),
			"a_test.go:5: TestLogin is skipped now"},
		{"go: t.SkipNow", "a_test.go", goBoth, swap(goBoth, "\tif !Login", "\tt.SkipNow()\n\tif !Login"),
			"TestLogin is skipped now"},
		{"go: testing.Short", "a_test.go", goBoth,
			swap(goBoth, "\tif !Login", "\tif testing.Short() {\n\t\treturn\n\t}\n\tif !Login"), "TestLogin is skipped now"},
		{"go: return", "a_test.go", goBoth, swap(goBoth, "\tif !Login", "\treturn\n\tif !Login"), "TestLogin is skipped now"},
		{"go: a build tag", "a_test.go", goBoth, "//go:build ignore\n\n" + goBoth,
			`a_test.go:1: keeps tests from running: "//go:build ignore"`},
		{"go: a build line for another system", "a_test.go", goBoth, "//go:build unix && slow\n\n" + goBoth,
			"keeps tests from running"},
		{"go: no test any more", "a_test.go", goBoth, swap(goBoth, "TestLogin", "testLogin"),
			"TestLogin is there as testLogin, which is not run as a test"},
		{"go: disabled by name", "a_test.go", goBoth, swap(goBoth, "TestLogin", "DisabledTestLogin"),
			"TestLogin is there as DisabledTestLogin"},
		{"py: mark.skip", "test_a.py", pyBoth, "@pytest.mark.skip(reason='x')\n" + pyBoth,
			"test_a.py:2: test_login is skipped now"},
		{"py: mark.xfail", "test_a.py", pyBoth, "@pytest.mark.xfail\n" + pyBoth, "test_login is skipped now"},
		{"py: skipIf", "test_a.py", pyBoth, "@unittest.skipIf(True, 'x')\n" + pyBoth, "test_login is skipped now"},
		{"py: expectedFailure", "test_a.py", pyBoth, "@unittest.expectedFailure\n" + pyBoth, "test_login is skipped now"},
		{"py: pytest.skip", "test_a.py", pyBoth, swap(pyBoth, "    u = ", "    pytest.skip('x')\n    u = "),
			"test_login is skipped now"},
		{"py: skipTest", "test_a.py", pyBoth, swap(pyBoth, "    u = ", "    self.skipTest('x')\n    u = "),
			"test_login is skipped now"},
		{"py: pytestmark", "test_a.py", pyBoth, "pytestmark = pytest.mark.skip\n" + pyBoth, "keeps tests from running"},
		{"py: a module", "test_a.py", pyBoth, "pytest.skip('x', allow_module_level=True)\n" + pyBoth,
			"keeps tests from running"},
		{"py: underscore", "test_a.py", pyBoth, swap(pyBoth, "test_login", "_test_login"),
			"test_login is there as _test_login"},
		{"js: it.skip", "a.test.js", jsBoth, swap(jsBoth, "it('logs in'", "it.skip('logs in'"), `"logs in" is skipped now`},
		{"js: xit", "a.test.js", jsBoth, swap(jsBoth, "it('logs in'", "xit('logs in'"), `"logs in" is skipped now`},
		{"js: todo", "a.test.js", jsBoth, swap(jsBoth, jsLogin, "  it.todo('logs in');\n"), `"logs in" is skipped now`},
		{"js: test.skip", "a.test.ts", "test(\"a\", () => {\n  expect(f()).toBe(1);\n});\n",
			"test.skip(\"a\", () => {\n  expect(f()).toBe(1);\n});\n", `a is skipped now`},
		{"js: test.fails", "a.test.ts", "test(`a`, () => {\n  expect(f()).toBe(1);\n});\n",
			"test.fails(`a`, () => {\n  expect(f()).toBe(1);\n});\n", `a is skipped now`},
		{"js: describe.skip", "a.test.js", jsBoth, swap(jsBoth, "describe(", "describe.skip("), "keeps tests from running"},
		{"js: xdescribe", "a.test.js", jsBoth, swap(jsBoth, "describe(", "xdescribe("), "keeps tests from running"},
		{"js: it.only", "a.test.js", jsBoth, swap(jsBoth, "it('logs out'", "it.only('logs out'"), "keeps tests from running"},
		{"js: describe.only in a new file", "a.test.js", gone, swap(jsBoth, "describe(", "describe.only("),
			"keeps tests from running"},
		{"js: fit", "a.test.js", jsBoth, swap(jsBoth, "it('logs out'", "fit('logs out'"), "keeps tests from running"},
		{"js: this.skip", "a.test.js", jsBoth, swap(jsBoth, "    const u", "    this.skip();\n    const u"),
			`"logs in" is skipped now`},
		{"rust: ignore", "src/lib.rs", rsBoth, swap(rsBoth, "    fn logs_in", "    #[ignore]\n    fn logs_in"),
			"logs_in is skipped now"},
		{"rust: no test any more", "src/lib.rs", rsBoth, swap(rsBoth, "    #[test]\n", ""),
			"logs_in is there as logs_in, which is not run as a test"},
		{"java: Disabled", "src/test/java/SessionTest.java", jvBoth,
			swap(jvBoth, "  @Test\n", "  @Disabled(\"x\")\n  @Test\n"), "logsIn is skipped now"},
		{"java: Ignore", "src/test/java/SessionTest.java", jvBoth, swap(jvBoth, "  @Test\n", "  @Test\n  @Ignore\n"),
			"logsIn is skipped now"},
		{"java: enabled = false", "src/test/java/SessionTest.java", jvBoth,
			swap(jvBoth, "  @Test\n", "  @Test(enabled = false)\n"), "logsIn is skipped now"},
		{"java: assumeTrue", "src/test/java/SessionTest.java", jvBoth,
			swap(jvBoth, "    var u", "    assumeTrue(false);\n    var u"), "logsIn is skipped now"},
		{"java: no test any more", "src/test/java/SessionTest.java", jvBoth, swap(jvBoth, "  @Test\n", ""),
			"logsIn is there as logsIn, which is not run as a test"},
		{"ruby: xit", "a_spec.rb", rbBoth, swap(rbBoth, "it 'logs in'", "xit 'logs in'"), `"logs in" is skipped now`},
		{"ruby: pending", "a_spec.rb", rbBoth, swap(rbBoth, "    u = ", "    pending 'x'\n    u = "),
			`"logs in" is skipped now`},
		{"ruby: skip", "a_spec.rb", rbBoth, swap(rbBoth, "it 'logs in' do", "it 'logs in', :skip do"),
			`"logs in" is skipped now`},
		{"ruby: xdescribe", "a_spec.rb", rbBoth, swap(rbBoth, "describe Session", "xdescribe Session"),
			"keeps tests from running"},
		{"ruby: focus", "a_spec.rb", rbBoth, swap(rbBoth, "it 'logs out'", "fit 'logs out'"), "keeps tests from running"},
		{"php: markTestSkipped", "tests/SessionTest.php", phBoth,
			swap(phBoth, "        $u = ", "        $this->markTestSkipped('x');\n        $u = "), "testLogin is skipped now"},
		{"php: markTestIncomplete", "tests/SessionTest.php", phBoth,
			swap(phBoth, "        $u = ", "        self::markTestIncomplete();\n        $u = "), "testLogin is skipped now"},
		{"php: no test any more", "tests/SessionTest.php", phBoth, swap(phBoth, "testLogin", "_testLogin"),
			"testLogin is there as _testLogin"},
		{"c#: Skip", "SessionTests.cs", csBoth, swap(csBoth, "[Fact]", "[Fact(Skip = \"x\")]"), "LogsIn is skipped now"},
		{"c#: Ignore", "SessionTests.cs", csBoth, swap(csBoth, "    [Fact]\n", "    [Test]\n    [Ignore(\"x\")]\n"),
			"LogsIn is skipped now"},
		// emptied
		{"go: emptied", "a_test.go", goBoth, goTests("func TestLogin(t *testing.T) {\n}", goLogout),
			"TestLogin has nothing in it now"},
		{"go: emptied in one line", "a_test.go", goBoth, goTests("func TestLogin(t *testing.T) {}", goLogout),
			"TestLogin has nothing in it now"},
		{"go: only a comment", "a_test.go", goBoth, goTests("func TestLogin(t *testing.T) {\n\t// fine\n}", goLogout),
			"TestLogin has nothing in it now"},
		{"py: pass", "test_a.py", pyBoth, "def test_login():\n    pass\n" + pyLogout, "test_login has nothing in it now"},
		{"py: a docstring", "test_a.py", pyBoth, "def test_login():\n    \"\"\"Logs in.\"\"\"\n" + pyLogout,
			"test_login has nothing in it now"},
		{"js: emptied", "a.test.js", jsBoth, js("  it('logs in', () => {});\n" + jsLogout),
			`"logs in" has nothing in it now`},
		{"rust: emptied", "src/lib.rs", rsBoth, rs("    #[test]\n    fn logs_in() {}\n" + rsLogout),
			"logs_in has nothing in it now"},
		{"java: emptied", "src/test/java/SessionTest.java", jvBoth, jv("  @Test\n  void logsIn() {\n  }\n" + jvLogout),
			"logsIn has nothing in it now"},
		{"ruby: emptied", "a_spec.rb", rbBoth, rb("  it 'logs in' do\n  end\n" + rbLogout),
			`"logs in" has nothing in it now`},
		{"php: emptied", "tests/SessionTest.php", phBoth,
			ph("    public function testLogin(): void\n    {\n    }\n" + phLogout), "testLogin has nothing in it now"},
		{"c#: emptied", "SessionTests.cs", csBoth, cs("    [Fact]\n    public void LogsIn()\n    {\n    }\n" + csLogout),
			"LogsIn has nothing in it now"},
		{"go: no assertion left", "a_test.go", goBoth,
			goTests("func TestLogin(t *testing.T) {\n\tLogin(\"u\", \"p\")\n}", goLogout), "TestLogin asserts nothing any more"},
		// assertions
		{"go: one assertion fewer", "a_test.go", goBoth,
			swap(goBoth, "\tif Login(\"u\", \"x\") {\n\t\tt.Error(\"login\")\n\t}\n", ""), "TestLogin has one assertion fewer"},
		{"go: testify", "a_test.go", goTests("func TestA(t *testing.T) {\n\tassert.Equal(t, 1, f())\n\trequire.NoError(t, " +
			"g())\n}"), goTests("func TestA(t *testing.T) {\n\trequire.NoError(t, g())\n}"), "TestA has one assertion fewer"},
		{"py: one assertion fewer", "test_a.py", pyBoth, swap(pyBoth, "    assert u.in\n", ""),
			"test_login has one assertion fewer"},
		{"js: one assertion fewer", "a.test.js", jsBoth, swap(jsBoth, "    expect(u.in).toBe(1);\n", ""),
			`"logs in" has one assertion fewer`},
		{"py: assert True", "test_a.py", pyBoth, swap(pyBoth, "assert login(u)", "assert True"),
			"test_login asserts what is always true"},
		{"py: assert 1 == 1", "test_a.py", pyBoth, swap(pyBoth, "assert login(u)", "assert 1 == 1"),
			"test_login asserts what is always true"},
		{"js: expect(true)", "a.test.js", jsBoth, swap(jsBoth, "expect(login(u))", "expect(true)"),
			`"logs in" asserts what is always true`},
		{"rust: assert!(true)", "src/lib.rs", rsBoth, swap(rsBoth, "assert!(login(&u))", "assert!(true)"),
			"logs_in asserts what is always true"},
		{"java: assertTrue(true)", "src/test/java/SessionTest.java", jvBoth,
			swap(jvBoth, "assertTrue(login(u))", "assertTrue(true)"), "logsIn asserts what is always true"},
		{"ruby: expect(1)", "a_spec.rb", rbBoth, swap(rbBoth, "expect(login(u)).to eq 1", "expect(1).to eq 1"),
			`"logs in" asserts what is always true`},
		{"php: assertTrue(true)", "tests/SessionTest.php", phBoth, swap(phBoth, "assertTrue(login($u))", "assertTrue(true)"),
			"testLogin asserts what is always true"},
		{"c#: Assert.True(true)", "SessionTests.cs", csBoth, swap(csBoth, "Assert.True(Login(u))", "Assert.True(true)"),
			"LogsIn asserts what is always true"},
		{"go: assert.True(true)", "a_test.go", goTests("func TestA(t *testing.T) {\n\tassert.Equal(t, 1, f())\n}"),
			goTests("func TestA(t *testing.T) {\n\tassert.True(t, true)\n}"), "TestA asserts"},
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
		{"snapshot", "src/__snapshots__/a.snap", "old\n", "new\n", "src/__snapshots__/a.snap: the snapshot was rewritten"},
		{"golden file", "testdata/a.golden", "old\n", gone, "the snapshot was rewritten"},

		// honest
		{"a test added", "a_test.go", goTests(goLogin), goBoth, ""},
		{"a skipped test added", "a_test.go", goTests(goLogin),
			goTests(goLogin, swap(goLogout, "\tif got", "\tt.Skip(\"needs docker\")\n\tif got")), ""},
		{"tests in another order", "a_test.go", goBoth, goTests(goLogout, goLogin), ""},
		{"a test renamed", "a_test.go", goBoth, swap(goBoth, "TestLogin", "TestLoginWithPassword"), ""},
		{"a case renamed", "a_test.go", goTests("var c = []x{\n\t{\"zero\", 0},\n\t{\"one\", 1},\n}"),
			goTests("var c = []x{\n\t{\"none\", 0},\n\t{\"one\", 1},\n}"), ""},
		{"a test reformatted", "a.test.js", jsBoth, strings.ReplaceAll(jsBoth, "'", "\""), ""},
		{"it becomes test", "a.test.js", jsBoth,
			swap(swap(jsBoth, "it('logs in'", "test('logs in'"), "it('logs out'", "test('logs out'"), ""},
		{"a signature", "test_a.py", pyBoth, swap(pyBoth, "def test_login():", "def test_login(db, user):"), ""},
		{"an expectation changed", "a_test.go", goBoth, swap(goBoth, "got != 3", "got != 4"), ""},
		{"a skip taken away", "test_a.py", "@pytest.mark.skip\n" + pyBoth, pyBoth, ""},
		{"a skipped test deleted", "test_a.py", "@pytest.mark.skip\n" + pyBoth, pyLogout, ""},
		{"assertions in a helper", "a_test.go", goBoth, swap(goBoth, "\tif !Login(\"u\", \"p\") {\n\t\tt.Error(\"no "+
			"login\")\n\t}\n\tif Login(\"u\", \"x\") {\n\t\tt.Error(\"login\")\n\t}\n",
			"\tcheckLogin(t, \"p\", true)\n\tcheckLogin(t, \"x\", false)\n"), ""},
		{"a test in two", "test_a.py", "def test_a():\n    assert f() == 1\n    assert g() == 2\n    assert h() == 3\n",
			"def test_a():\n    assert f() == 1\n\n\ndef test_b():\n    assert g() == 2\n    assert h() == 3\n", ""},
		{"tests become a table", "a_test.go",
			goTests("func TestZero(t *testing.T) {\n\tif Add(0, 7) != 7 {\n\t\tt.Error(\"wrong sum\")\n\t}\n}",
				"func TestTwo(t *testing.T) {\n\tif Add(2, 5) != 7 {\n\t\tt.Error(\"wrong sum\")\n\t}\n}"),
			goTests("func TestAdd(t *testing.T) {\n\tfor _, c := range []struct{ a, b, want int }{\n\t\t{0, 7, 7},\n\t\t{2, " +
				"5, 7},\n\t} {\n\t\tif got := Add(c.a, c.b); got != c.want {\n\t\t\tt.Error(c, got)\n\t\t}\n\t}\n}"), ""},
		{"tests become named cases", "a_test.go", goBoth, goTests("func TestSession(t *testing.T) {\n\tfor name, f := " +
			"range map[string]func(){\n\t\t\"TestLogin\": in,\n\t\t\"TestLogout\": out,\n\t} {\n\t\tt.Run(name, f)\n\t}\n}"),
			""},
		{"pytest parametrised", "test_a.py",
			"def test_a():\n    assert add(0, 7) == 7\n\n\ndef test_b():\n    assert add(2, 5) == 7\n",
			"@pytest.mark.parametrize('a,b,c', [(0, 7, 7), (2, 5, 7)])\ndef test_add(a, b, c):\n    assert add(a, b) == c\n",
			""},
		{"a build line for systems", "a_test.go", goBoth, "//go:build unix && !js\n\n" + goBoth, ""},
		{"a silencer in quotes", "a.go", "package a\n", "package a\n\nvar x = \"//nolint # noqa\"\n", ""},
		{"a fixture of a test", "testdata/a_test.go", goBoth, goTests(goLogout), ""},
		{"a vendored test", "vendor/x/a_test.go", goBoth, gone, ""},
		{"no test file", "a.py", pyBoth, pyLogout, ""},
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
		{"a new snapshot", "src/__snapshots__/a.snap", gone, "new\n", ""},
		{"|| true in the manual", "docs/a.md", "x\n", "x || true\n", ""},
		{"a target in the Makefile", "Makefile", "test:\n\tgo test ./...\n",
			"test:\n\tgo test ./...\n\nlint:\n\tgolangci-lint run\n", ""},
	}
}

func TestWeakened(t *testing.T) { heldAgainst(t, weakenedRows()) }

// TestWeakenedAcrossFiles: a test is where it is found, whatever the file is called.
func TestWeakenedAcrossFiles(t *testing.T) {
	both := goTests(goLogin, goLogout)
	for name, c := range map[string]struct {
		before, after files
		want          string
	}{
		"a file renamed": {files{"a_test.go": both}, files{"b_test.go": both}, ""},
		"a test moved": {files{"a_test.go": both},
			files{"a_test.go": goTests(goLogin), "b_test.go": goTests(goLogout)}, ""},
		"a file split": {files{"a_test.go": both},
			files{"in_test.go": goTests(goLogin), "out_test.go": goTests(goLogout)}, ""},
		"a helper moved": {files{"a_test.go": both},
			files{"a_test.go": both, "help_test.go": goTests("func check(t *testing.T) {\n\tt.Error(1)\n}")}, ""},
		"a file renamed, a test lost": {files{"a_test.go": both}, files{"b_test.go": goTests(goLogin)},
			"deleted TestLogout"},
		"a file that is no test": {files{"a_test.go": both}, files{"a_test.go.bak": both}, "deleted TestLogin"},
		"renamed and skipped": {files{"a_test.go": both},
			files{"b_test.go": swap(both, "\tif !Login", "\tt.Skip()\n\tif !Login")}, "TestLogin is skipped now"},
		"one of two of the same name": {files{"a/a_test.go": goTests(goLogin), "b/a_test.go": goTests(goLogin)},
			files{"a/a_test.go": goTests(goLogin), "b/a_test.go": goTests()}, "b/a_test.go: deleted TestLogin"},
		"one hidden by its attributes": {files{"a_test.go": both},
			files{"a_test.go": goTests(goLogin), ".gitattributes": "*.go -diff\n"}, "deleted TestLogout"},
	} {
		t.Run(name, func(t *testing.T) {
			v := run(t, &Weakened{Changes: between(t, c.before, c.after)}, judged())
			if v.Pass != (c.want == "") || !strings.Contains(v.Output, c.want) {
				t.Errorf("pass %v, want %q\n%s", v.Pass, c.want, v.Output)
			}
		})
	}
}

// TestWeakenedIsToBeAccepted: whatever is found has a name to accept it by, and what makes it worse is said.
func TestWeakenedIsToBeAccepted(t *testing.T) {
	tests := files{"a_test.go": goTests(goLogin, goLogout), "a.go": "package a\n", "jest.config.js": "lines: 90\n"}
	lost := files{"a_test.go": goTests(goLogout), "a.go": "package a\n\nvar x = 1\n"}
	failed := func(v loop.Verdict) loop.Verdict { v.Check, v.Severity = "test", loop.Hard; return v }
	passes := []loop.Verdict{{Check: "test", Severity: loop.Hard, Pass: true}}
	const before, only = "it failed before", "nothing but tests and settings has changed"
	for name, c := range map[string]struct {
		change   files
		baseline []loop.Verdict
		earlier  []loop.Verdict
		so       []loop.Verdict
		concern  string // its name
		worse    string // what is said besides; empty: neither of the two
	}{
		"a lost test": {change: lost, concern: "TestLogin"},
		"it failed on the base commit": {lost,
			[]loop.Verdict{failed(loop.Verdict{Findings: []loop.Finding{{Test: "TestLogin"}}})}, nil, nil, "TestLogin", before},
		"it failed earlier": {lost, nil,
			[]loop.Verdict{failed(loop.Verdict{Findings: []loop.Finding{{Test: "pkg.TestLogin/sub"}}})}, nil, "TestLogin",
			before},
		"its file failed": {lost, nil,
			[]loop.Verdict{failed(loop.Verdict{Findings: []loop.Finding{{File: "./a_test.go", Line: 3}}})}, nil, "TestLogin",
			before},
		"an output says so": {lost,
			[]loop.Verdict{failed(loop.Verdict{Output: "--- FAIL: TestLogin (0.00s)\n"})}, nil, nil, "TestLogin", before},
		"an output says it passed": {lost,
			[]loop.Verdict{failed(loop.Verdict{Output: "--- PASS: TestLogin (0.00s)\n--- FAIL: TestLogins\n"})}, nil, nil,
			"TestLogin", ""},
		"another one failed": {lost,
			[]loop.Verdict{failed(loop.Verdict{Findings: []loop.Finding{{Test: "TestLogout"}}})}, nil, passes, "TestLogin", ""},
		"only tests changed, and it passes": {files{"a_test.go": goTests(goLogout)},
			[]loop.Verdict{failed(loop.Verdict{})}, nil, passes, "TestLogin", only},
		"only tests changed, and it fails": {files{"a_test.go": goTests(goLogout)},
			[]loop.Verdict{failed(loop.Verdict{})}, nil, []loop.Verdict{failed(loop.Verdict{})}, "TestLogin", ""},
		"only tests changed, it never failed": {files{"a_test.go": goTests(goLogout)}, passes, nil, passes, "TestLogin", ""},
		"a threshold, and it passes": {files{"jest.config.js": "lines: 1\n"},
			[]loop.Verdict{failed(loop.Verdict{})}, nil, passes, "jest.config.js", only},
		"assertions": {change: files{"a_test.go": swap(tests["a_test.go"],
			"\tif Login(\"u\", \"x\") {\n\t\tt.Error(\"login\")\n\t}\n", "")}, concern: "TestLogin"},
		"a warning": {change: files{"a.go": "package a\n\nvar x = f() //nolint\n"}, concern: "a.go"},
	} {
		t.Run(name, func(t *testing.T) {
			at := judged()
			at.State.Baseline, at.Verdicts = c.baseline, c.so
			at.State.Iterations = append([]*loop.Iteration{{N: 0, Verdicts: c.earlier}}, at.State.Iterations...)
			v := run(t, &Weakened{Changes: between(t, tests, tests.with(c.change))}, at)
			if v.Pass || len(v.Concerns) != 1 || v.Concerns[0].Name != c.concern || v.Concerns[0].Kind != loop.Weakens {
				t.Fatalf("pass %v, concerns %+v, want one of %s", v.Pass, v.Concerns, c.concern)
			}
			said := v.Reason + v.Concerns[0].Message
			if strings.Contains(said, before) != (c.worse == before) || strings.Contains(said, only) != (c.worse == only) {
				t.Errorf("it says %q, want %q", said, c.worse)
			}
		})
	}
	if (&Weakened{}).Severity() != loop.Soft || (&Weakened{Hard: true}).Severity() != loop.Hard {
		t.Error("a reviewer may accept, unless the setting says hard")
	}
}

// TestWeakenedFailedTestIsNoCase: the name of a test that failed, in quotes, does not stand for it.
func TestWeakenedFailedTestIsNoCase(t *testing.T) {
	at := judged()
	at.State.Baseline = []loop.Verdict{{Check: "test", Severity: loop.Hard, Output: "--- FAIL: TestLogin (0.00s)\n"}}
	c := between(t, files{"a_test.go": goTests(goLogin, goLogout)},
		files{"a_test.go": goTests(goLogout, `var _ = "TestLogin"`), "a.go": "package a\n"})
	if v := run(t, &Weakened{Changes: c}, at); v.Pass || len(v.Concerns) == 0 ||
		!strings.Contains(v.Concerns[0].Message, "it failed before") {
		t.Errorf("verdict = %+v", v)
	}
}

// TestWeakenedSeverityReachesTheVerdict: the list keeps the severity that a check found.
func TestWeakenedSeverityReachesTheVerdict(t *testing.T) {
	w := &Weakened{Hard: true, Changes: between(t, files{"a_test.go": goTests(goLogin)},
		files{"a_test.go": goTests(), "a.go": "package a\n"})}
	l := list(t, &tree{}, silent, &checkout{})
	l.Checks = []Check{w}
	at := judged()
	verdicts, err := l.Judge(t.Context(), at.State)
	if err != nil || len(verdicts) != 1 || !verdicts[0].Blocks() {
		t.Errorf("%v %+v", err, verdicts)
	}
}
