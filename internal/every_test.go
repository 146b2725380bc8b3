package internal_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryRunsWhatIsSampled: a package whose tests are run in part is one that make every runs as a whole.
func TestEveryRunsWhatIsSampled(t *testing.T) {
	const all = "RALPH_TEST_EVERY" + "_FAULT" // this file samples nothing
	runs := map[string]bool{}
	for line := range strings.Lines(document(t, "../Makefile")) {
		if words := strings.Fields(line); len(words) > 0 && words[0] == all+"=1" {
			for _, word := range words {
				runs[word] = true // a package is one that begins with ./
			}
		}
	}
	sampled := 0
	for _, top := range []string{".", "../cmd"} {
		err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil || !strings.Contains(string(text), all) {
				return err
			}
			sampled++
			from := "./" + filepath.ToSlash(filepath.Dir(filepath.Join("internal", path)))
			if !runs[from] {
				t.Errorf("%s samples, and make every does not run %s", path, from)
			}
			return nil
		})
		noError(t, err)
	}
	if sampled < 10 {
		t.Errorf("%d files sample, want 10 at least", sampled)
	}
}
