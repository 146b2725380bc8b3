package gateway

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// What is searched for in answers.
const (
	asType = iota + 1
	asModel
	asUsage
	asError
)

var answerFields = []field{{name: "type", as: asType}, {name: "error", as: asError},
	{name: "model", as: asModel}, {name: "modelVersion", as: asModel},
	{name: "usage", as: asUsage}, {name: "usageMetadata", as: asUsage},
	{name: "message", in: []field{{name: "model", as: asModel}, {name: "usage", as: asUsage}}},
	{name: "response", in: []field{{name: "model", as: asModel}, {name: "usage", as: asUsage}}}}

// mostLine is how much of a line is kept. What is longer is read as it comes.
const mostLine = 16 << 10

// answer reads in an answer, as it comes by, what it took: a stream of events or one JSON document. It keeps no more
// than a short line and a value.
type answer struct {
	tally *tally
	pick  jsonPicker
	kind  string // of the event
	usage []byte

	form form
	line []byte // the beginning of one that continues
	long bool   // the line is too long to keep, and is read as it comes
	open bool   // an event is not at its end
}

// form is what an answer is made of.
type form int

const (
	unknownForm form = iota
	document
	events
)

func newAnswer(t *tally) *answer {
	a := &answer{tally: t}
	a.pick = jsonPicker{fields: answerFields, got: a.got}
	return a
}

// got takes a value that the picker has found.
func (a *answer) got(as int, value []byte) {
	switch as {
	case asType:
		a.kind = gjson.ParseBytes(value).Str
		a.tally.failed = a.tally.failed || a.kind == "error" || a.kind == "response.failed"
	case asError:
		a.tally.failed = a.tally.failed || value[0] == '{'
	case asModel:
		if name := gjson.ParseBytes(value).Str; name != "" && len(name) <= mostModel {
			a.tally.served = name
		}
	case asUsage:
		if value[0] == '{' {
			a.usage = append(a.usage[:0], value...)
		}
	}
}

// event is at the end of an event, or of the document.
func (a *answer) event() {
	if len(a.usage) > 0 {
		a.tally.use(a.kind, a.usage)
	}
	a.kind, a.usage, a.open = "", a.usage[:0], false
	a.pick.reset()
}

// write reads a piece.
func (a *answer) write(p []byte) {
	if a.form == unknownForm {
		p = bytes.TrimLeft(p, "\ufeff \r\n\t")
		if len(p) == 0 {
			return
		}
		a.form = events
		if p[0] == '{' || p[0] == '[' {
			a.form = document
		}
	}
	if a.form == document {
		a.tally.text += int64(len(p))
		a.pick.write(p)
		return
	}
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			a.part(p)
			return
		}
		if len(a.line) == 0 && !a.long {
			a.whole(p[:end])
		} else {
			a.part(p[:end])
			a.endLine()
		}
		p = p[end+1:]
	}
}

// end is after the last piece; clean if the answer ended by itself.
func (a *answer) end(clean bool) {
	if len(a.line) > 0 || a.long {
		a.endLine()
	}
	if a.form == document && !clean { // the number that it ended in may be half
		return
	}
	a.event()
	if !clean {
		a.tally.cut()
	}
}

// part keeps a part of a line, or reads it if the line is long.
func (a *answer) part(p []byte) {
	if !a.long && len(a.line)+len(p) <= mostLine {
		a.line = append(a.line, p...)
		return
	}
	if !a.long {
		a.long = true
		kept := append(a.line, p[:min(len(p), len("data: "))]...)
		p = p[min(len(p), len("data: ")):]
		if data, ok := payload(kept); ok {
			a.piece(data)
		}
		a.open = a.open || bytes.HasPrefix(kept, dataMark)
		a.line = a.line[:0]
	}
	if a.open {
		a.piece(p)
	}
}

func (a *answer) endLine() {
	if a.long {
		a.long = false
		return // the empty line ends the event
	}
	a.whole(a.line)
	a.line = a.line[:0]
}

// piece reads a part of an event that is longer than what is kept.
func (a *answer) piece(p []byte) {
	a.tally.text += int64(len(p))
	a.pick.write(p)
}

var (
	dataMark = []byte("data:")
	newline  = []byte("\n")
	// Events without any of these say nothing of tokens: "usage", "usageMetadata", "error".
	usageMark = []byte("sage")
	errorMark = []byte(`"error"`)
)

// payload is what is in a line of data.
func payload(line []byte) ([]byte, bool) {
	data, ok := bytes.CutPrefix(line, dataMark)
	return bytes.TrimPrefix(data, []byte(" ")), ok
}

// whole reads a line.
func (a *answer) whole(line []byte) {
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) == 0 {
		if a.open {
			a.event()
		}
		return
	}
	data, ok := payload(line)
	if !ok || len(data) == 0 {
		return
	}
	if !a.open && data[0] == '{' && data[len(data)-1] == '}' { // a whole event, as all providers write them
		a.tally.text += written(a.tally.protocol, data)
		if piece(a.tally.protocol, data) || !bytes.Contains(data, usageMark) && !bytes.Contains(data, errorMark) {
			return
		}
	}
	a.open = true
	a.pick.write(data)
	a.pick.write(newline)
	if a.pick.deep == 0 {
		a.event()
	}
}

// texts are where events have what the model has written.
var texts = map[Protocol][][]byte{
	Anthropic: {[]byte(`"text":`), []byte(`"thinking":`), []byte(`"partial_json":`)},
	Responses: {[]byte(`"delta":`)},
	Chat:      {[]byte(`"content":`), []byte(`"reasoning_content":`), []byte(`"arguments":`)},
	Gemini:    {[]byte(`"text":`)},
}

// The beginning and the end of an event's kind that is a piece of what the model writes.
var (
	kindMark  = []byte(`{"type":"`)
	deltaMark = []byte("delta")
	endDelta  = []byte("message_delta")
)

// piece reports whether an event is a piece of what the model writes, which says nothing of tokens, by its kind. Only
// one that begins with it is known: most of a stream is that, and none of it is searched.
func piece(p Protocol, event []byte) bool {
	rest, ok := bytes.CutPrefix(event, kindMark)
	if !ok || p != Anthropic && p != Responses {
		return false
	}
	kind, _, ok := bytes.Cut(rest[:min(len(rest), mostKind)], quoteMark)
	return ok && bytes.HasSuffix(kind, deltaMark) && !bytes.Equal(kind, endDelta)
}

var quoteMark = []byte(`"`)

const (
	mostKind = 64 // bytes of an event's kind
	// mostFrame is how far from an event's beginning what the model has written begins: all providers write it early.
	mostFrame = 1 << 10
)

// written is about how many bytes of text an event has: of the first that there is.
func written(p Protocol, event []byte) int64 {
	for _, mark := range texts[p] {
		at := bytes.Index(event[:min(len(event), mostFrame)], mark)
		if at < 0 {
			continue
		}
		rest := bytes.TrimLeft(event[at+len(mark):], " ")
		if len(rest) == 0 || rest[0] != '"' {
			continue
		}
		if len(rest) > mostFrame { // nearly all of it is text
			return int64(len(rest))
		}
		if n := min(stringEnd(rest, 1), len(rest)) - 1; n > 0 {
			return int64(n)
		}
	}
	return 0
}
