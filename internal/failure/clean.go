package failure

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What is looked at of an output, however long it is: its head and its tail, and of a line so much.
const (
	mostBytes = 1 << 20
	mostLine  = 4 << 10
	mostLines = 20_000
)

// clean is an output as lines of plain text: without what only a terminal acts on, without what was overwritten on the line, and with
// one kind of quotes.
func clean(output string) []string {
	output = ends(output)
	var lines []string
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		line = line[max(0, len(line)-mostLine*16):] // what was overwritten stands before
		if !plain(line) {
			lines = lines[:len(lines)-min(risen(line), len(lines))]
			line = printed(line)
		}
		line = strings.TrimRight(undated(line), " \t")
		if len(line) > mostLine {
			line = strings.ToValidUTF8(line[:mostLine], "")
		}
		lines = append(lines, line)
	}
	lines = slices.CompactFunc(lines, func(a, b string) bool { return a == "" && b == "" })
	if len(lines) > mostLines {
		lines = slices.Delete(lines, mostLines/2, len(lines)-mostLines/2)
	}
	return lines
}

// undated is a line without the time that a runner's log puts before each.
func undated(line string) string {
	const stamp = "2006-01-02T15:04:05"
	if len(line) < len(stamp) || line[4] != '-' || line[10] != 'T' || !isDigit(line[0]) {
		return line
	}
	time, rest, _ := strings.Cut(line, " ")
	if strings.Trim(time, "0123456789-:.,TZ+") != "" {
		return line
	}
	return rest
}

// ends is the head and the tail of an output that is longer than mostBytes, in whole lines where it has lines.
func ends(output string) string {
	if len(output) <= mostBytes {
		return output
	}
	head, tail := output[:mostBytes/2], output[len(output)-mostBytes/2:]
	if i := strings.LastIndexByte(head, '\n'); i >= 0 {
		head = head[:i]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 {
		tail = tail[i+1:]
	}
	return head + "\n" + tail
}

func plain(line string) bool {
	for i := range len(line) {
		if c := line[i]; c < ' ' && c != '\t' || c >= 0x7f || c == '`' {
			return false
		}
	}
	return true
}

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
			lines, _ := strconv.Atoi(line[2 : n-1])
			up += min(max(lines, 1), 1000)
		}
		line = line[n:]
	}
}

// printed is what a terminal would show of a line, roughly: the last text that was written over it.
func printed(line string) string {
	if i := strings.LastIndexByte(line, '\r'); i >= 0 {
		line = line[i+1:]
	}
	var b strings.Builder
	for len(line) > 0 {
		if n := control(line); n > 0 {
			line = line[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(line)
		line = line[n:]
		switch {
		case r == '\b':
			if s := b.String(); s != "" {
				_, last := utf8.DecodeLastRuneInString(s)
				b.Reset()
				b.WriteString(s[:len(s)-last])
			}
		case r == utf8.RuneError, r != '\t' && unicode.Is(unicode.C, r):
		case strings.ContainsRune("‘’‛`´′", r):
			b.WriteByte('\'')
		case strings.ContainsRune("“”„", r):
			b.WriteByte('"')
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
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
