//go:build unix

package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/loop"
)

// What is done to a journal's place while it is open loses none of its records (a "git clean -fdx" of an agent does the
// first).
func TestJournalOutlivesItsPlace(t *testing.T) {
	for name, spoil := range map[string]func(dir, name string) error{
		"the directory is gone": func(dir, _ string) error { return os.RemoveAll(filepath.Dir(dir)) },
		"the file is gone":      func(_, name string) error { return os.Remove(name) },
		"another file":          func(_, name string) error { return replace(name, "mine\n") },
		"a link": func(dir, name string) error {
			return errors.Join(os.Remove(name), os.Symlink(filepath.Join(dir, "victim"), name))
		},
		"a pipe": func(_, name string) error { return errors.Join(os.Remove(name), syscall.Mkfifo(name, 0o600)) },
	} {
		dir := filepath.Join(t.TempDir(), "runs", "1")
		j := open(t, dir)
		if _, err := j.Append(start("r")); err != nil {
			t.Fatal(err)
		}
		noError(t, spoil(dir, j.name))
		for range 2 {
			if _, err := j.Append(loop.Record{Type: loop.TurnBegun, Iteration: 1}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if raw, err := os.ReadFile(j.name); err != nil || !bytes.Equal(raw, j.Bytes()) ||
			bytes.Count(raw, []byte("\n")) != 3 {
			t.Errorf("%s: the file holds %q, %v", name, raw, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "victim")); err == nil {
			t.Errorf("%s: something was written through it", name)
		}
	}
}

func replace(name, text string) error {
	return errors.Join(os.Remove(name), os.WriteFile(name, []byte(text), 0o600))
}

// A place that leads elsewhere is refused, and nothing is written there.
func TestJournalThatIsLedAway(t *testing.T) {
	for _, level := range []string{"ralph", "ralph/runs", "ralph/runs/1"} {
		root, outside := t.TempDir(), t.TempDir()
		j := open(t, filepath.Join(root, "ralph", "runs", "1"))
		if _, err := j.Append(start("r")); err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(root, level)
		noError(t, errors.Join(os.RemoveAll(at), os.Symlink(outside, at)))
		if _, err := j.Append(start("r")); err == nil || !strings.Contains(err.Error(), at+" now leads to "+outside) {
			t.Errorf("%s: %v", level, err)
		}
		if left, err := os.ReadDir(outside); len(left) > 0 || err != nil {
			t.Errorf("%s: %v was written outside, %v", level, left, err)
		}
	}
}

// A link that was there from the beginning is the owner's.
func TestJournalBehindALink(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	noError(t, os.Symlink(outside, filepath.Join(root, "ralph")))
	j := open(t, filepath.Join(root, "ralph", "runs", "1"))
	noError(t, os.RemoveAll(filepath.Join(outside, "runs")))
	if _, err := j.Append(start("r")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(outside, "runs", "1", File)); err != nil {
		t.Error(err)
	}
}

// Whoever opens a pipe waits for ever, so nobody does.
func TestPipesAreNotOpened(t *testing.T) {
	dir := t.TempDir()
	noError(t, syscall.Mkfifo(filepath.Join(dir, File), 0o600))
	if _, ok, err := Find(dir, "issue-1"); ok || err != nil {
		t.Errorf("found: %v, %v", ok, err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "is not a regular file; remove it") {
		t.Errorf("journal: %v", err)
	}
}
