package failure

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is read by hand is what these patterns match.
var (
	colourPattern = lazy(`\x1b\[[0-9;?]*[A-Za-z]`)
	prefixPattern = lazy(`^(?:[@\w./-]+(?:[: ][\w:.-]+)?: |\[[\w@/:.-]+\] |[@\w./:-]+ +[|│] )`)
	resultPattern = lazy(`^ *--- (PASS|FAIL|SKIP|BENCH): (\S+)`)
)

func TestReadByHand(t *testing.T) {
	lines := []string{
		"web:test: ok", "web: ok", "web:test:ok", "packages/a test: x", "packages/a test:unit: x", "@scope/a: x", "a b c: x",
		"[1] x",
		"[a/b:c] x", "[] x", "[a b] x", "web-1  | x", "web:1 │ x", "web-1| x", "a:: x", "a::b: x", "a: b: x", ": x", " | x",
		"a ", "a",
		"\x1b[1;32mgreen\x1b[0m", "\x1b[", "\x1b[1", "\x1b]0;t\x07x", "\x1b\x1b[mx", "x\x1b[?25l", "\x1b[1\x1b[2mx",
		"--- PASS: TestA (0.00s)", "    --- FAIL: TestA/b (0.00s)", "--- SKIP: T", "--- pass: T", "--- PASS: ", "--- PASS:T",
		"--- BENCH: B\t1", "---  PASS: T", "--- PASS:  T",
	}
	for _, text := range append(corpusTexts(t), recordedRuns(t)...) {
		lines = append(lines, strings.Split(text, "\n")...)
	}
	for _, line := range lines {
		plain := colourPattern.ReplaceAllString(line, "")
		if got := string(withoutColours(nil, []byte(line))); got != plain {
			t.Errorf("colours of %q: %q, want %q", line, got, plain)
		}
		if plain == "" {
			continue
		}
		if got, want := prefixLen([]byte(plain)), len(prefixPattern.FindString(plain)); got != want {
			t.Errorf("prefix of %q: %d, want %d", plain, got, want)
		}
		m := append(resultPattern.FindStringSubmatch(plain), "", "", "")
		if word, test := goResult(plain); word != m[1] || test != m[2] {
			t.Errorf("result of %q: %q %q, want %q %q", plain, word, test, m[1], m[2])
		}
	}
}

// recordedRuns are the outputs of testdata/ran.
func recordedRuns(t *testing.T) (texts []string) {
	files, err := filepath.Glob("testdata/ran/*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, output, _ := strings.Cut(string(content), "\n")
		texts = append(texts, output)
	}
	return texts
}

// TestNobodyIsPassedOver: a line that a runner knows is one that may tell.
func TestNobodyIsPassedOver(t *testing.T) {
	known := 0
	for _, text := range append(corpusTexts(t), recordedRuns(t)...) {
		c := NewTestCounter()
		for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
			s := bytes.TrimRight(withoutColours(nil, []byte(line)), " \t")
			if len(s) == 0 {
				continue
			}
			for _, from := range []int{0, prefixLen(s)} {
				if from < len(s) && c.known(string(s[from:])) {
					known++
					if !mayTell(s[from:]) {
						t.Errorf("a runner knows %q", s[from:])
					}
				}
			}
		}
	}
	if known < 1000 {
		t.Errorf("only %d lines are known", known)
	}
}
