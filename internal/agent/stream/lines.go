package stream

import "bytes"

// MaxLine is how long a line may be. The rest of a longer one is read and dropped, and with it the line, whose JSON is then broken.
const MaxLine = 4 << 20

// lines cuts what is written to it into lines and hands them on without their end. It holds at most MaxLine bytes. The slice is only
// valid during the call.
type lines struct {
	each    func(line []byte)
	part    []byte // the beginning of a line whose end has not come
	tooLong bool
}

func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	for {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			l.keep(p)
			return n, nil
		}
		if len(l.part) == 0 && !l.tooLong && end <= MaxLine {
			l.hand(p[:end])
		} else {
			l.keep(p[:end])
			l.flush()
		}
		p = p[end+1:]
	}
}

func (l *lines) keep(p []byte) {
	if len(l.part)+len(p) > MaxLine {
		l.tooLong, l.part = true, nil
	}
	if !l.tooLong {
		l.part = append(l.part, p...)
	}
}

// flush hands on the line so far: at its end, or at the end of all.
func (l *lines) flush() {
	if !l.tooLong {
		l.hand(l.part)
	}
	l.tooLong = false
	if l.part = l.part[:0]; cap(l.part) > 1<<20 {
		l.part = nil
	}
}

func (l *lines) hand(line []byte) {
	if line = bytes.TrimSpace(line); len(line) > 0 {
		l.each(line)
	}
}
