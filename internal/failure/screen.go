package failure

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

const mostLine = 4 << 10 // bytes of a line that are examined

// printed is what a terminal would show of a line, roughly: the last text that was written over it, with one kind of
// quotes and of spaces, and without spinners.
func printed(line string) string {
	line = erased.ReplaceAllString(line, "\r")
	shown := ""
	for over := range strings.SplitSeq(ansi.Strip(right.ReplaceAllString(line, " ")), "\r") {
		if over = strings.Map(visible, over); over != "" {
			shown = over
		}
	}
	var kept []rune
	for _, r := range shown {
		if r == '\b' {
			kept = kept[:max(0, len(kept)-1)]
		} else {
			kept = append(kept, r)
		}
	}
	return string(kept)
}

var (
	// erased matches what moves the cursor to the beginning of the line, or wipes it.
	erased = lazy(`\x1b\[(?:[01]?G|[12]K|2J)`)
	right  = lazy(`\x1b\[\d*C`)
	// raised matches what moves the cursor up: progress is drawn again over what was there.
	raised = lazy(`\x1b\[(\d*)[AF]`)
)

// risen is how many lines up the terminal's cursor goes.
func risen(line string) (up int) {
	for _, m := range raised.FindAllStringSubmatch(line, -1) {
		up += min(max(number(m[1]), 1), 1000)
	}
	return up
}

// visible is what is kept of a character.
func visible(r rune) rune {
	switch {
	case r == '\b' || r == '\t':
		return r
	case r == unicode.ReplacementChar, r >= 0x2800 && r <= 0x28ff, unicode.Is(unicode.C, r):
		return -1
	case strings.ContainsRune("‘’‛`´′", r):
		return '\''
	case strings.ContainsRune("“”„", r):
		return '"'
	case unicode.IsSpace(r):
		return ' '
	}
	return r
}
