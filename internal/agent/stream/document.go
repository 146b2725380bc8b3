package stream

import "bytes"

// document takes one JSON value over many lines, or a list on one line of any length, apart into objects: the value
// itself, or the elements of the list. It holds at most MaxLine bytes.
type document struct {
	each  func(object []byte)
	long  func(head []byte, total int64) // of an object over MaxLine
	ended bool

	list    bool // it is a list of objects
	depth   int  // of brackets that are open
	quoted  bool // within a string
	escaped bool // after a backslash in it
	object  []byte
	total   int64 // of the object, as far as it has come
}

// isDocument reports whether a line by itself is the first of a document over many lines.
func isDocument(line []byte) bool {
	return string(line) == "{" || string(line) == "[" || isList(line) && line[len(line)-1] == '{'
}

// isList reports whether a text begins like a list of objects.
func isList(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) > 1 && text[0] == '[' && bytes.HasPrefix(bytes.TrimSpace(text[1:]), []byte("{"))
}

// write takes what belongs to the document and returns the rest.
func (d *document) write(p []byte) []byte {
	from := 0 // where what is not yet kept of the object begins
	for i, c := range p {
		switch {
		case d.escaped:
			d.escaped = false
		case d.quoted:
			d.escaped, d.quoted = c == '\\', c != '"'
		case c == '"':
			d.quoted = d.depth > 0
		case c == '[' && d.depth == 0:
			d.list, d.depth = true, 1
		case c == '{', c == '[':
			if d.depth == d.base() {
				from = i
			}
			d.depth++
		case c == '}', c == ']':
			if d.depth--; d.depth == d.base() {
				d.keep(p[from : i+1])
				d.flush()
			}
			if d.depth <= 0 {
				d.ended = true
				return p[i+1:]
			}
		}
	}
	if d.depth > d.base() {
		d.keep(p[from:])
	}
	return nil
}

// base is how deep the objects lie.
func (d *document) base() int {
	if d.list {
		return 1
	}
	return 0
}

func (d *document) keep(p []byte) {
	if d.total += int64(len(p)); d.total <= MaxLine {
		d.object = append(d.object, p...)
	} else if len(d.object) > headBytes {
		d.object = bytes.Clone(d.object[:headBytes])
	} else {
		d.object = append(d.object, p[:min(len(p), headBytes-len(d.object))]...)
	}
}

// flush hands on the object so far.
func (d *document) flush() {
	if d.total > MaxLine {
		d.long(d.object, d.total)
	} else if d.total > 0 {
		d.each(d.object)
	}
	d.total = 0
	if d.object = d.object[:0]; cap(d.object) > 1<<20 {
		d.object = nil
	}
}
