package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// module writes testdata/module.txtar to a directory of its own.
func module(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/module.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range archive.Files {
		file := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestMeasure(t *testing.T) {
	found, err := measure(module(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		kind, name string
		n          int
	}{
		{"files in a circle", "a", 2},
		{"files in a circle", "b", 0},
		{"struct fields", "a.Wide", 16},
		{"requirement numbers", "a", 3},
		{"requirement numbers", "internal/fake", 0},
		{"exported but internal", "a.Alone", 1},
		{"exported but internal", "a.Wide", 0},
		{"exported but internal", "a.Part", 0},
		{"exported but internal", "a.OnWindows", 0},
		{"exported but internal", "a.First", 0},
	} {
		if n := found[want.kind][want.name]; n != want.n {
			t.Errorf("%s of %s: %d, want %d", want.kind, want.name, n, want.n)
		}
	}
}

// TestWorse: a figure beyond its bar fails unless it is on record, and what became better is only told.
func TestWorse(t *testing.T) {
	dir := module(t)
	record := filepath.Join(dir, "shape.json")
	var out bytes.Buffer
	args := []string{"-root", dir, "-record", record}
	err := run(args, &out)
	if err == nil || !strings.Contains(err.Error(), "struct fields: a.Wide: 16, at most 15: make several types of it") {
		t.Fatalf("without a record: %v", err)
	}
	if err := run(append(args, "-update"), &out); err != nil {
		t.Fatal(err)
	}
	if err := run(args, &out); err != nil {
		t.Fatalf("as recorded: %v", err)
	}
	one := filepath.Join(dir, "a", "one.go")
	source, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	more := append(source, "\n// A rule of S2-46.\n"...)
	if err := os.WriteFile(one, more, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(args, &out); err == nil || !strings.Contains(err.Error(), "requirement numbers: a: 4, at most 3") {
		t.Fatalf("one more requirement number: %v", err)
	}
	fewer := regexp.MustCompile(`S[0-9]+-[0-9]+`).ReplaceAll(source, nil)
	if err := os.WriteFile(one, fewer, 0o644); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := run(args, &out); err != nil || !strings.Contains(out.String(), "1 figures are better") {
		t.Fatalf("fewer requirement numbers: %v\n%s", err, &out)
	}
}
