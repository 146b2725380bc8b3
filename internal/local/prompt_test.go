package local

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/session"
)

func TestNearestSettings(t *testing.T) {
	for name, c := range map[string]struct {
		there []string // files and directories, from the top
		want  string
	}{
		"beside the prompt": {[]string{"clone/.git/", "clone/a/b/.ralph/settings.json",
			"clone/.ralph/settings.json"}, "clone/a/b"},
		"above, in the clone": {[]string{"clone/.git/", "clone/a/b/", "clone/a/.ralph/settings.json",
			"clone/.ralph/settings.json"}, "clone/a"},
		"at the top of the clone": {[]string{"clone/.git/", "clone/a/b/", "clone/.ralph/settings.json"},
			"clone"},
		"above the clone they are somebody else's": {[]string{".ralph/settings.json", "clone/.git/", "clone/a/b/"},
			"clone/a/b"},
		"outside of a clone, too": {[]string{".ralph/settings.json", "clone/a/b/"}, "clone/a/b"},
		"a worktree's .git is a file": {[]string{"clone/.git", "clone/a/b/", "clone/.ralph/settings.json"},
			"clone"},
		"none": {[]string{"clone/.git/", "clone/a/b/"}, "clone/a/b"},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			for _, path := range append(c.there, "clone/a/b/") {
				dir := filepath.Dir(path)
				if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
					t.Fatal(err)
				}
				if path[len(path)-1] != '/' {
					if err := os.WriteFile(filepath.Join(top, path), []byte("{}"), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			if got, _ := filepath.Rel(top, session.Nearest(filepath.Join(top, "clone/a/b"))); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
