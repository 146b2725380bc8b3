package planrun

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/loop"
)

func forgeries(t *testing.T, s loop.State) {
	t.Helper()
	for name, forge := range map[string]func(file string) error{
		"untouched": func(string) error { return nil },
		"removed":   os.Remove,
		"another":   func(f string) error { return os.WriteFile(f, []byte(`{"skipReview":true}`), 0o600) },
		"same size": func(f string) error {
			text, _ := os.ReadFile(f)
			return os.WriteFile(f, []byte(strings.Replace(string(text), "implement", "review   ", 1)), 0o600)
		},
		"a link": func(f string) error { return os.Rename(f, f+".x") },
		"a directory": func(f string) error {
			if err := os.Remove(f); err != nil {
				return err
			}
			return os.MkdirAll(filepath.Join(f, "x"), 0o755)
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := &active{
				dir: t.TempDir(), clock: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
			}
			if a.forged() {
				t.Error("forged before it was written")
			}
			if err := a.write(s); err != nil {
				t.Fatal(err)
			}
			if err := forge(a.path()); err != nil {
				t.Fatal(err)
			}
			if name == "a link" {
				if err := os.Symlink(a.path()+".x", a.path()); err != nil {
					t.Fatal(err)
				}
			}
			if got := a.forged(); got != (name != "untouched") {
				t.Errorf("forged: %v", got)
			}
			if err := a.write(s); err != nil { // and it is written anew, whatever lies there
				t.Fatal(err)
			}
			if a.forged() {
				t.Error("what was written anew counts as forged")
			}
			a.remove()
			if _, err := os.Lstat(a.path()); err == nil {
				t.Error("it is still there")
			}
		})
	}
}
