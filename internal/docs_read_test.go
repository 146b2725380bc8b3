package internal_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

func document(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	noError(t, err)
	return string(text)
}

// table is the rows of the only table with this header.
func table(t *testing.T, text string, header ...string) [][]string {
	t.Helper()
	_, rest, found := strings.Cut(text, "\n| "+strings.Join(header, " | ")+" |\n")
	if !found {
		t.Fatalf("there is no table %q", header)
	}
	var rows [][]string
	for i, line := range strings.Split(rest, "\n") {
		if !strings.HasPrefix(line, "|") {
			break
		}
		if i > 0 { // the line of dashes
			rows = append(rows, cells(line))
		}
	}
	return rows
}

func cells(line string) []string {
	line = strings.ReplaceAll(strings.Trim(line, "|"), `\|`, "\x00")
	out := strings.Split(line, "|")
	for i := range out {
		out[i] = strings.ReplaceAll(strings.TrimSpace(out[i]), "\x00", `\|`)
	}
	return out
}

// fenced is the code blocks of a language.
func fenced(text, language string) []string {
	var blocks []string
	for _, match := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		blocks = append(blocks, match[1])
	}
	return blocks
}

// names is what the first group of a pattern matches in a text.
func names(pattern, text string) map[string]bool {
	found := map[string]bool{}
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		found[match[1]] = true
	}
	return found
}

// help is what ralph says of itself, or of a command.
func help(t *testing.T, command ...string) string {
	t.Helper()
	program, err := build()
	noError(t, err)
	out, err := exec.Command(program, append(command, "--help")...).CombinedOutput()
	if err != nil {
		t.Fatalf("ralph %v --help: %v\n%s", command, err, out)
	}
	return string(out)
}

// build builds ralph once.
var build = sync.OnceValues(func() (string, error) {
	program := filepath.Join(built, "ralph")
	out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", program,
		"../cmd/ralph").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building ralph: %w\n%s", err, out)
	}
	return program, nil
})

// built is where build puts it.
var built string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if built, err = os.MkdirTemp("", "ralph-docs-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(built)
		return m.Run()
	}())
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
