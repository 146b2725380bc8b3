package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// decoded is what a syntax tree says, as encoding/json reads it. A key that exists twice is reported: only one
// of the two values would count.
func decoded(v hujson.Value, path []string, twice func(key string)) any {
	switch at := v.Value.(type) {
	case *hujson.Object:
		object := map[string]any{}
		for _, member := range at.Members {
			key := nameOf(member)
			full := append(path[:len(path):len(path)], key)
			if _, there := object[key]; there {
				twice(keyPath(full))
			}
			object[key] = decoded(member.Value, full, twice)
		}
		return object
	case *hujson.Array:
		list := make([]any, len(at.Elements))
		for i, element := range at.Elements {
			list[i] = decoded(element, append(path[:len(path):len(path)], fmt.Sprint(i)), twice)
		}
		return list
	case hujson.Literal:
		switch at.Kind() {
		case '"':
			return at.String()
		case '0':
			n, _ := strconv.ParseFloat(string(at), 64) // what is too large for that is out of every range
			return n
		case 't', 'f':
			return at.Bool()
		}
	}
	return nil
}

func nameOf(m hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

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
