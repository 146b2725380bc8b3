package github

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// What an excerpt of a log keeps: lines before and behind one with an error, such lines, the last lines, bytes of a
// line and of all.
const (
	linesBefore  = 30
	linesBehind  = 3
	mostErrors   = 10
	linesAtEnd   = 100
	mostLineText = 1000
	mostExcerpt  = 48 << 10
)

// excerptOf keeps the lines of a job's log that matter: those around ##[error], and the last ones. Where lines are left
// out, one says how many.
func excerptOf(log string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	keep := make([]bool, len(lines))
	mark := func(from, to int) {
		for i := max(from, 0); i < min(to, len(lines)); i++ {
			keep[i] = true
		}
	}
	mark(len(lines)-linesAtEnd, len(lines))
	seen := 0
	for i, line := range lines {
		lines[i] = tidy(line)
		if seen < mostErrors && strings.HasPrefix(lines[i], "##[error]") {
			seen++
			mark(i-linesBefore, i+linesBehind+1)
		}
	}
	return assemble(lines, keep)
}

// assemble joins what is kept. When it is too long the beginning goes: a log ends with what decided.
func assemble(lines []string, keep []bool) string {
	var out []string
	left := 0
	for i, line := range lines {
		if !keep[i] {
			left++
			continue
		}
		if left > 0 {
			out = append(out, fmt.Sprintf("[… %d lines …]", left))
			left = 0
		}
		out = append(out, line)
	}
	text := strings.Join(out, "\n")
	if len(text) > mostExcerpt {
		text = text[len(text)-mostExcerpt:]
		_, text, _ = strings.Cut(text, "\n")
		text = "[…]\n" + text
	}
	return text
}

// tidy is a line without the time that the runner puts in front, without colors and other control characters, and not
// too long.
func tidy(line string) string {
	line = strings.TrimPrefix(line, "\ufeff")
	if stamp, rest, ok := strings.Cut(line, " "); ok {
		if _, err := time.Parse(time.RFC3339Nano, stamp); err == nil {
			line = rest
		}
	}
	return safetext.ShortenBytes(strings.TrimRight(visible(line), " "), mostLineText)
}

// visible leaves ANSI sequences and control characters away. Text that a carriage return overwrote was a progress bar: only
// the last is kept.
func visible(line string) string {
	line = strings.TrimRight(line, "\r")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' {
			return -1
		}
		return r
	}, ansi.Strip(line[strings.LastIndexByte(line, '\r')+1:]))
}
