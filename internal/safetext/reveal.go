package safetext

import (
	"fmt"
	"strings"
)

// Revealed is a line of which everything can be seen: what is invisible may be what is wrong with it, and stands there
// as its number, "⟦U+202E⟧". A carriage return at the end is left out; invalid UTF-8 becomes U+FFFD.
func Revealed(line string) string {
	line = strings.ToValidUTF8(strings.TrimSuffix(line, "\r"), "\uFFFD")
	left := Visible(line)
	if left == line {
		return line
	}
	return revealed(line, []rune(left))
}

// revealed writes out the characters of a line that are not among those that are left when it has only visible ones.
func revealed(line string, left []rune) string {
	var b strings.Builder
	for _, r := range line {
		for len(left) > 0 && left[0] == '\n' {
			left = left[1:]
		}
		if len(left) > 0 && left[0] == r {
			b.WriteRune(r)
			left = left[1:]
			continue
		}
		fmt.Fprintf(&b, "⟦U+%04X⟧", r)
	}
	return b.String()
}
