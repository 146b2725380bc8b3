package internal_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestComplaintsAreHeld: every row of docs/internals/complaints.md names tests or scripts, and all of them exist.
func TestComplaintsAreHeld(t *testing.T) {
	text := document(t, "../docs/internals/complaints.md")
	_, second, _ := strings.Cut(text, "\n## Working with it\n")
	rows := append(complaints(t, strings.TrimSuffix(text, second)), complaints(t, second)...)
	if len(rows) < 34 {
		t.Errorf("there are only %d rows", len(rows))
	}
	there := map[string]map[string]bool{}
	for _, row := range rows {
		held := 0
		for _, part := range strings.Split(row[2], ";") {
			held += holds(t, there, part)
		}
		if held == 0 {
			t.Errorf("nothing holds %q", row[0])
		}
	}
}

func complaints(t *testing.T, text string) [][]string {
	t.Helper()
	return table(t, text, "what goes wrong", "what ralph does", "held by")
}

var (
	heldIn     = regexp.MustCompile("^\\s*(`Test[A-Za-z0-9]+`(?:, `Test[A-Za-z0-9]+`)*) in `([a-z/]+)`$")
	heldBy     = regexp.MustCompile("^\\s*`([a-z-]+\\.txtar)`$")
	nameOfTest = regexp.MustCompile(`Test[A-Za-z0-9]+`)
)

// holds is how many tests or scripts a part of a cell names, as in "`TestA`, `TestB` in `internal/bot`" or
// "`name.txtar`". there is what the packages have that were looked at.
func holds(t *testing.T, there map[string]map[string]bool, part string) int {
	t.Helper()
	if m := heldBy.FindStringSubmatch(part); m != nil {
		if _, err := os.Stat("../testdata/scripts/" + m[1]); err != nil {
			t.Errorf("docs/internals/complaints.md names a script that is not there: %v", err)
		}
		return 1
	}
	m := heldIn.FindStringSubmatch(part)
	if m == nil {
		t.Errorf("docs/internals/complaints.md: %q is neither tests in a package nor a script", part)
		return 0
	}
	if there[m[2]] == nil {
		there[m[2]] = testsIn(t, "../"+m[2])
	}
	names := nameOfTest.FindAllString(m[1], -1)
	for _, name := range names {
		if !there[m[2]][name] {
			t.Errorf("docs/internals/complaints.md names %s, which %s does not have", name, m[2])
		}
	}
	return len(names)
}

// testsIn are the names of the tests of a package.
func testsIn(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Errorf("%s has no tests: %v", dir, err)
	}
	all := map[string]bool{}
	for _, file := range files {
		maps.Copy(all, names(`(?m)^func (Test\w+)\(`, document(t, file)))
	}
	return all
}

// TestWorkflowCancelsNothing: no comment of the bot's own can cancel a run. A group of the whole workflow would be
// entered by every event, before anybody has looked at it.
func TestWorkflowCancelsNothing(t *testing.T) {
	job := document(t, "../.github/workflows/run.yml")
	if !regexp.MustCompile(`(?m)^    concurrency:$`).MatchString(job) || !strings.Contains(job, "cancel-in-progress: false") {
		t.Error("concurrency is not the job's")
	}
	for _, shown := range append(fenced(document(t, "../docs/github.md"), "yaml"), job) { // the first is also README's
		if regexp.MustCompile(`(?m)^ {0,3}concurrency:`).MatchString(shown) {
			t.Error("concurrency is the workflow's")
		}
		if regexp.MustCompile(`cancel-in-progress: *[^ f\n]`).MatchString(shown) {
			t.Error("a run can be cancelled by the next event")
		}
	}
}
