package config

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

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

// syntax says where a text stops being JSON, and why: "line 2, column 1: …", whose columns count bytes.
func syntax(err error) string {
	at, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "hujson: "), ": ")
	return at + ": " + reason(err)
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
