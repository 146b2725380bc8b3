package wording

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/regex"
)

var (
	telling = regex.Lazy(
		`(?i)\b(error|fail(ed|ure|s)?|panic|fatal|expected|want(ed)?|got|assert\w*|undefined|cannot|exception|traceback)\b|FAIL|✕|✗|✖|✘`)
	truncated = regex.Lazy(`(?m)^\[\.\.\. (\d+) (lines|bytes) truncated \.\.\.\]$`)
)

// Within keeps the lines of an output that matter, most lines of them: those that report a failure with the lines
// around them, or else the last ones. What is left out is counted where it stood.
func Within(output string, most int) string { return WithinAt(output, most, nil) }

// WithinAt is within that keeps the lines which name one of the places first.
func WithinAt(output string, most int, places []string) string {
	lines := strings.Split(strings.Trim(output, "\n"), "\n")
	if len(lines) <= most || most < 1 {
		return withGaps(lines, slices.Repeat([]bool{true}, len(lines)))
	}
	k := kept{keep: make([]bool, len(lines)), most: most}
	k.around(lines, func(line string) bool {
		return slices.ContainsFunc(places, func(p string) bool { return strings.Contains(line, p) })
	})
	k.around(lines, telling.MatchString)
	for i := len(lines) - 1; i >= 0 && k.n < most; i-- {
		if truncated.MatchString(lines[i]) && k.n > 0 { // what is before a gap says less than a gap of its own would hide
			break
		}
		k.mark(i)
	}
	return withGaps(lines, k.keep)
}

// kept marks the lines that are kept, most of them.
type kept struct {
	keep    []bool
	n, most int
}

func (k *kept) mark(i int) {
	if i >= 0 && i < len(k.keep) && !k.keep[i] && k.n < k.most {
		k.keep[i] = true
		k.n++
	}
}

// around marks the lines that matter with those around them.
func (k *kept) around(lines []string, matters func(string) bool) {
	for i, line := range lines {
		if matters(line) {
			for j := i - 2; j <= i+3; j++ {
				k.mark(j)
			}
		}
	}
}

// Places are the words by which an output names findings: a file with its line, or the message.
func Places(findings []loop.Finding) (list []string) {
	for _, f := range findings {
		switch {
		case f.File != "" && f.Line > 0:
			list = append(list, fmt.Sprintf("%s:%d", path.Base(f.File), f.Line)) // whatever directory the output names it from
		case len(f.Message) >= leastWords:
			list = append(list, f.Message)
		}
	}
	return list
}

// leastWords is how long a message has to be to find the line that it is from.
const leastWords = 8

// withGaps joins the lines that are kept. In each gap stands one line that counts what is missing, also what was
// missing there before.
func withGaps(lines []string, keep []bool) string {
	var out []string
	gap, bytes := 0, ""
	flush := func() {
		switch {
		case gap > 0:
			out = append(out, fmt.Sprintf("[... %d lines truncated ...]", gap))
		case bytes != "":
			out = append(out, bytes)
		}
		gap, bytes = 0, ""
	}
	for i, line := range lines {
		switch missing := truncated.FindStringSubmatch(line); {
		case missing != nil && missing[2] == "lines":
			n, err := strconv.ParseInt(missing[1], 10, 32)
			if err != nil { // an output may say anything
				n = 1
			}
			gap += int(n)
		case missing != nil:
			bytes = line
		case !keep[i]:
			gap++
		default:
			flush()
			out = append(out, line)
		}
	}
	flush()
	return strings.Join(out, "\n")
}

// LongLines shortens every line to most runes and says so.
func LongLines(s string, most int) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if n := utf8.RuneCountInString(line); n > most {
			lines[i] = fmt.Sprintf("%s [... %d characters truncated ...]", string([]rune(line)[:most]), n-most)
		}
	}
	return strings.Join(lines, "\n")
}
