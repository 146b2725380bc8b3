package check

import (
	"strings"
	"testing"
)

// change is a test file with some of its text replaced.
func change(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }

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
			[]string{"test.sh: tests were changed and could not be compared: no check is known to run them"}},
		{"honest: nobody runs tests, and none were changed", "sh", "true", project{"a.sh": "true\n"},
			project{"new_test.sh": "true\n"}, nil},
	})
}
