package check

import "testing"

func TestMisses(t *testing.T) {
	for _, c := range []struct {
		says, output, file string
		want               bool
	}{
		{"make", "make: *** No rule to make target 'tests/extra.c', needed by 'run'.  Stop.", "tests/extra.c", true},
		{"the shell", "sh: 1: tests/run.sh: not found", "tests/run.sh", true},
		{"node", "Error: Cannot find module '/srv/shop/test/helper.js'\nRequire stack:\n- /srv/shop/test/shop.test.js",
			"test/helper.js", true},
		{"go", "shop.go:3:12: pattern testdata/in.json: no matching files found", "testdata/in.json", true},
		{"python", "FileNotFoundError: [Errno 2] No such file or directory: 'tests/data.json'", "tests/data.json", true},
		{"a directory with the same name", "/tmp/conftest-1/shop/tests/test_shop.py:17: AssertionError",
			"tests/conftest.py", false},
		{"a failure", "tests/test_new.py:3: AssertionError: 404 is not 200", "tests/test_new.py", false},
		{"another file", "cat: tests/old.txt: No such file or directory", "tests/new.txt", false},
	} {
		if got := misses(c.output, c.file); got != c.want {
			t.Errorf("%s: %q misses %s is %v", c.says, c.output, c.file, got)
		}
	}
}
