package failure

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
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

const mostLine = 4 << 10 // bytes of a line that are examined

// goEvents turns the events of go test -json into the text that they carry, test by test; other lines stay.
func goEvents(lines []string) []string {
	var order []string
	texts := map[string]*strings.Builder{}
	var rest []string
	for _, line := range lines {
		e, ok := readEvent(line)
		if !ok {
			rest = append(rest, line)
			continue
		}
		key := e.Package + e.ImportPath + "\x00" + e.Test
		if texts[key] == nil {
			texts[key] = &strings.Builder{}
			order = append(order, key)
		}
		texts[key].WriteString(e.Output)
	}
	if len(order) == 0 {
		return lines
	}
	for _, key := range order {
		rest = append(rest, clean(texts[key].String())...)
	}
	return rest
}

func readEvent(line string) (e goEvent, ok bool) {
	if !strings.HasPrefix(line, "{") || !strings.Contains(line, `"Action":"`) {
		return e, false
	}
	err := json.Unmarshal([]byte(line), &e)
	return e, err == nil
}

var (
	goSays = lazy(`^=== (?:RUN|PAUSE|CONT|NAME|ATTR) +(\S+)`)
	goEnds = lazy(`^ *--- (PASS|FAIL|SKIP|BENCH): (\S+)`)
)

// goEvent is one line of go test -json.
type goEvent struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
}
