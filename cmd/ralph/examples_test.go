package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestExamples: every command has an example, and each line of one is a command line that the grammar takes, read as a
// shell reads it.
func TestExamples(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&cli{}, kong.Name("ralph"), kong.Vars{"version": version})
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range parser.Model.Leaves(true) {
		path := strings.TrimPrefix(leaf.Path(), "ralph ")
		shown := examplesOf(path)
		if shown == "" {
			t.Errorf("ralph %s has no example", path)
			continue
		}
		for line := range strings.SplitSeq(shown, "\n") {
			if len(line) > 76 { // with the indentation 80
				t.Errorf("%s: is too long for a screen of 80 columns", line)
			}
			args := shellWords(t, line)
			if command, err := parser.Parse(args); err != nil || command.Selected() != leaf {
				t.Errorf("%s: is not taken for ralph %s: %v", line, path, err)
			}
		}
	}
}

// shellWords are the arguments that a shell gives to ralph, which it finds in the line; other programs do nothing.
func shellWords(t *testing.T, line string) []string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "event.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `go() { :; }; codex() { :; }; ralph() { printf '%s\n' "$@" >words; }`+"\n"+line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	words, err := os.ReadFile(filepath.Join(dir, "words"))
	if err != nil {
		t.Fatalf("%s: calls no ralph", line)
	}
	return strings.Split(strings.TrimSuffix(string(words), "\n"), "\n")
}
