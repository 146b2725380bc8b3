package failure

import "strings"

// shape is what one look at a line tells about it: whether the dear questions are worth asking.
type shape struct {
	digits   bool
	dashed   bool // four digits, then - and more
	slashed  bool // a number, then / and more
	epoch    bool // eight digits or more
	clock    bool // a number, then : and two digits
	placed   bool // a space, a number, : and another
	timed    bool // two digits behind a number and :, and another sign or number behind them
	tagged   bool // a letter, - or #, and a number
	begun    bool // a number begins the line, or what brackets hold
	port     bool // : and four digits or more
	duration bool // a number, then a letter that begins a unit
	hex      bool // 0x
	sized    bool // a number, then what begins a size
	lower    string
	pairs    [8]uint64 // which two letters stand next to each other, roughly
}

// shapeOf looks at a line.
func shapeOf(line string) shape {
	s := shape{lower: line}
	for i := 0; i < len(line); {
		if !isDigit(line[i]) {
			i++
			continue
		}
		begin := i
		for i < len(line) && isDigit(line[i]) {
			i++
		}
		s.number(line, begin, i)
	}
	if s.digits {
		s.lower = strings.ToLower(line)
		for i := 1; i < len(s.lower); i++ {
			p := pair(s.lower[i-1], s.lower[i])
			s.pairs[p>>6] |= 1 << (p & 63)
		}
	}
	return s
}

// number looks at what stands around the number line[begin:end].
func (s *shape) number(line string, begin, end int) {
	s.digits = true
	before := strings.TrimRight(line[:begin], " ")
	s.begun = s.begun || before == "" || before[len(before)-1] == '(' || before[len(before)-1] == '['
	s.epoch = s.epoch || end-begin >= 8
	s.port = s.port || end-begin >= 4 && begin > 0 && line[begin-1] == ':' &&
		(begin == 1 || isDigit(line[begin-2]) || strings.IndexByte(" \t\"'(]tT", line[begin-2]) >= 0)
	s.tagged = s.tagged || begin > 1 && (line[begin-1] == '-' || line[begin-1] == '#') && isLetter(line[begin-2])
	if end == len(line) {
		return
	}
	next, then := line[end], byte(0)
	if end+1 < len(line) {
		then = line[end+1]
	}
	s.dashed = s.dashed || next == '-' && end-begin >= 4 && (isDigit(then) || then == 'W')
	s.slashed = s.slashed || next == '/' && isDigit(then)
	s.clock = s.clock || next == ':' && end-begin <= 2 && (begin == 0 || line[begin-1] != ':') && end+2 < len(line) &&
		isDigit(then) && isDigit(line[end+2])
	if end-begin == 2 && begin > 1 && line[begin-1] == ':' && isDigit(line[begin-2]) {
		s.timed = s.timed || isDigit(then) || strings.IndexByte("aApP", next) >= 0 || next == ' ' &&
			strings.IndexByte("aApP", then) >= 0
	}
	s.placed = s.placed || next == ':' && isDigit(then) && begin > 0 && line[begin-1] == ' '
	s.hex = s.hex || (next == 'x' || next == 'X') && line[end-1] == '0'
	if next == ' ' && then != 0 {
		next = then
	}
	s.sized = s.sized || strings.IndexByte("bBkKMG", next) >= 0
	s.duration = s.duration || next >= 0x80 || beginsUnit(strings.TrimPrefix(line[end:], " "))
}

// beginsUnit reports whether a text begins with what may be a unit of time, or go on to one, as in "ms", "s)", "m30s"
// and "e-05s".
func beginsUnit(text string) bool {
	n := 0
	for n < len(text) && isLetter(text[n]) {
		n++
	}
	switch text[:n] {
	case "s", "m", "h", "e", "ns", "us", "ms":
		return true
	}
	return n >= 3 && (startsAny(text, "sec", "min", "milli", "msec", "hr", "hour"))
}

// says reports whether one of the words stands in the line, in whatever case.
func (s *shape) says(words ...string) bool {
	for _, word := range words {
		if len(word) > 1 && (!s.has(word[0], word[1]) || !s.has(word[len(word)-2], word[len(word)-1])) {
			continue
		}
		if strings.Contains(s.lower, word) {
			return true
		}
	}
	return false
}

// has reports whether two letters may stand next to each other in the line.
func (s *shape) has(a, b byte) bool {
	p := pair(a, b)
	return s.pairs[p>>6]&(1<<(p&63)) != 0
}

// pair is a number below 512 for two letters.
func pair(a, b byte) int { return (int(a)*37 + int(b)) & 511 }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
