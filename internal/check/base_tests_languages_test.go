package check

import (
	"strings"
	"testing"
)

// change is a test file with some of its text replaced.
func change(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }

const (
	pyShop  = "def discount(n):\n    return n // 10\n"
	pyWrong = "def discount(n):\n    return 0\n"
	pyShops = "import unittest\nfrom shop import discount\n\n\nclass Shop(unittest.TestCase):\n    def " +
		"test_discount(self):\n" +
		"        self.assertEqual(discount(100), 10)\n\n    def test_none(self):\n        self.assertEqual(discount(0), 0)\n"
)

// TestBaseTestsOfPython with unittest, which is there wherever Python is.
func TestBaseTestsOfPython(t *testing.T) {
	base := project{"shop.py": pyShop, "test_shop.py": pyShops}
	const line, fails = "python3 -m unittest", "test_discount: as it was in the base fails on this change; the change "
	sayOfBaseTests(t, []baseTestsRow{
		{"the expected value is rewritten", "python3", line, base,
			project{"shop.py": pyWrong, "test_shop.py": change(pyShops, ", 10)", ", 0)")},
			[]string{fails + "edits test_shop.py"}},
		{"an assertion is weaker", "python3", line + " -v", base,
			project{"shop.py": pyWrong, "test_shop.py": change(pyShops, "assertEqual(discount(100), 10)",
				"assertIsNotNone(discount(100))")},
			[]string{fails + "edits test_shop.py"}},
		{"it is skipped", "python3", line, base,
			project{"shop.py": pyWrong, "test_shop.py": change(pyShops, "    def test_discount",
				"    @unittest.skip('later')\n    def test_discount")},
			[]string{fails + "edits test_shop.py"}},
		{"it has another name", "python3", line, base,
			project{"shop.py": pyWrong, "test_shop.py": change(pyShops, "def test_discount", "def check_discount")},
			[]string{fails + "edits test_shop.py"}},
		{"it loads no more", "python3", line, base,
			project{"shop.py": pyWrong, "test_shop.py": change(pyShops, "class", "def load_tests(loader, tests, pattern):\n   "+
				" return loader.loadTestsFromName('test_shop.Shop.test_none')\n\n\nclass")},
			[]string{fails + "edits test_shop.py"}},
		{"what is tested is replaced by a mock", "python3", line, base,
			project{"shop.py": pyWrong, "test_shop.py": change(pyShops, "\n\nclass",
				"\ndiscount = lambda n: n // 10\n\n\nclass")},
			[]string{fails + "edits test_shop.py"}},
		{"a fixture is rewritten", "python3", line,
			project{"shop.py": pyShop, "tests/data.txt": "10",
				"test_shop.py": change(pyShops, ", 10)", ", int(open('tests/data.txt').read()))")},
			project{"shop.py": pyWrong, "tests/data.txt": "0"}, []string{fails + "edits tests/data.txt"}},
		{"it is deleted", "python3", line,
			project{"shop.py": pyShop, "test_shop.py": pyShops,
				"test_more.py": change(pyShops, "Shop", "More", "100", "10", ", 10)", ", 1)")},
			project{"shop.py": "def discount(n):\n    return 1 if n else 0\n", "test_shop.py": ""},
			[]string{fails + "deletes test_shop.py"}},
		{"what is tested ends the process well", "python3", line, base,
			project{"shop.py": "import os, sys\nif 'unittest' in sys.modules:\n    os._exit(0)\n" + pyWrong},
			[]string{"python3_-m_unittest: it reported 2 tests on the base commit and none on this change"}},
		{"it is skipped, and passes as the base has it", "python3", line + " -v", base,
			project{"test_shop.py": change(pyShops, "    def test_none", "    @unittest.skip('later')\n    def test_none")},
			[]string{"test_none_(test_shop.Shop.test_none): it ran on the base commit and is skipped on this change"}},
		{"honest: a name is gone that one file imports", "python3", line,
			project{"shop.py": pyShop, "test_shop.py": pyShops, "test_more.py": change(pyShops, "Shop", "More")},
			project{"shop.py": change(pyShop, "discount", "rebate") + "\n\ndiscount = None\ndel discount\n",
				"test_shop.py": change(pyShops, "import discount", "import rebate as discount"), "test_more.py": ""},
			[]string{"test_more.py: could not be compared", "test_shop.py: could not be compared"}},
		{"honest: new tests only", "python3", line, base, project{"test_new.py": change(pyShops, "Shop", "New")}, nil},
		{"honest: a renamed test whose old form passes", "python3", line, base,
			project{"test_shop.py": change(pyShops, "test_none", "test_nothing")}, nil},
	})
}

