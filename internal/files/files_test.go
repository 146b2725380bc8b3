package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/invalid"
)

func TestReadOpensNothingButPlainFiles(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	write(t, filepath.Join(dir, "f"), "12345")
	for _, c := range []struct {
		name, want string
		most       int64
	}{
		{"f", "", 5}, {"f", "it has 5 bytes; must be at most 4", 4}, {".", "not a regular file", 5}, {"none", "no such file", 5},
		{"../" + filepath.Base(dir) + "/f", "escapes", 5},
	} {
		text, err := ReadIn(root, c.name, c.most)
		if c.want == "" && (err != nil || string(text) != "12345") ||
			c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %q, %v; want %q", c.name, text, err, c.want)
		}
	}
	if _, ok, err := ReadIfThere(root, "none", 5); ok || err != nil {
		t.Errorf("what is not there: %v, %v", ok, err)
	}
	if _, ok, err := ReadIfThere(root, "f", 4); !ok || !invalid.Is(err) {
		t.Errorf("what is too large: %v, %v", ok, err)
	}
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "a directory") {
		t.Errorf("a directory: %v", err)
	}
}

func TestCreateKeepsWhatIsThere(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for i, want := range []bool{true, false} {
		if made, err := Create(root, "a/b", "first"); made != want || err != nil {
			t.Errorf("%d: %v, %v", i, made, err)
		}
	}
	if err := ReplaceIn(root, "a/b", "second"); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadIn(root, "a/b", 10); string(text) != "second" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if left, _ := fs.Glob(root.FS(), "a/*"); len(left) != 1 {
		t.Errorf("left: %q", left)
	}
}

func TestAdvise(t *testing.T) {
	if err := Advise(&fs.PathError{Op: "open", Path: "x", Err: os.ErrPermission}); !strings.Contains(
		err.Error(), "run ralph as a user",
	) {
		t.Error(err)
	}
	if err := errors.New("x"); !errors.Is(Advise(err), err) {
		t.Error("another error is changed")
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
