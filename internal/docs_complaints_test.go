package internal_test

import (
	"maps"
	"os"
	"path"
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
	tests := testsOfPackages()
	for _, row := range rows {
		if rest := strings.Trim(held.ReplaceAllString(row[2], ""), "; "); row[2] == "" || rest != "" {
			t.Errorf("docs/internals/complaints.md: %q is held by %q, which is neither tests in a package nor a script", row[0], rest)
		}
		for _, by := range held.FindAllStringSubmatch(row[2], -1) {
			if _, err := os.Stat("../testdata/scripts/" + by[3]); by[3] != "" && err != nil {
				t.Errorf("docs/internals/complaints.md names a script that is not there: %v", err)
			}
			for name := range names(`(Test\w+)`, by[1]) {
				if !tests[by[2]][name] {
					t.Errorf("docs/internals/complaints.md names %s, which %s does not have", name, by[2])
				}
			}
		}
	}
}

func complaints(t *testing.T, text string) [][]string {
	t.Helper()
	return table(t, text, "what goes wrong", "what ralph does", "held by")
}

// held matches tests of a package, and a script: "`TestA`, `TestB` in `internal/bot`", "`name.txtar`".
var held = regexp.MustCompile("(`Test\\w+`(?:, `Test\\w+`)*) in `([a-z/]+)`|`([a-z-]+\\.txtar)`")

// testsOfPackages are the names of tests by the directories of their packages.
func testsOfPackages() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for name, text := range goFiles() {
		if dir := path.Dir(name); strings.HasSuffix(name, "_test.go") {
			found := names(`(?m)^func (Test\w+)\(`, text)
			maps.Copy(found, all[dir])
			all[dir] = found
		}
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
