package failure

import (
	"bytes"
	"slices"
)

const escape = 0x1b

// withoutColours adds to a text what a line holds beside colors: "\x1b[1;32m".
func withoutColours(to, line []byte) []byte {
	for {
		i := bytes.IndexByte(line, escape)
		if i < 0 {
			return append(to, line...)
		}
		to = append(to, line[:i]...)
		line = line[i:]
		n := colourLen(line)
		to = append(to, line[:max(0, 1-n)]...) // an escape that begins no colour stays
		line = line[max(1, n):]
	}
}

// colorLen is how long the color is that a text begins with; 0: it begins with none.
func colourLen(s []byte) int {
	if len(s) < 3 || s[1] != '[' {
		return 0
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case isLetter(c):
			return i + 1
		case !isDigit(c) && c != ';' && c != '?':
			return 0
		}
	}
	return 0
}

// What the names of packages and services are made of that runners put before each line.
const (
	isName = 1 << iota // @ . / - _ letters, digits
	isTask             // . : - _ letters, digits
)

var nameSigns = func() (is [256]byte) {
	for i := range is {
		c := byte(i)
		if isLetter(c) || isDigit(c) || c == '_' || c == '.' || c == '-' {
			is[i] = isName | isTask
		}
	}
	is['@'], is['/'], is[':'] = isName, isName, isTask
	return is
}()

// nameLen is how long the name is that a text begins with.
func nameLen(s []byte, kind byte) int {
	for i, c := range s {
		if nameSigns[c]&kind == 0 {
			return i
		}
	}
	return len(s)
}

// prefixLen is how long that is which a runner of several packages puts before each line: "web:test: ", "[1] ",
// "packages/a test: ", "web-1  | ". 0: there is nothing of the kind.
func prefixLen(s []byte) int {
	if s[0] == '[' {
		n := 1 + nameLen(s[1:], isName|isTask)
		if n > 1 && bytes.HasPrefix(s[n:], []byte("] ")) {
			return n + len("] ")
		}
		return 0
	}
	n := nameLen(s, isName)
	if n > 0 {
		if bytes.HasPrefix(s[n:], []byte(": ")) {
			return n + len(": ")
		}
		if n < len(s) && (s[n] == ':' || s[n] == ' ') {
			task := nameLen(s[n+1:], isTask)
			end := n + 1 + task // behind the last sign of the task, which is the colon
			if task > 1 && s[end-1] == ':' && end < len(s) && s[end] == ' ' {
				return end + 1
			}
		}
	}
	return barLen(s)
}

// barLen is prefixLen of a name with a bar behind it.
func barLen(s []byte) int {
	n := nameLen(s, isName|isTask)
	rest := bytes.TrimLeft(s[n:], " ")
	if n == 0 || len(rest) == len(s)-n {
		return 0
	}
	for _, bar := range []string{"| ", "│ "} {
		if bytes.HasPrefix(rest, []byte(bar)) {
			return len(s) - len(rest) + len(bar)
		}
	}
	return 0
}

// runnerPrefixes are the beginnings of lines that a test runner may know, spaces aside, by their first sign. An empty one is
// any line with that sign.
var runnerPrefixes = func() (by [256][][]byte) {
	for _, begin := range []string{
		"{\"", "=", "--- ", "ok", "no", "not ok ", "FAIL", "Failed", "Passed!", "Skipped", "?", "DONE ", "Ran ", "OK",
		"NO TESTS RAN",
		"No test", "Test", "Total tests: ", "TAP version ", "#", "ℹ", "test result: ", "Summary [", "Zero tests ran",
		"BUILD ",
		"> Task ", ":", "[", "All ", "There ", "Running ", "Error: No tests found", "Files=", "Result: ",
	} {
		by[begin[0]] = append(by[begin[0]], []byte(begin))
	}
	return by
}()

// ends are the same for ends of lines: a test of Gradle's with its result, and the heading of Maven's tests.
var runnerSuffixes = [][]byte{[]byte(" PASSED"), []byte(" FAILED"), []byte(" SKIPPED"), []byte("T E S T S")}

// mayTell reports whether a test runner may know a line: whoever reads one must find it here.
func mayTell(line []byte) bool {
	s := bytes.TrimLeft(line, " \t\f\v")
	if len(s) == 0 {
		return false
	}
	if isDigit(s[0]) {
		return mayCount(s)
	}
	for _, begin := range runnerPrefixes[s[0]] {
		if bytes.HasPrefix(s, begin) {
			return s[0] != '[' || mayBeMaven(s)
		}
	}
	if last := s[len(s)-1]; last == 'D' || last == 'S' {
		for _, end := range runnerSuffixes {
			if bytes.HasSuffix(s, end) {
				return true
			}
		}
	}
	return line[0] == '\t' && bytes.Contains(s, []byte("coverage: 0.0%"))
}

// mayBeMaven reports whether a line with a level before it may be of Maven's tests: most are about what it downloads.
func mayBeMaven(s []byte) bool {
	if said, ok := bytes.CutPrefix(s, []byte("[INFO] ")); ok {
		return mayTell(said)
	}
	return bytes.HasPrefix(s, []byte("[  ")) || bytes.Contains(s, []byte("] Tests run:"))
}

// mayCount reports whether a line that begins with a number may be one of a runner's: "5 passed", "3/9 tests
// collected", "100% tests passed", "1..5". The clock of a log is none.
func mayCount(s []byte) bool {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n < len(s) && (s[n] == ' ' || s[n] == '/' || s[n] == '%' || bytes.HasPrefix(s[n:], []byte("..")))
}

// nameWithin are what a line has within that names one test, when its beginning does not tell.
var nameWithin = [][]byte{
	[]byte("::"), []byte(" ... "), []byte(" > "), []byte(" Test #"), []byte(" s = "), []byte("Passed "),
	[]byte("Skipped "),
}

// nameBegins are the beginnings of lines that may name one test, spaces aside.
var nameBegins = [][]byte{
	[]byte("--- "), []byte("ok "), []byte("not ok "), []byte("FAIL"), []byte("Failed "), []byte("PASS ["),
	[]byte("SKIP ["), []byte("#   Failed test "),
}

// mayName reports whether a line may name one test.
func mayName(line []byte) bool {
	s := bytes.TrimLeft(line, " ")
	if len(s) == 0 || len(s) > 4*mostMessage {
		return len(s) > 0 && s[0] == '{'
	}
	switch s[0] {
	case 0xE2, 0xC3, 0xEF: // the marks, and the cross
		return true
	case '{':
		return bytes.HasPrefix(s, []byte(`{"`))
	}
	for _, begin := range nameBegins {
		if s[0] == begin[0] && bytes.HasPrefix(s, begin) {
			return true
		}
	}
	if s[len(s)-1] == ')' && bytes.Contains(s, []byte(" (")) { // unittest, whose result is in the next line
		return true
	}
	return slices.ContainsFunc(nameWithin, func(sign []byte) bool { return bytes.Contains(s, sign) })
}
