package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/invalid"
)

func TestASecondProcessOnOneFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?c=d#e%20") // of which SQLite's address means none
	first := got[*Store](t)(Open(within(t), Options{Dir: dir}))
	_, err := Open(within(t), Options{Dir: dir})
	if !invalid.Is(err) || !strings.Contains(err.Error(), "another process") {
		t.Error(err)
	}
	ok(t, first.Close())
	again := got[*Store](t)(Open(within(t), Options{Dir: dir}))
	ok(t, again.Close())
	for _, name := range []string{File, lockFile} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Error(name, info, err)
		}
	}
}

// TestPragmas: what was acknowledged is synced, and free pages are given back.
func TestPragmas(t *testing.T) {
	w := newWorld(t)
	for name, want := range map[string]int{"synchronous": 2, "auto_vacuum": 2, "foreign_keys": 1} {
		if n := got[int](t)(one[int](within(t), w.Store, "", "PRAGMA "+name)); n != want {
			t.Error(name, n)
		}
	}
	ok(t, w.Check(within(t)))
	ok(t, w.Check(within(t)))
	if _, err := Open(within(t), Options{}); err == nil {
		t.Error("no directory is given")
	}
}
