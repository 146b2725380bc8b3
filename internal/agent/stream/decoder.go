package stream

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// Decoder decodes one agent's output, written to it in any pieces: JSON objects one a line, an array of them, one object over many
// lines, or plain text. Close hands on what has no end of line. Memory stays below a small multiple of MaxLine whatever is written.
// Neither Write nor Close ever fails.
type Decoder struct {
	dialect dialect
	emit    func(Event)
	clock   func() time.Time
	lines   lines
	spoken  bool   // an object of the dialect has been seen
	loose   []byte // what came before the first one: a document over many lines, or text
	over    bool   // there was more of it than is kept
}

// dialect makes events of the objects of one agent's format. An object that says nothing it knows makes none.
type dialect interface {
	// object decodes one JSON object and reports whether it is of the format at all.
	object(o gjson.Result, emit func(Event)) bool
	// long is told of a line over MaxLine by its first bytes.
	long(head []byte, total int64, emit func(Event))
}

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
		emit(e)
	}
	c.lines = lines{each: c.line, blank: d == nil, long: func(head []byte, total int64) {
		if c.spoken = d != nil && (c.spoken || head[0] == '{'); c.spoken {
			d.long(head, total, c.emit)
		}
	}}
	return c
}

// Write implements io.Writer.
func (c *Decoder) Write(p []byte) (int, error) {
	if c.dialect == nil {
		c.keep(p)
	}
	return c.lines.Write(p)
}

// Close decodes what is left.
func (c *Decoder) Close() error {
	c.lines.flush()
	if c.spoken || len(bytes.TrimSpace(c.loose)) == 0 {
		return nil
	}
	if c.dialect != nil && !c.over && c.document(bytes.TrimSpace(c.loose)) {
		return nil
	}
	if extra := len(c.loose) - looseBytes; extra > 0 {
		c.loose, c.over = c.loose[extra:], true
	}
	c.emit(Event{Kind: Text, Text: strings.ToValidUTF8(string(c.loose), "\uFFFD"), Told: true, Beheaded: c.over})
	return nil
}

func (c *Decoder) line(line []byte) {
	if c.dialect != nil && c.document(bytes.TrimRight(line, ", \t")) {
		return
	}
	if c.dialect != nil && !c.spoken && line[0] != '{' { // a broken object is nobody's words
		c.keep(append(bytes.Clone(line), '\n'))
	}
	if c.spoken || c.dialect == nil || len(line) > 0 && !structural(line) {
		c.emit(Event{Kind: Noise, Text: strings.ToValidUTF8(string(line[:min(len(line), 4<<10)]), "\uFFFD")})
	}
}

// document decodes an object, or an array of them, and reports whether it was one of the dialect's.
func (c *Decoder) document(text []byte) bool {
	if len(text) < 2 || text[0] != '{' && text[0] != '[' {
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
	known, root := false, gjson.ParseBytes(text)
	if root.IsArray() {
		root.ForEach(func(_, element gjson.Result) bool {
			known = element.IsObject() && c.dialect.object(element, c.emit) || known
			return true
		})
	} else {
		known = c.dialect.object(root, c.emit)
	}
	c.spoken = c.spoken || known
	return known
}

// keep keeps the end of what is not JSON lines.
func (c *Decoder) keep(p []byte) {
	c.loose = append(c.loose, p...)
	if extra := len(c.loose) - looseBytes; extra > looseBytes { // now and then, not at every line
		c.loose, c.over = append(c.loose[:0], c.loose[extra:]...), true
	}
}

// structural reports whether a line is only a part of a document over many lines, which nobody wants to see.
func structural(line []byte) bool {
	return strings.ContainsRune("{}[]\"", rune(line[0]))
}

func controlToSpace(r rune) rune {
	if r < ' ' {
		return ' '
	}
	return r
}
