package sample

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Goldens compares texts with their golden files, and wants no other file there but those that are named.
func Goldens(t *testing.T, texts map[string]string, elsewhere ...string) {
	t.Helper()
	for name, got := range texts {
		t.Run(name, func(t *testing.T) { Golden(t, name, got) })
	}
	known, _ := filepath.Glob(filepath.Join("testdata", "golden", "*"))
	for _, file := range known {
		name := filepath.Base(file)
		if _, used := texts[name]; !used && !slices.Contains(elsewhere, name) {
			t.Errorf("%s belongs to no test", file)
		}
	}
}

// Golden compares a text with its golden file, or writes that with the flag -update.
func Golden(t testing.TB, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; go test -update writes it", err)
	}
	if d := diff.Diff("golden", want, "now", []byte(got)); d != nil {
		t.Errorf("%s differs:\n%s", name, d)
	}
}
