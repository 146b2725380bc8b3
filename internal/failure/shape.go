package failure

import "strings"

// shape is what one look at a line tells about it: whether the dear questions are worth asking.
type shape struct {
	digits   bool
	dashed   bool // a number, then -
	slashed  bool // a number, then /
	epoch    bool // eight digits or more
	clock    bool // a number, then : and another
	port     bool // : and four digits or more
	duration bool // a number, then a letter that begins a unit
	hex      bool // 0x
	lower    string
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
	}
	return s
}

// number looks at what stands around the number line[begin:end].
func (s *shape) number(line string, begin, end int) {
	s.digits = true
	s.epoch = s.epoch || end-begin >= 8
	s.port = s.port || end-begin >= 4 && begin > 0 && line[begin-1] == ':'
	if end == len(line) {
		return
	}
	next := line[end]
	s.dashed = s.dashed || next == '-'
	s.slashed = s.slashed || next == '/'
	s.clock = s.clock || next == ':' && end+1 < len(line) && isDigit(line[end+1])
	s.hex = s.hex || (next == 'x' || next == 'X') && line[end-1] == '0'
	if next == ' ' && end+1 < len(line) {
		next = line[end+1]
	}
	s.duration = s.duration || strings.IndexByte("nmshe", next) >= 0 || next >= 0x80 || next == 'u'
}

// says reports whether one of the words stands in the line, in whatever case.
func (s *shape) says(words ...string) bool {
	for _, word := range words {
		if strings.Contains(s.lower, word) {
			return true
		}
	}
	return false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
