package failure

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// num is a number in a line.
type num struct {
	value      float64 // in its unit
	scale      float64 // what one of the unit that is written is in unit
	unit       string  // "s", "B", "%", or nothing that is known
	timed      bool    // it depends on how fast the machine is
	each       bool    // it is what one round of a benchmark takes
	begin, end int     // in the line, with its unit
}

// scaled is what a number can be counted in.
type scaled struct {
	base  string
	scale float64
}

var units = map[string]scaled{
	"ns": {"s", 1e-9}, "us": {"s", 1e-6}, "µs": {"s", 1e-6}, "μs": {"s", 1e-6}, "ms": {"s", 1e-3}, "s": {"s", 1},
	"msec": {"s", 1e-3}, "sec": {"s", 1}, "secs": {"s", 1}, "second": {"s", 1}, "seconds": {"s", 1},
	"millisecond": {"s", 1e-3}, "milliseconds": {"s", 1e-3}, "m": {"s", 60}, "min": {"s", 60}, "minutes": {"s", 60},
	"ns/op": {"s", 1e-9}, "µs/op": {"s", 1e-6}, "us/op": {"s", 1e-6}, "ms/op": {"s", 1e-3}, "ns/iter": {"s", 1e-9},
	"b": {"B", 1}, "byte": {"B", 1}, "bytes": {"B", 1}, "kb": {"B", 1e3}, "mb": {"B", 1e6}, "gb": {"B", 1e9},
	"kib": {"B", 1 << 10}, "mib": {"B", 1 << 20}, "gib": {"B", 1 << 30}, "kilobytes": {"B", 1e3},
	"megabytes": {"B", 1e6}, "b/op": {"B", 1}, "%": {"%", 1}, "percent": {"%", 1},
	"req/s": {"/s", 1}, "rps": {"/s", 1}, "ops/s": {"/s", 1}, "ops/sec": {"/s", 1}, "qps": {"/s", 1}, "fps": {"/s", 1},
	"mb/s": {"B/s", 1e6},
}

// What divides a line into words that can be numbers.
const dividers = " \t()[]{}<>=≥≤!~|;*\"'≈+±→"

// numbersOf are the numbers of a line, with their units: whole words that are nothing else. Parts of names, versions,
// times, dates and addresses do not count.
func numbersOf(line string) []num {
	var all []num
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		if strings.ContainsRune(dividers, r) {
			i += size
			continue
		}
		end := len(line)
		if at := strings.IndexAny(line[i:], dividers); at >= 0 {
			end = i + at
		}
		if i < 2 || line[i-1] != '(' || !isLetter(line[i-2]) { // what a function is called with measures nothing
			all = append(all, wordNumbers(line, i, end)...)
		}
		i = end
	}
	return all
}

// wordNumbers are the numbers that the word line[begin:end] is: one, or two with a stroke between them.
func wordNumbers(line string, begin, end int) []num {
	word := strings.TrimRight(line[begin:end], ".,:?")
	if a, b, ok := strings.Cut(word, "/"); ok && units[strings.ToLower(strings.TrimLeft(word, "0123456789."))].base == "" {
		x, okX := numberOf(a)
		y, okY := numberOf(b)
		if !okX || !okY {
			return nil
		}
		x.begin, x.end = begin, begin+len(a)
		y.begin, y.end = x.end+1, begin+len(word)
		return []num{x, y}
	}
	n, ok := numberOf(word)
	if !ok {
		return nil
	}
	n.begin, n.end = begin, begin+len(word)
	if n.unit == "" && n.end == end { // "340 ms"
		rest := strings.TrimLeft(line[end:], " ")
		next := strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune(dividers+",:", r) })
		if len(rest) < len(line)-end && len(next) > 0 && strings.HasPrefix(rest, next[0]) {
			word := strings.TrimRight(next[0], ".")
			if u, ok := units[strings.ToLower(word)]; ok && len(word) > 1 || word == "s" || word == "B" || word == "%" {
				n.in(strings.ToLower(word), u)
				n.end = len(line) - len(rest) + len(word)
			}
		}
	}
	return []num{n}
}

// numberOf reads a word that is a number, maybe with its unit.
func numberOf(word string) (num, bool) {
	digits := strings.TrimLeft(word, "-")
	if len(word)-len(digits) > 1 || digits == "" || len(digits) > 30 || digits[0] < '0' || digits[0] > '9' {
		return num{}, false
	}
	size := strings.IndexFunc(digits, func(r rune) bool { return !unicode.IsDigit(r) && r != '.' && r != ',' })
	if size < 0 {
		size = len(digits)
	}
	value, err := strconv.ParseFloat(strings.ReplaceAll(digits[:size], ",", ""), 64)
	if err != nil {
		return num{}, false
	}
	n := num{value: value, scale: 1}
	if len(digits) < len(word) {
		n.value = -value
	}
	if rest := digits[size:]; rest != "" {
		u, ok := units[strings.ToLower(rest)]
		if !ok {
			return num{}, false
		}
		n.in(strings.ToLower(rest), u)
	}
	return n, true
}

func (n *num) in(written string, u scaled) {
	n.each = strings.HasSuffix(written, "/op") || strings.HasSuffix(written, "/iter")
	n.value, n.scale, n.unit, n.timed = n.value*u.scale, u.scale, u.base, u.base == "s" || strings.HasSuffix(u.base, "/s")
}

// name is a line with "…" for numbers: by it a number is known again.
func name(line string, nums []num) string {
	var b strings.Builder
	done := 0
	for _, n := range slices.SortedFunc(slices.Values(nums), func(a, b num) int { return a.begin - b.begin }) {
		if n.begin < done {
			continue
		}
		b.WriteString(line[done:n.begin])
		b.WriteString("…")
		done = n.end
	}
	b.WriteString(line[done:])
	return strings.Join(strings.Fields(b.String()), " ")
}
