package gateway

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// mostHeld is how much is kept of an event, or of a document. One that is longer says nothing of what it took, which is
// estimated then.
const mostHeld = 8 << 20

// answer reads in an answer, as it comes by, what it took: a stream of events or one JSON document.
type answer struct {
	tally *tally
	form  form
	line  held // of a stream, the beginning of one that continues
	event held // the data of an event, or the document
}

// form is what an answer is made of.
type form int

const (
	unknownForm form = iota
	document
	events
)

func newAnswer(t *tally) *answer { return &answer{tally: t} }

// held is a text that is kept as long as it is short enough.
type held struct {
	text []byte
	size int // of the whole text
}

func (h *held) add(p []byte) {
	if h.size += len(p); h.size > mostHeld {
		h.text = nil
		return
	}
	h.text = append(h.text, p...)
}

// clear forgets the text, and what it took if that was much.
func (h *held) clear() {
	if h.text, h.size = h.text[:0], 0; cap(h.text) > 1<<20 {
		h.text = nil
	}
}

// read takes what an event says, or the document, of the tokens, the model and a failure. An array at the top stands
// for its elements.
func (a *answer) read(text []byte) {
	if !gjson.ValidBytes(text) {
		return
	}
	for _, v := range gjson.ParseBytes(text).Array() { // an object is an array of itself
		kind := v.Get("type").Str
		a.tally.failed = a.tally.failed || kind == "error" || kind == "response.failed" || v.Get("error").IsObject()
		for _, path := range []string{"model", "modelVersion", "message.model", "response.model"} {
			if name := v.Get(path).Str; name != "" && len(name) <= mostModel {
				a.tally.served = name
			}
		}
		for _, path := range []string{"usage", "usageMetadata", "message.usage", "response.usage"} {
			if usage := v.Get(path); usage.IsObject() {
				a.tally.use(kind, usage)
			}
		}
	}
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
		a.event.add(p)
		return
	}
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		switch {
		case end < 0:
			a.line.add(p)
			return
		case a.line.size == 0:
			a.whole(p[:end])
		default:
			a.line.add(p[:end])
			a.endLine()
		}
		p = p[end+1:]
	}
}

// end is after the last piece; clean if the answer ended by itself.
func (a *answer) end(clean bool) {
	a.endLine()
	a.read(a.event.text)
	if !clean {
		a.tally.cut()
	}
}

func (a *answer) endLine() {
	if a.line.size > mostHeld {
		a.tally.text += int64(a.line.size)
	} else {
		a.whole(a.line.text)
	}
	a.line.clear()
}

var (
	dataMark = []byte("data:")
	newline  = []byte("\n")
	// Events without any of these say nothing of tokens: "usage", "usageMetadata", "error".
	usageMark = []byte("sage")
	errorMark = []byte(`"error"`)
)

// whole reads a line. An empty one ends an event.
func (a *answer) whole(line []byte) {
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) == 0 {
		a.read(a.event.text)
		a.event.clear()
		return
	}
	data, ok := bytes.CutPrefix(line, dataMark)
	if data = bytes.TrimPrefix(data, []byte(" ")); !ok || len(data) == 0 {
		return
	}
	a.tally.text += written(a.tally.protocol, data)
	if a.event.size == 0 && data[0] == '{' && data[len(data)-1] == '}' { // a whole event, as all providers write them
		if !piece(a.tally.protocol, data) && (bytes.Contains(data, usageMark) || bytes.Contains(data, errorMark)) {
			a.read(data)
		}
		return
	}
	a.event.add(data)
	a.event.add(newline)
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
		end := 1
		for end < len(rest) && rest[end] != '"' {
			if end++; rest[end-1] == '\\' {
				end++
			}
		}
		return int64(min(end, len(rest)) - 1)
	}
	return 0
}
