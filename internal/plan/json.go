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

// The bounds of a plan's file. What is beyond them was not written by anyone who wants work done.
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

// shown is a value as a message reports it: "true" (a string).
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
	r := jsonReader{text: content, decoder: json.NewDecoder(bytes.NewReader(content))}
	r.decoder.UseNumber()
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
	text    []byte
	decoder *json.Decoder
	values  int
}

func (r *jsonReader) value(depth int) (v jsonValue, err error) {
	from := int(r.decoder.InputOffset())
	from += len(r.text[from:]) - len(bytes.TrimLeft(r.text[from:], " \n\r\t,:"))
	if r.values++; r.values > maxPlanValues {
		return v, fmt.Errorf("the file holds more than %d values; must be at most that many", maxPlanValues)
	}
	if depth > maxPlanNesting {
		line, col := placeIn(r.text, from)
		return v, fmt.Errorf("line %d, column %d: values are nested more than %d deep; a plan has four levels", line, col,
			maxPlanNesting)
	}
	token, err := r.decoder.Token()
	switch t := token.(type) {
	case json.Delim:
		if v.kind = aList; t == '{' {
			v.kind = anObject
		}
		err = r.inside(&v, depth)
	case string:
		v.kind, v.text, v.halved = aText, t, halfCharacter(r.text[from:r.decoder.InputOffset()])
	case json.Number:
		v.kind, v.text = aNumber, t.String()
	case bool:
		v.kind, v.text = aTruth, strconv.FormatBool(t)
	default:
		v.kind = nothing
	}
	v.raw = r.text[from:r.decoder.InputOffset()]
	return v, err
}

// inside reads the members of an object or the items of a list, to its end.
func (r *jsonReader) inside(v *jsonValue, depth int) error {
	for r.decoder.More() {
		key := jsonValue{}
		if v.kind == anObject {
			r.values-- // a key is none
			var err error
			if key, err = r.value(depth); err != nil {
				return err
			}
		}
		value, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		if v.kind == anObject {
			v.members = append(v.members, jsonMember{key.text, key.halved, value})
		} else {
			v.items = append(v.items, value)
		}
	}
	_, err := r.decoder.Token()
	return err
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
