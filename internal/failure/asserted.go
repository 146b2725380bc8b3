package failure

import (
	"strconv"
	"strings"
)

// fixed hides in a line that tells what was expected what the clock and the run do not change: dates, times on the
// minute, round durations, checksums and ports that no system hands out. back puts them in again.
type fixed struct {
	texts []string
}

// mark stands for a hidden text: no rule knows it.
const mark = '\x01'

// asserted is one kind of value that a line can assert.
type asserted struct {
	pattern *pattern
	keeps   func(text string) bool
}

var assertedValues = []asserted{
	{lazy(`\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?)?(?:Z\b|[+-]\d\d:?\d\d\b)?`), onTheMinute},
	{lazy(`\bdate\(\d{4}, \d{1,2}, \d{1,2}\)`), always},
	{lazy(`\bdatetime\(\d{4}, \d{1,2}, \d{1,2}, \d{1,2}, \d{1,2}\)`), always},
	{lazy(`\b\d{1,2}:\d\d:00(?:\.0+)?\b`), always},
	{lazy(`\b(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)? ?` + unit), isRound},
	{lazy(`\b(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})\b`), always},
	{lazy(`(?:\blocalhost|\b\d{1,3}(?:\.\d{1,3}){3}|[\s"'(\]]):\d{4,5}\b`), isChosenPort},
	{lazy(`(?i)port\D{0,20}\b\d{4,5}\b`), isChosenPort},
	{lazy(`\(\d+(?:\.\d+)?%\)`), always},
}

func always(string) bool { return true }

// onTheMinute reports whether a date stands alone, or with a time in no zone but UTC that has no seconds: what a clock
// is asked for rarely does.
func onTheMinute(text string) bool {
	_, time, found := strings.Cut(strings.Replace(text, " ", "T", 1), "T")
	if !found {
		return true
	}
	time = strings.TrimSuffix(time, "Z")
	if strings.ContainsAny(time, "+-") {
		return false
	}
	whole, fraction, _ := strings.Cut(strings.Replace(time, ",", ".", 1), ".")
	return strings.Trim(fraction, "0") == "" && (len(whole) == len("15:04") || strings.HasSuffix(whole, ":00"))
}

// isRound reports whether someone has written a duration down: what is measured is rarely as even.
func isRound(text string) bool {
	end := 0
	for end < len(text) && (isDigit(text[end]) || text[end] == '.') {
		end++
	}
	whole, fraction, _ := strings.Cut(text[:end], ".")
	name := strings.TrimLeft(text[end:], " ")
	if len(name) > 1 && (name[0] == 'h' || name[0] == 'm') && isDigit(name[1]) { // 1m30s
		return true
	}
	switch {
	case strings.HasPrefix(name, "ms"), strings.HasPrefix(name, "milli"):
		n, err := strconv.Atoi(whole)
		return err == nil && fraction == "" && n > 0 && n%50 == 0
	case strings.HasPrefix(name, "n"), strings.HasPrefix(name, "u"), name[0] >= 0x80:
		return false
	}
	return len(fraction) <= 1
}

// isChosenPort reports whether someone has chosen a port: those that a system hands out are higher.
func isChosenPort(text string) bool {
	digits := strings.TrimRight(text, "0123456789")
	n, err := strconv.Atoi(text[len(digits):])
	return err == nil && n < 32768
}

// boundSuffix matches what follows a value that was measured and is held against a bound, which is behind it: a round
// value has come by chance there.
var boundSuffix = lazy(`^\W{0,3}(?:which |that )?(?:exceed(?:s|ed|ing) (?:the|its|a|an|our|max\w*|limit|\d)\b|` +
	`(?:is|was) (?:over|above|beyond|more|longer|slower|greater|higher)\b|(?:over|above|beyond) the |>=? )`)

// hide is a line without the values that it asserts.
func (f *fixed) hide(line string) string {
	if !isAssertion(line) {
		return line
	}
	for _, a := range assertedValues {
		places := a.pattern.FindAllStringIndex(line, -1)
		for i := len(places) - 1; i >= 0; i-- {
			begin, end := places[i][0], places[i][1]
			if stampsLine(line, begin) || closesLine(line, begin, end) || boundSuffix.MatchString(line[end:]) ||
				!a.keeps(line[begin:end]) {
				continue
			}
			f.texts = append(f.texts, line[begin:end])
			line = line[:begin] + string(mark) + strconv.Itoa(len(f.texts)-1) + string(mark) + line[end:]
		}
	}
	return line
}

// back is a line with what hide took out.
func (f *fixed) back(line string) string {
	for i := len(f.texts) - 1; i >= 0; i-- {
		line = strings.Replace(line, string(mark)+strconv.Itoa(i)+string(mark), f.texts[i], 1)
	}
	return line
}

// assertions are words of lines that tell what was expected or what came instead.
var assertions = strings.Split("expect,got,want,actual,receiv,assert,equal,left:,right:,!=,==,should,to be,instead,"+
	"timeout,timed out,limit,exceed,deadline,within", ",")

// isAssertion reports whether a line tells what was expected or what came instead: by its words, or as one side of a
// diff.
func isAssertion(line string) bool {
	line = strings.TrimLeft(line, " ")
	if len(line) > 1 && (line[0] == '-' || line[0] == '+') && line[1] != line[0] {
		return true
	}
	return holdsAny(strings.ToLower(line), assertions)
}

// stampsLine reports whether a place is the line's beginning, where logs put the time.
func stampsLine(line string, begin int) bool { return strings.Trim(line[:begin], " [(") == "" }

// closesLine reports whether a value is in brackets behind all else, where runners put what a test took.
func closesLine(line string, begin, end int) bool {
	return begin > 1 && strings.IndexByte("([", line[begin-1]) >= 0 && line[begin-2] == ' ' &&
		strings.Trim(line[end:], ")] ") == ""
}
