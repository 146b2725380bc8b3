package internal_test

import (
	"regexp"
	"strings"
	"testing"
)

// TestArchitectureNamesFiles: every file of Go that docs/internals/architecture.md names is there, below the room that it names.
func TestArchitectureNamesFiles(t *testing.T) {
	named := regexp.MustCompile("`([a-z_/0-9]+\\.go)`").FindAllStringSubmatch(document(t, "../docs/internals/architecture.md"), -1)
	if len(named) < 20 {
		t.Errorf("the page names %d files", len(named))
	}
	for _, name := range named {
		found := false
		for path := range goFiles() {
			found = found || strings.HasSuffix("/"+path, "/"+name[1])
		}
		if !found {
			t.Errorf("docs/internals/architecture.md names %s, and there is no such file", name[1])
		}
	}
}
