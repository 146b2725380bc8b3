package internal_test

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestArchitectureNamesFiles: every file of Go that docs/internals/architecture.md names is there, below the room that it names.
func TestArchitectureNamesFiles(t *testing.T) {
	var there []string
	for _, top := range []string{"../internal", "../cmd"} {
		err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") {
				there = append(there, filepath.ToSlash(path))
			}
			return err
		})
		noError(t, err)
	}
	named := regexp.MustCompile("`([a-z_/0-9]+\\.go)`").FindAllStringSubmatch(document(t, "../docs/internals/architecture.md"), -1)
	if len(named) < 20 {
		t.Errorf("the page names %d files", len(named))
	}
	for _, name := range named {
		found := false
		for _, path := range there {
			found = found || strings.HasSuffix(path, "/"+name[1])
		}
		if !found {
			t.Errorf("docs/internals/architecture.md names %s, and there is no such file", name[1])
		}
	}
}
