package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// The bounds of a plan's file. What is beyond them was not written by anybody who wants work done.
const (
	maxPlan        = 4 << 20 // bytes
	maxPlanNesting = 64      // values in values
	maxPlanValues  = 100_000
	maxStories     = 1000
)

// kind is what a value of a JSON text is, as messages say it.
type kind string

const (
	nothing  kind = "nothing"
	aText    kind = "a text"
	aNumber  kind = "a number"
	aTruth   kind = "true or false"
	aList    kind = "a list"
	anObject kind = "an object"
)

// jsonValue is one value of a JSON text. Unlike encoding/json it keeps every member of an object, in their order and
// with their case.
type jsonValue struct {
	kind    kind
	text    string // of a string what it says, of a number and a truth how it is written
	halved  bool   // of a string: an escape in it is half a character, \ud800
	raw     []byte
	members []jsonMember
	items   []jsonValue
}

type jsonMember struct {
	key    string
	halved bool
	value  jsonValue
}

// get is the first member of a name, nil when there is none.
func (v *jsonValue) get(key string) *jsonValue {
	for i := range v.members {
		if v.members[i].key == key {
			return &v.members[i].value
		}
	}
	return nil
}

// shown is a value as a message tells of it: "true" (a string).
func (v *jsonValue) shown() string {
	switch v.kind {
	case aText:
		return safetext.Quoted(v.text) + " (a string)"
	case aNumber:
		if len(v.text) > 40 {
			return v.text[:40] + "… (a number)"
		}
		return v.text + " (a number)"
	case aTruth:
		return v.text
	case nothing:
		return "null"
	}
	return string(v.kind)
}

// readJSON reads a text that holds one JSON value and nothing else, as RFC 8259 has it: without a byte order mark,
// comments, commas after the last item, NaN. The error is one sentence without the file's name.
func readJSON(content []byte) (*jsonValue, error) {
	switch {
	case len(content) > maxPlan:
		return nil, fmt.Errorf("the file has %d bytes; must be at most %d", len(content), maxPlan)
	case len(bytes.TrimSpace(content)) == 0:
		return nil, errors.New("the file is empty; it must hold a JSON object with project, branchName, description and " +
			"userStories")
	case bytes.HasPrefix(content, []byte("\ufeff")):
		return nil, errors.New("the file begins with a byte order mark; save it as UTF-8 without one")
	case !utf8.Valid(content):
		line, col := placeIn(content, safetext.FirstInvalid(content))
		return nil, fmt.Errorf("line %d, column %d is not UTF-8; save the file as UTF-8", line, col)
	}
	var whole json.RawMessage
	if err := json.Unmarshal(content, &whole); err != nil {
		return nil, notJSON(content, err)
	}
	r := jsonReader{text: content}
	v, err := r.value(0)
	return &v, err
}

func notJSON(content []byte, err error) error {
	var wrong *json.SyntaxError
	if !errors.As(err, &wrong) {
		return fmt.Errorf("this is not JSON: %w", err)
	}
	line, col := placeIn(content, int(wrong.Offset)-1)
	return fmt.Errorf("line %d, column %d: this is not JSON: %w; must be one object, without comments and without a "+
		"comma after the last item",
		line, col, err)
}

// placeIn is the line and the column of a byte, from 1; columns count bytes.
func placeIn(content []byte, at int) (line, col int) {
	before := content[:min(max(at, 0), len(content))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

// jsonReader takes a text apart of which is known that it is JSON.
type jsonReader struct {
	text   []byte
	pos    int
	values int
}

func (r *jsonReader) value(depth int) (v jsonValue, err error) {
	if r.values++; r.values > maxPlanValues {
		return v, fmt.Errorf("the file holds more than %d values; must be at most that many", maxPlanValues)
	}
	if depth > maxPlanNesting {
		line, col := placeIn(r.text, r.pos)
		return v, fmt.Errorf("line %d, column %d: values are nested more than %d deep; a plan has four levels", line, col,
			maxPlanNesting)
	}
	r.space()
	from := r.pos
	switch r.text[r.pos] {
	case '{':
		err = r.object(&v, depth)
	case '[':
		err = r.list(&v, depth)
	case '"':
		v.kind = aText
		v.text, v.halved = r.str()
	case 't', 'f':
		v.kind, v.text = aTruth, r.word()
	case 'n':
		v.kind = nothing
		r.word()
	default:
		v.kind, v.text = aNumber, r.word()
	}
	v.raw = r.text[from:r.pos]
	return v, err
}

func (r *jsonReader) object(v *jsonValue, depth int) error {
	v.kind = anObject
	for r.pos++; r.more('}'); {
		var m jsonMember
		m.key, m.halved = r.str()
		r.space()
		r.pos++ // the colon
		var err error
		if m.value, err = r.value(depth + 1); err != nil {
			return err
		}
		v.members = append(v.members, m)
	}
	return nil
}

func (r *jsonReader) list(v *jsonValue, depth int) error {
	v.kind = aList
	for r.pos++; r.more(']'); {
		item, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		v.items = append(v.items, item)
	}
	return nil
}

// more goes to the next item; false, and behind the end, when there is none.
func (r *jsonReader) more(end byte) bool {
	for r.space(); r.text[r.pos] == ','; r.space() {
		r.pos++
	}
	if r.text[r.pos] != end {
		return true
	}
	r.pos++
	return false
}

func (r *jsonReader) space() {
	for r.pos < len(r.text) && (r.text[r.pos] == ' ' || r.text[r.pos] == '\n' || r.text[r.pos] == '\r' ||
		r.text[r.pos] == '\t') {
		r.pos++
	}
}

// word is a number, true, false or null.
func (r *jsonReader) word() string {
	from := r.pos
	for r.pos < len(r.text) && !bytes.ContainsRune([]byte(" \n\r\t,]}"), rune(r.text[r.pos])) {
		r.pos++
	}
	return string(r.text[from:r.pos])
}

func (r *jsonReader) str() (s string, halved bool) {
	from, escaped := r.pos, false
	for r.pos++; r.text[r.pos] != '"'; r.pos++ {
		if r.text[r.pos] == '\\' {
			escaped = true
			r.pos++
		}
	}
	r.pos++
	quoted := r.text[from:r.pos]
	if !escaped {
		return string(quoted[1 : len(quoted)-1]), false
	}
	if err := json.Unmarshal(quoted, &s); err != nil {
		return "", true // cannot be: it is JSON
	}
	return s, halfCharacter(quoted)
}

// halfCharacter reports whether an escape names one half of a surrogate pair without the other, which no text can hold.
func halfCharacter(quoted []byte) bool {
	unit := func(at int) int64 { // the UTF-16 unit that is escaped there, or -1
		if at+6 > len(quoted) || quoted[at] != '\\' || quoted[at+1] != 'u' {
			return -1
		}
		n, err := strconv.ParseInt(string(quoted[at+2:at+6]), 16, 32)
		if err != nil {
			return -1
		}
		return n
	}
	for i := 0; i < len(quoted); i++ {
		if quoted[i] != '\\' {
			continue
		}
		switch n := unit(i); {
		case n < 0xD800 || n > 0xDFFF: // another escape; skip what follows the backslash, which may be one
			i++
		case n >= 0xDC00 || unit(i+6) < 0xDC00 || unit(i+6) > 0xDFFF:
			return true
		default:
			i += 11
		}
	}
	return false
}
