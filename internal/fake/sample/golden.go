package sample

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
	if d := Diff(string(want), got); d != "" {
		t.Errorf("%s differs (- golden, + now):\n%s", name, d)
	}
}

// Diff shows the lines that differ between the first and the last that do.
func Diff(want, got string) string {
	if want == got {
		return ""
	}
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	for len(a) > from && len(b) > from && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	var out strings.Builder
	for _, line := range a[from:] {
		out.WriteString("-" + line + "\n")
	}
	for _, line := range b[from:] {
		out.WriteString("+" + line + "\n")
	}
	return out.String()
}
