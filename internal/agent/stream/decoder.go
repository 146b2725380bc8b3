package stream

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// Decoder decodes one agent's output, written to it in any pieces: JSON objects one a line, or plain text. Close passes
// on what has no end of line. Memory stays below a small multiple of MaxLine whatever is written. Neither Write nor Close
// ever fails.
type Decoder struct {
	dialect dialect
	emit    func(Event)
	clock   func() time.Time
	part    []byte // the beginning of a line whose end has not come
	long    bool   // the line is over MaxLine, and part is its beginning
	spoken  bool   // an object of the dialect has been seen
	told    bool   // an event has come of the object at hand
	loose   []byte // text that came before the first object, or the whole output when it is plain
	over    bool   // there was more of it than is kept
}

// dialect makes events of the objects of one agent's format. An object that says nothing it knows makes none.
type dialect interface {
	// object decodes one JSON object and reports whether it is of the format at all.
	object(o gjson.Result, emit func(Event)) bool
}

// closer is a dialect that knows only at the end of all what it has to tell.
type closer interface{ close(emit func(Event)) }

// looseBytes is how much of an output that is not JSON lines is kept.
const looseBytes = 1 << 20

// NewPlain hands on plain text: each line as Noise when it comes, and all of it as one Text at the end.
func NewPlain(clock func() time.Time, emit func(Event)) *Decoder { return newDecoder(nil, clock, emit) }

// newDecoder decodes to emit, which is called from Write and Close.
func newDecoder(d dialect, clock func() time.Time, emit func(Event)) *Decoder {
	c := &Decoder{dialect: d, clock: clock}
	c.emit = func(e Event) {
		if e.At.IsZero() {
			e.At = c.clock()
		}
		c.told = true
		emit(e)
	}
	return c
}

// Write implements io.Writer.
func (c *Decoder) Write(p []byte) (int, error) {
	if c.dialect == nil {
		c.keep(p)
	}
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			c.hold(p)
			break
		}
		if len(c.part) == 0 && !c.long && end <= MaxLine {
			c.hand(p[:end])
		} else {
			c.hold(p[:end])
			c.end()
		}
		p = p[end+1:]
	}
	return n, nil
}

// hold keeps a piece of a line whose end has not come.
func (c *Decoder) hold(p []byte) {
	switch {
	case c.long:
	case len(c.part)+len(p) <= MaxLine:
		if need := len(c.part) + len(p); need > cap(c.part) { // append would grow it in smaller steps, and leave more behind
			c.part = append(make([]byte, 0, min(max(2*cap(c.part), need), MaxLine)), c.part...)
		}
		c.part = append(c.part, p...)
	default:
		c.long = true
		head := append(c.part[:min(len(c.part), headBytes)], p[:min(len(p), headBytes)]...)
		c.part = bytes.Clone(head[:min(len(head), headBytes)])
	}
}

// end hands on the line so far.
func (c *Decoder) end() {
	switch head := bytes.TrimSpace(c.part); {
	case !c.long:
		c.hand(c.part)
	case len(head) == 0:
	case c.dialect != nil && head[0] == '{': // the rest of what does not fit is no one's word
		c.spoken = true
		c.emit(Event{Kind: Progress})
	default:
		c.noise(head)
	}
	c.long = false
	if c.part = c.part[:0]; cap(c.part) > 1<<20 {
		c.part = nil
	}
}

// hand hands on a whole line: of plain text as it is, blank ones too, otherwise without space around it.
func (c *Decoder) hand(line []byte) {
	if c.dialect == nil {
		c.line(bytes.TrimSuffix(line, []byte("\r")))
	} else if line = bytes.TrimSpace(line); len(line) > 0 {
		c.line(line)
	}
}

// Close decodes what is left.
func (c *Decoder) Close() error {
	if len(c.part) > 0 || c.long {
		c.end()
	}
	if d, ok := c.dialect.(closer); ok {
		d.close(c.emit)
	}
	if c.spoken || len(bytes.TrimSpace(c.loose)) == 0 {
		return nil
	}
	if extra := len(c.loose) - looseBytes; extra > 0 {
		c.loose, c.over = c.loose[extra:], true
	}
	c.emit(Event{Kind: Text, Text: strings.ToValidUTF8(string(c.loose), "\uFFFD"), Told: true, Beheaded: c.over})
	return nil
}

var byteOrderMark = []byte("\uFEFF")

func (c *Decoder) line(line []byte) {
	if line = bytes.TrimPrefix(line, byteOrderMark); c.dialect != nil {
		switch {
		case len(line) == 0, c.json(line):
			return
		case !c.spoken && line[0] != '{': // a broken object is no one's words
			c.keep(append(bytes.Clone(line), '\n'))
		}
	}
	c.noise(line[:min(len(line), headBytes)])
}

func (c *Decoder) noise(line []byte) {
	c.emit(Event{Kind: Noise, Text: strings.ToValidUTF8(string(line), "\uFFFD")})
}

// json decodes an object and reports whether it was one of the dialect's.
func (c *Decoder) json(text []byte) bool {
	if text[0] != '{' {
		return false
	}
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	if !gjson.ValidBytes(text) { // a control character in a string is not JSON, and has been seen
		if text = bytes.Map(controlToSpace, text); !gjson.ValidBytes(text) {
			return false
		}
	}
	c.told = false
	if !c.dialect.object(gjson.ParseBytes(text), c.emit) {
		return false
	}
	if c.spoken = true; !c.told { // it is a sign of life
		c.emit(Event{Kind: Progress})
	}
	return true
}

// keep keeps the end of what is not JSON lines.
func (c *Decoder) keep(p []byte) {
	c.loose = append(c.loose, p...)
	if extra := len(c.loose) - looseBytes; extra > looseBytes { // now and then, not at every line
		c.loose, c.over = append(c.loose[:0], c.loose[extra:]...), true
	}
}

func controlToSpace(r rune) rune {
	if r < ' ' {
		return ' '
	}
	return r
}

// MaxLine is how long a line can be. The rest of a longer one is read and dropped; only its first headBytes are
// reported.
const MaxLine = 4 << 20

const headBytes = 16 << 10
