package check

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/proc"
)

// printed runs a check whose command prints a text in pieces of a size, and fails. It returns what came to the console.
func printed(t *testing.T, c *Command, text string, piece int) (console string, output string) {
	t.Helper()
	var shown strings.Builder
	c.Console = &shown
	c.start = func(_ context.Context, s proc.Spec) (proc.Result, error) {
		for rest := text; rest != ""; {
			n := min(piece, len(rest))
			if _, err := io.WriteString(s.Stdout, rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		return proc.Result{Class: proc.Exited, Exit: 1}, nil
	}
	o, err := c.logged(context.Background(), "check.log")
	if err != nil {
		t.Fatal(err)
	}
	return shown.String(), o.output
}

// numbered are so many lines of 16 bytes.
func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "this is %07d\n", i)
	}
	return b.String()
}

// TestLongOutputIsShownInPart: a person sees the first and the last 64 KiB, and one line that says what is between.
func TestLongOutputIsShownInPart(t *testing.T) {
	const ends = keptBytes / 16 // lines
	for name, tt := range map[string]struct {
		text        string
		first, last string // of the lines that are shown
		lines       int
		cut         bool // something is left out
	}{
		"short":              {numbered(0, 10), "this is 0000000", "this is 0000009", 10, false},
		"just all":           {numbered(0, 2*ends), "this is 0000000", "this is 0008191", 2 * ends, false},
		"a line too long":    {numbered(0, 2*ends+1), "this is 0000000", "this is 0008192", 2 * ends, true},
		"kept and not shown": {numbered(0, 9_000), "this is 0000000", "this is 0008999", 2 * ends, true},
		"long":               {numbered(0, 100_000), "this is 0000000", "this is 0099999", 2 * ends, true},
		"no end of line":     {numbered(0, 100_000) + "end", "this is 0000000", "end", 2 * ends, true},
		"one line": {strings.Repeat("x", 1<<20), strings.Repeat("x", maxConsoleLine) + " [...]",
			strings.Repeat("x", maxConsoleLine) + " [...]", 2, true},
		"a long line, others": {strings.Repeat("x", 100<<10) + "\nb\nc\n", strings.Repeat("x", maxConsoleLine) + " [...]",
			"c", 3, true},
	} {
		for _, piece := range []int{1000, 64 << 10, len(tt.text)} {
			t.Run(fmt.Sprintf("%s/%d", name, piece), func(t *testing.T) {
				c := command(t, "")
				c.LogAs = "logs"
				console, _ := printed(t, c, tt.text, piece)
				var lines []string
				between := ""
				for line := range strings.Lines(console) {
					line = strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "  │ ")
					if strings.HasPrefix(line, "[... ") {
						between += line
						continue
					}
					lines = append(lines, line)
				}
				if len(lines) != tt.lines || lines[0] != tt.first || lines[len(lines)-1] != tt.last {
					t.Errorf("%d lines from %.30q to %.30q, want %d", len(lines), lines[0], lines[len(lines)-1], tt.lines)
				}
				if want := "[... more is in " + filepath.Join("logs", "check.log") + " ...]"; tt.cut != (between == want) ||
					!tt.cut && between != "" {
					t.Errorf("between: %q", between)
				}
				logged, err := os.ReadFile(filepath.Join(c.LogDir, "check.log"))
				if err != nil || string(logged) != tt.text {
					t.Errorf("the log has %d bytes of %d, %v", len(logged), len(tt.text), err)
				}
			})
		}
	}
}

// TestSecretsAtTheCut: one that lies where an output is cut, wherever in it, is neither kept nor shown, nor is a part
// of it.
func TestSecretsAtTheCut(t *testing.T) {
	const secret = "correct-horse-battery-staple"
	var looks []*regexp.Regexp // a pattern each: those that begin with a text are fast
	for _, pattern := range []string{secret, `ghp_\w{16,}`,
		`(?s)-----BEGIN PRIVATE KEY-----.*?(?:-----END PRIVATE KEY-----|\z)`} {
		looks = append(looks, regexp.MustCompile(pattern))
	}
	key := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat(strings.Repeat("k3y", 21)+"\n", 60) +
		"-----END PRIVATE KEY-----"
	for name, tt := range map[string]struct{ hidden, part, filler string }{
		"a known one":             {secret, "-", "x"},
		"a known one in lines":    {secret, "-", "xxx\n"},
		"one known by its looks":  {"ghp_" + strings.Repeat("Qw9", 13), "Qw9", "x"},
		"a private key":           {key, "k3y", "xxx\n"},
		"a private key in a line": {strings.ReplaceAll(key, "\n", `\n`), "k3y", "x"},
	} {
		t.Run(name, func(t *testing.T) {
			filler := strings.Repeat(tt.filler, 200<<10/len(tt.filler))
			step := max(1, len(tt.hidden)/4)
			var at []int // bytes from either end
			for _, cut := range []int{keptBytes, keptBytes + redactionMargin} {
				for from := cut - 2*len(tt.hidden); from < cut+len(tt.hidden); from += step {
					at = append(at, from)
				}
			}
			for _, n := range at {
				for _, text := range []string{filler[:n] + tt.hidden + filler[n:], filler[n:] + tt.hidden + filler[:n]} {
					c := command(t, "")
					c.Redact = func(s string) string {
						for _, look := range looks {
							s = look.ReplaceAllString(s, "[redacted]")
						}
						return s
					}
					console, output := printed(t, c, text, 64<<10)
					if strings.Contains(output, tt.part) {
						t.Fatalf("%d bytes from an end: kept in the output", n)
					}
					// what is shown as it comes is redacted line by line, by whoever shows it
					_, end, _ := strings.Cut(console, "[... more is in ")
					if strings.Contains(end, tt.part) {
						t.Fatalf("%d bytes from an end: shown at the end", n)
					}
				}
			}
		})
	}
}

// TestFailureOfALongOutput: what a runner sums up in the end counts, however much stands before it.
func TestFailureOfALongOutput(t *testing.T) {
	filler := strings.Repeat("=== RUN   TestA\n--- PASS: TestA (0.00s)\n", 50_000)
	c := command(t, "")
	c.start = func(_ context.Context, s proc.Spec) (proc.Result, error) {
		_, err := io.WriteString(s.Stdout, filler+"--- FAIL: TestB (0.00s)\n"+filler+"FAIL\nFAIL\tp\t0.1s\nFAIL\n")
		return proc.Result{Class: proc.Exited}, err
	}
	if v := outcomeOf(t, c); v.Pass || !strings.Contains(v.Reason, "its output says that a test failed") {
		t.Errorf("verdict: %v, %s", v.Pass, v.Reason)
	}
}
