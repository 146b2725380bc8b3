package stream

import "bytes"

// MaxLine is how long a line may be. The rest of a longer one is read and dropped, and of it only its first headBytes are told.
const MaxLine = 4 << 20

const headBytes = 4 << 10

// lines cuts what is written to it into lines and hands them on without their end. It holds at most MaxLine bytes. The slice is only
// valid during the call.
type lines struct {
	each  func(line []byte)
	blank bool                           // lines as they are, blank ones too; else without space around them
	long  func(head []byte, total int64) // of a line over MaxLine
	part  []byte                         // the beginning of a line whose end has not come
	total int64                          // of a line over MaxLine: its length so far; 0 when this one is not
}

func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	for {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			l.keep(p)
			return n, nil
		}
		if len(l.part) == 0 && l.total == 0 && end <= MaxLine {
			l.hand(p[:end])
		} else {
			l.keep(p[:end])
			l.end()
		}
		p = p[end+1:]
	}
}

func (l *lines) keep(p []byte) {
	switch {
	case l.total > 0:
		l.total += int64(len(p))
	case len(l.part)+len(p) > MaxLine:
		l.total = int64(len(l.part) + len(p))
		head := append(l.part[:min(len(l.part), headBytes)], p...)
		l.part = bytes.Clone(head[:min(len(head), headBytes)])
	default:
		l.part = append(l.part, p...)
	}
}

// flush hands on what has no end of line.
func (l *lines) flush() {
	if len(l.part) > 0 || l.total > 0 {
		l.end()
	}
}

// end hands on the line so far.
func (l *lines) end() {
	if l.total > 0 {
		if head := bytes.TrimSpace(l.part); len(head) > 0 {
			l.long(head, l.total)
		}
	} else {
		l.hand(l.part)
	}
	l.total = 0
	if l.part = l.part[:0]; cap(l.part) > 1<<20 {
		l.part = nil
	}
}

func (l *lines) hand(line []byte) {
	if l.blank {
		l.each(bytes.TrimSuffix(line, []byte("\r")))
	} else if line = bytes.TrimSpace(line); len(line) > 0 {
		l.each(line)
	}
}
