package stream

import "bytes"

// MaxLine is how long a line, or an object of a document over many lines, may be. The rest of a longer one is read and
// dropped, and of it only its first headBytes are told.
const MaxLine = 4 << 20

const headBytes = 4 << 10

// lines cuts what is written to it into lines and hands them on without their end. It holds at most MaxLine bytes. The
// slice is only valid during the call.
type lines struct {
	each func(line []byte)
	long func(head []byte, total int64) // of a line over MaxLine
	// bare hands on lines as they are, blank ones too; else they come without space around them.
	bare  bool
	doc   *document // takes what is written, while one is open
	part  []byte    // the beginning of a line whose end has not come
	total int64     // of a line over MaxLine: its length so far; 0 when this one is not
}

func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if l.doc != nil {
			p = l.doc.write(p)
			if l.doc.ended {
				l.doc = nil
			}
			continue
		}
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			l.keep(p)
			break
		}
		if len(l.part) == 0 && l.total == 0 && end <= MaxLine {
			l.hand(p[:end])
		} else {
			l.keep(p[:end])
			l.end()
		}
		p = p[end+1:]
	}
	return n, nil
}

func (l *lines) keep(p []byte) {
	switch {
	case l.total > 0:
		l.total += int64(len(p))
	case len(l.part)+len(p) <= MaxLine:
		if need := len(l.part) + len(p); need > cap(l.part) { // append would grow it in smaller steps, and leave more behind
			l.part = append(make([]byte, 0, min(max(2*cap(l.part), need), MaxLine)), l.part...)
		}
		l.part = append(l.part, p...)
	case !l.bare && isList(l.part): // longer than a line may be, but its parts may not
		l.open(l.part)
		l.doc.write(p)
		l.part = nil
	default:
		l.total = int64(len(l.part) + len(p))
		head := append(l.part[:min(len(l.part), headBytes)], p[:min(len(p), headBytes)]...)
		l.part = bytes.Clone(head[:min(len(head), headBytes)])
	}
}

// open takes what follows as a document over many lines that begins with head, until it ends.
func (l *lines) open(head []byte) {
	l.doc = &document{each: l.each, long: l.long}
	l.doc.write(head)
}

// flush hands on what has no end of line.
func (l *lines) flush() {
	if l.doc != nil {
		l.doc.flush()
		l.doc = nil
	}
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
	if l.bare {
		l.each(bytes.TrimSuffix(line, []byte("\r")))
	} else if line = bytes.TrimSpace(line); len(line) > 0 {
		l.each(line)
	}
}
