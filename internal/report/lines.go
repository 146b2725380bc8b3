package report

import (
	"fmt"
	"strings"
)

var (
	telling   = lazy(`(?i)\b(error|fail(ed|ure|s)?|panic|fatal|expected|want(ed)?|got|assert\w*|undefined|cannot|exception|traceback)\b|FAIL|✕|✗|✖|✘`)
	truncated = lazy(`(?m)^\[\.\.\. \d+ (lines|bytes) truncated \.\.\.\]$`)
)

// within keeps the lines of an output that matter, most lines of them: those that tell of a failure with the lines around them, or
// else the last ones. What is left out is counted where it stood.
func within(output string, most int) string {
	lines := strings.Split(strings.Trim(output, "\n"), "\n")
	if len(lines) <= most || most < 1 {
		return strings.Join(lines, "\n")
	}
	keep := make([]bool, len(lines))
	kept := 0
	mark := func(i int) {
		if i >= 0 && i < len(lines) && !keep[i] && kept < most {
			keep[i] = true
			kept++
		}
	}
	for i, line := range lines {
		if telling.MatchString(line) {
			for j := i - 2; j <= i+3; j++ {
				mark(j)
			}
		}
	}
	for i := len(lines) - 1; i >= 0 && kept < most; i-- {
		mark(i)
	}
	return withGaps(lines, keep)
}

func withGaps(lines []string, keep []bool) string {
	var out []string
	gap := 0
	flush := func() {
		if gap > 0 {
			out = append(out, fmt.Sprintf("[... %d lines truncated ...]", gap))
		}
		gap = 0
	}
	for i, line := range lines {
		if !keep[i] {
			gap++
			continue
		}
		flush()
		out = append(out, line)
	}
	flush()
	return strings.Join(out, "\n")
}
