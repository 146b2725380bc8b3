package internal_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestOneFunctionMakesBorders: text of others gets into a prompt between borders that safetext.Border makes, which
// nothing within can end. Nobody else writes such a line.
func TestOneFunctionMakesBorders(t *testing.T) {
	made := false
	for _, s := range sources(t) {
		if s.room == "fake" || s.room == "judged" { // they read what was made
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			text, ok := n.(*ast.BasicLit)
			if !ok || text.Kind != token.STRING || !strings.Contains(text.Value, "--- begin ") &&
				!strings.Contains(text.Value, "--- end ") {
				return true
			}
			if s.path == "internal/safetext/cut.go" {
				made = true
			} else {
				t.Errorf("%s has %s: safetext.Border sets text between borders", s.path, text.Value)
			}
			return true
		})
	}
	if !made {
		t.Error("safetext.Border makes no border")
	}
}

// TestOneConsole: what is printed goes through safetext.Console, which the command line makes once. Only cmd gets at
// what is below it: to draw on a terminal, and to speak to a runner.
func TestOneConsole(t *testing.T) {
	below := 0
	for _, s := range sources(t) {
		for _, used := range selected(s.file) {
			switch {
			case used == "safetext.Raw":
				below++
				if s.room != "cmd" {
					t.Errorf("%s uses safetext.Raw: what it prints would not be inert", s.path)
				}
			case (used == "os.Stdout" || used == "os.Stderr") && !slices.Contains(stdStreams, s.path) && s.room != "fake":
				t.Errorf("%s uses %s: what it prints would not be inert", s.path, used)
			}
		}
	}
	if below == 0 {
		t.Error("nobody uses safetext.Raw any more")
	}
}

// TestNoRequirementNumbers: numbers of requirements say nothing to whoever has no list of them.
func TestNoRequirementNumbers(t *testing.T) {
	number := regexp.MustCompile(`\b(S[0-9]{1,2}-[0-9]{1,3}|B-[0-9]{2}|C[0-9]{1,2}|S[0-9])\b`)
	for _, s := range sources(t) {
		for _, group := range s.file.Comments {
			if found := number.FindString(group.Text()); found != "" && s.room != "fake" {
				t.Errorf("%s speaks of %s in a comment: say the rule in words", s.path, found)
			}
		}
	}
}

// stdStreams are files that may use the standard streams themselves: main hands them on, and a sandbox begins before
// there is a command.
var stdStreams = []string{"cmd/ralph/main.go", "internal/proc/inside/enter_other.go",
	"internal/proc/inside/enter_linux.go"}
