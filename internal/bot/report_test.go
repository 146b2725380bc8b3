package bot

import (
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// holdsPage holds the page of a run below dir against what fixer did.
func holdsPage(t *testing.T, dir string, result loop.Result) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, ".ralph", "runs", result.State.Start.Run, "report.html")) // the test's own
	if err != nil {
		t.Fatal(err)
	}
	page := html.UnescapeString(string(text))
	for _, want := range []string{
		`id="iteration-1"`, `id="iteration-3"`, "# tried", "-add() { echo $(($1 - $2)); }",
		"+add() { echo $(($1 + $2)); }",                      // diffs
		"FAIL: add", "say what it does", "I think it works.", // what was printed and said
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
