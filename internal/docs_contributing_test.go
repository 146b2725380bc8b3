package internal_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// example is a block of CONTRIBUTING.md below a mark that says which file it is, or which it edits.
var example = regexp.MustCompile("(?ms)^<!-- (new|edit): (\\S+) -->\n\n```(?:go|diff)\n(.*?)^```$")

// TestExamplesOfContributing applies all examples together to the code, without touching it, and runs the tests that
// say whether they are complete: who adds a variant as CONTRIBUTING.md says needs nothing else for these.
func TestExamplesOfContributing(t *testing.T) {
	t.Parallel()
	text := document(t, "../CONTRIBUTING.md")
	examples := example.FindAllStringSubmatch(text, -1)
	if n := strings.Count(text, "\n<!-- "); len(examples) != n || n < 10 {
		t.Fatalf("%d examples are read, of %d", len(examples), n)
	}
	for _, section := range []string{"Add an agent", "Add a check", "Add a setting", "Add an event"} {
		_, part, _ := strings.Cut(text, "\n## "+section+"\n")
		if part, _, _ = strings.Cut(part, "\n## "); !example.MatchString(part) {
			t.Errorf("%q has no example", section)
		}
	}
	files := map[string]string{}
	for _, e := range examples {
		what, path, block := e[1], e[2], e[3]
		if _, err := os.Stat("../" + path); (err != nil) != (what == "new") {
			t.Errorf("an example says %s: %s, and it is there: %t", what, path, err == nil)
			continue
		}
		if what == "new" {
			files[path] = block
			continue
		}
		if files[path] == "" {
			files[path] = document(t, "../"+path)
		}
		files[path] = edited(t, path, files[path], block)
	}
	if !t.Failed() && every {
		tests := "TestNeedsOfAnotherPlace|TestSize|TestTableSays|TestEveryCaseHasARule|TestRulesReadAsSentences"
		testOverlaid(t, files, tests, "./agent", "./check", "./config", "./event")
	}
}

// edited is a file with the lines that a block adds, below those that it shows of the file.
func edited(t *testing.T, path, text, block string) string {
	t.Helper()
	var before, after strings.Builder
	for line := range strings.Lines(block) {
		if line[0] == ' ' && before.Len() == after.Len() {
			before.WriteString(line[1:])
		} else if line[0] != '+' {
			t.Fatalf("%s: a line is neither of the file nor added below it: %q", path, line)
		}
		after.WriteString(line[1:])
	}
	if n := strings.Count(text, before.String()); n != 1 {
		t.Fatalf("CONTRIBUTING.md shows lines that %s has %d times, and should have once:\n%s", path, n, before.String())
	}
	return strings.Replace(text, before.String(), after.String(), 1)
}

// testOverlaid runs tests of packages as they would be with these files.
func testOverlaid(t *testing.T, files map[string]string, tests string, packages ...string) {
	t.Helper()
	dir, replace := t.TempDir(), map[string]string{}
	for path, text := range files {
		whole, err := filepath.Abs("../" + path)
		noError(t, err)
		replace[whole] = filepath.Join(dir, strings.ReplaceAll(path, "/", "_"))
		noError(t, os.WriteFile(replace[whole], []byte(text), 0o600))
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	noError(t, err)
	list := filepath.Join(dir, "overlay.json")
	noError(t, os.WriteFile(list, overlay, 0o600))
	overlaid := func(args ...string) []byte {
		out, err := exec.Command("go", append([]string{args[0], "-overlay", list}, args[1:]...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("with the examples of CONTRIBUTING.md: %v\n%s", err, out)
		}
		return out
	}
	overlaid("build", "./engine", "./github")
	out := overlaid(append([]string{"test", "-vet=off", "-v", "-run", "^(" + tests + ")$"}, packages...)...)
	if !strings.Contains(string(out), "--- PASS: TestSize ") {
		t.Errorf("the test of the example did not run:\n%s", out)
	}
}
