package stream

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// What is here reads JSON that is known to be valid, and only as far as someone asks: nearly all of a long line is a
// tool's answer of which little is shown.

// mostPicked is how many members of an object are needed at once.
const mostPicked = 5

// pick is the members of an object that have these names, in one pass: what is told last is often wanted first.
func pick(o gjson.Result, names ...string) (found [mostPicked]gjson.Result) {
	if o.IsObject() {
		members(o.Raw, func(name, value string) {
			if i := slices.Index(names, name); i >= 0 {
				found[i] = gjson.Parse(value)
			}
		})
	}
	return found
}

// members tells the members of an object, each as it is written: a name with an escape in it is none that we look for.
func members(object string, each func(name, value string)) {
	for i := next(object, 1); i < len(object) && object[i] == '"'; i = next(object, i) {
		end := i + text(object[i:])
		name := object[i+1 : end-1]
		i = next(object, end)
		end = i + value(object[i:])
		each(name, object[i:end])
		i = end
	}
}

// next is where the next name or value begins, after spaces and what parts them.
func next(json string, i int) int {
	for i < len(json) {
		switch json[i] {
		case ' ', '\t', '\r', '\n', ',', ':':
			i++
		default:
			return i
		}
	}
	return i
}

// text is the length of the text that JSON begins with, with its quotes.
func text(json string) int {
	i := 1
	for ; i < 32; i++ { // most are short
		switch json[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	for ; ; i++ {
		i += strings.IndexByte(json[i:], '"')
		if !escaped(json[:i]) {
			return i + 1
		}
	}
}

// escaped reports whether what follows a piece of a text is escaped by its end.
func escaped(json string) bool {
	return (len(json)-len(strings.TrimRight(json, "\\")))%2 == 1
}

// value is the length of the value that JSON begins with.
func value(json string) int {
	depth := 0
	for i := 0; i < len(json); i++ {
		switch json[i] {
		case '"':
			i += text(json[i:]) - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth == 0 { // of what it is in
				return i
			}
			depth--
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
			continue
		default: // of a number or a word
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(json)
}

// size is how many characters and lines a text has, of which this is between its quotes, without \u in it.
func size(json string) (chars, lines int) {
	open := false // the last line has no end
	for i := 0; i < len(json); i++ {
		open = true
		if c := json[i]; c == '\\' {
			if i++; json[i] == 'n' {
				lines++
				open = false
			}
		} else if c&0xC0 == 0x80 { // within a character
			continue
		}
		chars++
	}
	if open {
		lines++
	}
	return chars, lines
}