const (
	jsShop  = "export function discount(n) {\n  return Math.floor(n / 10);\n}\n"
	jsWrong = "export function discount(n) {\n  return 0;\n}\n"
	jsShops = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { discount } from " +
		"'./shop.mjs';\n\n" +
		"test('takes a tenth', () => {\n  assert.equal(discount(100), 10);\n});\n\ntest('takes none', () => {\n  " +
		"assert.equal(discount(0), 0);\n});\n"
)

func TestBaseTestsOfNode(t *testing.T) {
	base := project{"shop.mjs": jsShop, "shop.test.mjs": jsShops}
	const line, fails = "node --test", "takes_a_tenth: as it was in the base fails on this change; the change "
	sayOfBaseTests(t, []baseTestsRow{
		{"the expected value is rewritten", "node", line, base,
			project{"shop.mjs": jsWrong, "shop.test.mjs": change(jsShops, ", 10)", ", 0)")},
			[]string{fails + "edits shop.test.mjs"}},
		{"it is skipped", "node", line, base,
			project{"shop.mjs": jsWrong, "shop.test.mjs": change(jsShops, "test('takes a", "test.skip('takes a")},
			[]string{fails + "edits shop.test.mjs"}},
		{"what is tested is replaced", "node", line, base,
			project{"shop.mjs": jsWrong, "shop.test.mjs": change(jsShops, "import { discount } from './shop.mjs'",
				"const discount = n => n / 10")},
			[]string{fails + "edits shop.test.mjs"}},
		{"honest: another signature of the module", "node", line, base,
			project{"shop.mjs": change(jsShop, "discount", "rebate"),
				"shop.test.mjs": change(jsShops, "{ discount }", "{ rebate as discount }")},
			[]string{"shop.test.mjs: the change edits shop.test.mjs"}},
		{"honest: new tests only", "node", line, base, project{"new.test.mjs": jsShops}, nil},
	})
}

const (
	plShop  = "package Shop;\nsub discount { return int($_[0] / 10) }\n1;\n"
	plWrong = "package Shop;\nsub discount { return 0 }\n1;\n"
	plShops = "use Test::More tests => 2;\nuse lib 'lib';\nuse Shop;\nis(Shop::discount(100), 10, 'a " +
		"tenth');\nis(Shop::discount(0), 0, 'none');\n"
)

func TestBaseTestsOfPerl(t *testing.T) {
	base := project{"lib/Shop.pm": plShop, "t/shop.t": plShops}
	sayOfBaseTests(t, []baseTestsRow{
		{"the expected value is rewritten", "prove", "prove t", base,
			project{"lib/Shop.pm": plWrong, "t/shop.t": change(plShops, "10, 'a", "0, 'a")},
			[]string{"a_tenth: the change edits t/shop.t"}},
		{"it is taken out", "prove", "prove -v t", base,
			project{"lib/Shop.pm": plWrong,
				"t/shop.t": change(plShops, "=> 2", "=> 1", "is(Shop::discount(100), 10, 'a tenth');\n", "")},
			[]string{"a_tenth: the change edits t/shop.t"}},
		{"fewer run: the plan is smaller", "prove", "prove t", base,
			project{"t/shop.t": change(plShops, "=> 2", "=> 1", "is(Shop::discount(0), 0, 'none');\n", "")},
			[]string{"prove_t: 2 tests ran on the base commit, and 1 on this change"}},
		{"gone: it runs no more, and no new one does", "prove", "prove -v t", base,
			project{"t/shop.t": change(plShops, "=> 2", "=> 1", "is(Shop::discount(0), 0, 'none');\n", "")},
			[]string{"none: it ran on the base commit and does not run on this change"}},
		{"skipped: it passes as the base has it", "prove", "prove -v t", base,
			project{"t/shop.t": change(plShops, "is(Shop::discount(0), 0, 'none');", "SKIP: { skip 'later', 1; }")},
			[]string{"none: it ran on the base commit"}},
		{"honest: another name", "prove", "prove -v t", base, project{"t/shop.t": change(plShops, "'none'", "'nothing'")},
			nil},
		{"honest: new tests only", "prove", "prove t", base, project{"t/new.t": plShops}, nil},
	})
}

