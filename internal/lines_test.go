package internal_test

import (
	"encoding/json"
	"go/scanner"
	"go/token"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// ceilings are what internal/testdata/ceilings.json allows. All of them only fall.
type ceilings struct {
	Lines    int            `json:"lines"`    // code lines of production in all
	Packages map[string]int `json:"packages"` // and of each package; one may rise where others fall by more
	Style    map[string]int `json:"style"`    // hits of docs/internals/style.md by tier and place: "E docs"
	Shape    shape          `json:"shape"`
}

const ceilingsFile = "testdata/ceilings.json"

func readCeilings(t *testing.T) ceilings {
	t.Helper()
	var c ceilings
	if err := json.Unmarshal([]byte(document(t, ceilingsFile)), &c); err != nil {
		t.Fatalf("%s: %v", ceilingsFile, err)
	}
	return c
}

// lowering reports whether make ceilings runs the tests, to write down what has fallen.
func lowering() bool { return os.Getenv("RALPH_LOWER_CEILINGS") != "" }

// writeCeilings writes c, but never a total or a number of hits above what the file allows.
func writeCeilings(t *testing.T, c ceilings) {
	t.Helper()
	text, err := json.MarshalIndent(c, "", "\t")
	noError(t, err)
	noError(t, os.WriteFile(ceilingsFile, append(text, '\n'), 0o600))
}

// TestCodeLines holds the size of the code, which only falls: lines with code on them, without tests, doubles and what
// only the build uses.
func TestCodeLines(t *testing.T) {
	found, total := codeLines(t)
	allowed := readCeilings(t)
	if lowering() {
		if total > allowed.Lines {
			t.Fatalf("%d code lines, at most %d: the total only falls; take out %d", total, allowed.Lines, total-allowed.Lines)
		}
		allowed.Lines, allowed.Packages = total, found
		writeCeilings(t, allowed)
		return
	}
	sum := 0
	for _, n := range allowed.Packages {
		sum += n
	}
	if sum != allowed.Lines {
		t.Errorf("%s: the packages may have %d lines, all together %d: both must be the same", ceilingsFile, sum, allowed.Lines)
	}
	for _, pkg := range slices.Sorted(maps.Keys(found)) {
		if found[pkg] > allowed.Packages[pkg] {
			t.Errorf("%s has %d code lines, at most %d: take out as many elsewhere, then run make ceilings", pkg, found[pkg], allowed.Packages[pkg])
		}
	}
	if total < allowed.Lines-300 {
		t.Errorf("%d code lines, %d are allowed: run make ceilings, so that they do not come back", total, allowed.Lines)
	}
}

// codeLines counts the lines of production by package.
func codeLines(t *testing.T) (by map[string]int, total int) {
	t.Helper()
	by = map[string]int{}
	for _, s := range sources(t) {
		if s.room != "fake" {
			n := linesWithCode(s.text)
			by[path.Dir(s.path)] += n
			total += n
		}
	}
	return by, total
}

// linesWithCode counts the lines of a Go file that hold more than white space and comments.
func linesWithCode(source string) (n int) {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(source))
	var s scanner.Scanner
	s.Init(file, []byte(source), nil, 0)
	last := 0
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return n
		}
		if tok == token.SEMICOLON && literal == "\n" {
			continue // the end of a line, put in by the scanner
		}
		first := file.Line(pos)
		for i, line := range strings.Split(literal, "\n") { // a string can have several lines
			if first+i > last && (i == 0 || strings.TrimSpace(line) != "") {
				n++
				last = first + i
			}
		}
	}
}
