package failure

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const mostLine = 4 << 10 // bytes of a line that are looked at

// risen is how many lines up the terminal's cursor goes: progress is drawn anew over what was there.
func risen(line string) int {
	up := 0
	for {
		i := strings.IndexByte(line, 0x1b)
		if i < 0 {
			return up
		}
		line = line[i:]
		n := control(line)
		if last := line[n-1]; n > 2 && (last == 'A' || last == 'F') {
			up += parameter(line[:n])
		}
		line = line[n:]
	}
}

// parameter is the number in a control sequence, at least 1, at most 1000.
func parameter(sequence string) int {
	n, _ := strconv.Atoi(sequence[2 : len(sequence)-1])
	return min(max(n, 1), 1000)
}

// printed is what a terminal would show of a line, roughly: the last text that was written over it.
func printed(line string) string {
	var shown []byte
	over := false // the cursor is at the beginning: what comes is written over what is there
	for len(line) > 0 {
		if n := control(line); n > 0 {
			shown, over = moved(line[:n], shown, over)
			line = line[n:]
			continue
		}
		if n := printable(line); n > 0 {
			if over {
				shown, over = shown[:0], false
			}
			shown = append(shown, line[:n]...)
			line = line[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(line)
		line = line[n:]
		switch r {
		case '\r':
			over = true
		case '\b':
			_, last := utf8.DecodeLastRune(shown)
			shown = shown[:len(shown)-last]
		default:
			text := visible(r)
			if text != "" && over {
				shown, over = shown[:0], false
			}
			shown = append(shown, text...)
		}
	}
	return string(shown)
}

// printable is how many of the first bytes are shown as they are.
func printable(line string) int {
	for i := range len(line) {
		if c := line[i]; c < ' ' || c >= 0x7f || c == '`' {
			return i
		}
	}
	return len(line)
}

// moved is what is left on the line, and whether it is written over, after a control sequence.
func moved(sequence string, shown []byte, over bool) ([]byte, bool) {
	if len(sequence) < 3 || sequence[1] != '[' {
		return shown, over
	}
	switch arg := sequence[2 : len(sequence)-1]; sequence[len(sequence)-1] {
	case 'G': // to a column
		return shown, over || arg == "" || arg == "0" || arg == "1"
	case 'K', 'J':
		if over || arg == "1" || arg == "2" {
			return shown[:0], false
		}
	case 'C': // to the right
		if !over && len(shown) < mostLine {
			return append(shown, strings.Repeat(" ", min(parameter(sequence), 200))...), false
		}
	}
	return shown, over
}

// ascii are the first characters, so that none of them needs memory of its own.
var ascii = func() string {
	var b [utf8.RuneSelf]byte
	for i := range b {
		b[i] = byte(i)
	}
	return string(b[:])
}()

// visible is what is kept of a character: one kind of quotes and of spaces, nothing of what is not shown, nor of a
// spinner.
func visible(r rune) string {
	switch {
	case r > ' ' && r < utf8.RuneSelf && r != '`' && r != 0x7f:
		return ascii[r : r+1]
	case r == utf8.RuneError, r >= 0x2800 && r <= 0x28ff, r != '\t' && unicode.Is(unicode.C, r):
		return ""
	case strings.ContainsRune("‘’‛`´′", r):
		return "'"
	case strings.ContainsRune("“”„", r):
		return `"`
	case unicode.IsSpace(r):
		return " "
	}
	return string(r)
}

// control is the length of the terminal's control sequence that a text begins with, 0 for none.
func control(s string) int {
	if s[0] != 0x1b {
		return 0
	}
	if len(s) < 2 {
		return 1
	}
	switch s[1] {
	case '[': // parameters, then one letter
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
		}
		return len(s)
	case ']', 'P', '_', '^', 'X': // a string, to its end
		for i := 2; i < len(s); i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
		}
		return len(s)
	case '(', ')', '#', '%':
		return min(3, len(s))
	}
	return 2
}