const (
	rsShop   = "pub fn discount(n: u32) -> u32 {\n    n / 10\n}\n"
	rsWrong  = "pub fn discount(_n: u32) -> u32 {\n    0\n}\n"
	rsWithin = "\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn takes_a_tenth() {\n        " +
		"assert_eq!(discount(100), 10);\n    }\n}\n"
	rsShops = "use shop::discount;\n\n#[test]\nfn takes_a_tenth() {\n    assert_eq!(discount(100), 10);\n}\n"
)

func TestBaseTestsOfRust(t *testing.T) {
	manifest := "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"
	base := project{"Cargo.toml": manifest, ".gitignore": "target\n", "src/lib.rs": rsShop + rsWithin,
		"tests/shop.rs": rsShops}
	const line = "cargo test -q --offline"
	sayOfBaseTests(t, []baseTestsRow{
		{"tests within the code and beside it are rewritten", "cargo", line, base,
			project{"src/lib.rs": rsWrong + change(rsWithin, ", 10)", ", 0)"),
				"tests/shop.rs": change(rsShops, ", 10)", ", 0)")},
			[]string{"tests::takes_a_tenth: the change edits src/lib.rs"}},
		{"honest: another signature", "cargo", line, base,
			project{"src/lib.rs": "pub fn discount(n: u32, by: u32) -> u32 {\n    n / by\n}\n" +
				change(rsWithin, "(100)", "(100, 10)"),
				"tests/shop.rs": change(rsShops, "(100)", "(100, 10)")},
			[]string{"src/lib.rs: could not be compared", "tests/shop.rs: could not be compared"}},
	})
}

// TestBaseTestsOfUnknown: where no test is named, the file is, or the check; where nobody runs tests, that is said.
func TestBaseTestsOfUnknown(t *testing.T) {
	cShop := "int discount(int n) { return n / 10; }\n"
	cTest := "int discount(int);\nint main(void) { return discount(100) == 10 ? 0 : 1; }\n"
	mk := "test:\n\tgcc -o run shop.c test_shop.c && ./run\n"
	sayOfBaseTests(t, []baseTestsRow{
		{"C with a Makefile", "gcc", "make test",
			project{"Makefile": mk, ".gitignore": "run\n", "shop.c": cShop, "test_shop.c": cTest},
			project{"shop.c": "int discount(int n) { return 0; }\n", "test_shop.c": change(cTest, "== 10", "== 0")},
			[]string{"test_shop.c: as it was in the base, make test fails on this change (it exited with code 2"}},
		{"shell", "sh", "sh test.sh", project{"shop.sh": "echo $(($1 / 10))\n", "test.sh": "[ $(sh shop.sh 100) = 10 ]\n"},
			project{"shop.sh": "echo 0\n", "test.sh": "[ $(sh shop.sh 100) = 0 ]\n"},
			[]string{"test.sh: as it was in the base, sh test.sh fails on this change"}},
		{"nobody runs tests", "sh", "true", project{"a.sh": "true\n", "test.sh": "true\n"},
			project{"test.sh": "false || true\n"},
			[]string{"test.sh: tests were changed and nobody could compare them"}},
		{"honest: nobody runs tests, and none were changed", "sh", "true", project{"a.sh": "true\n"},
			project{"new_test.sh": "true\n"}, nil},
	})
}
