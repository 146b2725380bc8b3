package internal_test

import (
	"path"
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
	for name, text := range goFiles() {
		if strings.HasSuffix(name, "_test.go") && strings.Contains(text, all) {
			sampled++
			if from := "./" + path.Dir(name); !runs[from] {
				t.Errorf("%s samples, and make every does not run %s", name, from)
			}
		}
	}
	if sampled < 10 {
		t.Errorf("%d files sample, want 10 at least", sampled)
	}
}
