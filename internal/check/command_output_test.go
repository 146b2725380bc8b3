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
	noError(t, err)
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

// TestLongOutputIsShownInPart: a person sees the first 64 KiB in whole lines, each made harmless, and where the rest is.
func TestLongOutputIsShownInPart(t *testing.T) {
	const most = keptBytes / 16 // lines
	more := "  │ [... more is in " + filepath.Join("logs", "check.log") + " ...]\n"
	for name, tt := range map[string]struct {
		text  string
		lines int
		last  string
	}{
		"just all":        {numbered(0, most), most, "  │ this is 0004095\n"},
		"no end of line":  {"a\nend", 2, "  │ end\n"},
		"what is no text": {"\x1b[2J##[group]x\n", 1, "  │ ## [group]x\n"},
		"long":            {numbered(0, 100_000), most + 1, more},
		"within a line":   {"x" + numbered(0, 100_000), most, more},
		"one line":        {strings.Repeat("x", 1<<20), 1, more},
	} {
		for _, piece := range []int{1000, len(tt.text)} {
			c := command(t, "")
			c.LogAs = "logs"
			console, _ := printed(t, c, tt.text, piece)
			if n := strings.Count(console, "\n"); n != tt.lines || !strings.HasSuffix(console, tt.last) {
				t.Errorf("%s/%d: %d lines, want %d; it ends with %q", name, piece, n, tt.lines, console[max(0, len(console)-80):])
			}
			logged, err := os.ReadFile(filepath.Join(c.LogDir, "check.log"))
			if err != nil || string(logged) != tt.text {
				t.Errorf("the log has %d bytes of %d, %v", len(logged), len(tt.text), err)
			}
		}
	}
}

// TestSecretsAtTheCut: one that lies where an output is cut, wherever in it, is not kept, nor is a part of it.
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
			step := max(1, len(tt.hidden)/2)
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
					// what is shown as it comes is redacted line by line, by whoever shows it
					if _, output := printed(t, c, text, 64<<10); strings.Contains(output, tt.part) {
						t.Fatalf("%d bytes from an end: kept in the output", n)
					}
				}
			}
		})
	}
}
