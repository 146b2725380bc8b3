package check

import (
	"strings"
	"testing"
)

// TestBaseTestsOfUnknown: where no test is named, the file is, or the check; where nobody runs tests, that is said.
func TestBaseTestsOfUnknown(t *testing.T) {
	cShop := "int discount(int n) { return n / 10; }\n"
	cTest := "int discount(int);\nint main(void) { return discount(100) == 10 ? 0 : 1; }\n"
	mk := "test:\n\tgcc -o run shop.c test_shop.c && ./run\n"
	sayOfBaseTests(t, []baseTestsRow{
		{"C with a Makefile", "gcc", "make test",
			project{"Makefile": mk, ".gitignore": "run\n", "shop.c": cShop, "test_shop.c": cTest},
			project{"shop.c": "int discount(int n) { return 0; }\n", "test_shop.c": strings.ReplaceAll(cTest, "== 10", "== 0")},
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
