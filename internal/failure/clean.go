package failure

import (
	"slices"
	"strings"
)

// What is examined of an output, however long it is: its head and its tail, and of a line so much.
const (
	mostBytes = 1 << 20
	mostLines = 20_000
)

// clean is an output as lines of plain text: without what only a terminal acts on, without what was overwritten on the
// line, and with one kind of quotes.
func clean(output string) []string {
	output = ends(output)
	var lines []string
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		line = line[max(0, len(line)-mostLine*16):] // what was overwritten is before
		if !plain.MatchString(line) {
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

// undated is a line without the time that a runner's log puts before each, "2026-11-21T12:00:00.123Z " or the same in
// brackets, and without the number of the stream that some put behind it.
func undated(line string) string {
	const stamp = "2006-01-02T15:04:05"
	bare := strings.TrimPrefix(line, "[")
	if len(bare) < len(stamp) || bare[4] != '-' || bare[10] != 'T' || !isDigit(bare[0]) {
		return line
	}
	time, rest, _ := strings.Cut(bare, " ")
	if strings.Trim(time, "0123456789-:.,TZ+]") != "" {
		return line
	}
	if len(rest) > 3 && rest[0] == '0' && isDigit(rest[1]) && (rest[2] == 'O' || rest[2] == 'E') {
		return strings.TrimPrefix(rest[3:], " ")
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

// plain matches a line in which a terminal acts on nothing and whose signs stay as they are.
var plain = lazy("^[\t -_a-~]*$")
