//go:build unix

package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, version, advice string }{
		"new enough": {"echo git version 2.39.5", "2.39.5", ""},
		"of Apple":   {"echo 'git version 3.0 (Apple Git-200)'", "3.0", ""},
		"too old":    {"echo git version 2.38.9", "2.38.9", "git 2.38.9 is too old: install git 2.39 or newer"},
		"broken":     {"echo xcode-select: no developer tools; exit 1", "", "git is not installed"},
	} {
		dir := t.TempDir()
		noError(t, os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\n"+c.script+"\n"), 0o755))
		version, err := Version(context.Background(), []string{"PATH=" + dir})
		if version != c.version || (err == nil) != (c.advice == "") || err != nil &&
			!strings.Contains(err.Error(), c.advice) {
			t.Errorf("%s: %q, %v", name, version, err)
		}
	}
	if _, err := Version(context.Background(), []string{"PATH=" + t.TempDir()}); err == nil {
		t.Error("no git has a version")
	}
}
