package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// reader turns a syntax tree into values as encoding/json does, and notes what encoding/json would silently put up
// with.
type reader struct {
	layer    string
	text     []byte
	problems []string
}

func (r *reader) value(v hujson.Value, path []string) any {
	switch at := v.Value.(type) {
	case *hujson.Object:
		return r.object(at, path)
	case *hujson.Array:
		list := make([]any, len(at.Elements))
		for i, element := range at.Elements {
			list[i] = r.value(element, append(path[:len(path):len(path)], fmt.Sprint(i)))
		}
		return list
	case hujson.Literal:
		return r.literal(at, v.StartOffset)
	}
	return nil
}

// object refuses a key that exists twice: only one of the two values would count.
func (r *reader) object(o *hujson.Object, path []string) any {
	object, places := map[string]any{}, map[string]int{}
	for _, member := range o.Members {
		key := member.Name.Value.(hujson.Literal).String()
		full := append(path[:len(path):len(path)], key)
		if first, twice := places[key]; twice && len(r.problems) < mostProblems {
			r.problems = append(r.problems, fmt.Sprintf("%s: %s is there twice, at %s and at %s; only one is allowed.",
				r.layer, keyPath(full), place(r.text, first), place(r.text, member.Name.StartOffset)))
		}
		places[key] = member.Name.StartOffset
		object[key] = r.value(member.Value, full)
	}
	return object
}

// hugeExponent is one that would make an exact number of a few bytes fill the memory.
var hugeExponent = lazy(`[eE][+-]?[0-9]{3,}$`)

func (r *reader) literal(l hujson.Literal, at int) any {
	switch l.Kind() {
	case '"':
		return l.String()
	case '0':
		if len(l) > 40 || hugeExponent.Match(l) {
			if len(r.problems) == mostProblems {
				return nil
			}
			r.problems = append(r.problems, fmt.Sprintf("%s: the number at %s is out of any range.", r.layer, place(r.text, at)))
			return nil
		}
		return json.Number(l)
	case 't', 'f':
		return l.Bool()
	}
	return nil
}

// syntax says where a text stops being JSON, and why.
func syntax(text []byte, err error) string {
	var line, column int
	_, _ = fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column)
	start := 0
	for range line - 1 {
		start += bytes.IndexByte(text[start:], '\n') + 1
	}
	at := start + column - 1                                      // its columns count bytes
	return place(text, min(at, len(text)-1)) + ": " + reason(err) // the last line end is not the layer's
}

// place is an offset as people count: lines and characters, from 1.
func place(text []byte, offset int) string {
	before := text[:min(max(offset, 0), len(text))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, column %d", line, column)
}

// reason is the parser's reason in other words, where its own would not help.
func reason(err error) string {
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	words := err.Error()
	literal, invalid := strings.CutPrefix(words, "invalid literal: ")
	switch {
	case strings.Contains(words, "parsing string"):
		return "a closing quote is missing before the end"
	case strings.Contains(words, "parsing comment"):
		return "the comment that begins here has no end"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the end comes too early; a bracket or a value is missing"
	case !invalid:
		return words
	case !strings.HasPrefix(literal, `"`):
		return safetext.Shorten(literal, 80) + " is no value; a text needs quotes"
	case strings.ContainsFunc(literal, func(r rune) bool { return r < ' ' }):
		return `the text that begins here lacks its closing quote, or holds a line end or tab that is not written as \n or \t`
	}
	return `the text that begins here holds a backslash that escapes nothing; a backslash itself is written as \\`
}
