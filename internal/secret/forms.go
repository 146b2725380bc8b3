package secret

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/regex"
)

const (
	// minLength is how long a value must be to be searched for.
	minLength = 6
	// leastCommitted is the length below which a value keeps no file out of a commit: it would be found everywhere.
	leastCommitted = 8
	// leastPart is how much of a form a text must end in for that to be hidden, and leastKinds how many different bytes
	// that must have.
	leastPart, leastKinds = 16, 6
	// leastCore is how long an encoded value must be: shorter ones would match by chance.
	leastCore = 8
	// leastLine is how long a line or a word of a value with several lines must be to be searched for on its own.
	leastLine = 20
)

// form is one way in which a value is written, or the beginning of what looks like a credential.
type form struct {
	text   string
	as     string
	shared bool // others may have the same text: it is hidden where it is shown, but no reason to refuse a commit
	// looks is what has to match where the text begins, because that is only the mark of a credential; nil: nothing.
	looks *regex.Pattern
}

const asItIs = "as it is"

// formsOf lists the ways in which a value travels: as it is, in an address, in JSON, in base64 and in hexadecimal
// digits. Values of fewer than minLength bytes have none.
func formsOf(value string) (forms []form) {
	value = strings.TrimSpace(value)
	if len(value) < minLength {
		return nil
	}
	add := func(as string, texts ...string) {
		for _, text := range texts {
			if text == value || len(text) >= leastCore {
				forms = append(forms, form{text: text, as: as, shared: len(value) < leastCommitted})
			}
		}
	}
	add(asItIs, value)
	quoted, _ := json.Marshal(value) // a string
	add("in JSON", string(quoted[1:len(quoted)-1]), strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value))
	for _, text := range []string{url.QueryEscape(value), url.PathEscape(value)} {
		add("with escapes of addresses", text, smallEscapes(text))
	}
	digits := hex.EncodeToString([]byte(value))
	var escaped strings.Builder // every byte
	for pair := range slices.Chunk([]byte(digits), 2) {
		escaped.WriteString("%" + string(pair))
	}
	add("with escapes of addresses", escaped.String(), strings.ToUpper(escaped.String()))
	add("in hexadecimal digits", digits, strings.ToUpper(digits))
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		add("in base64", enc.EncodeToString([]byte(value)), enc.EncodeToString([]byte("x-access-token:"+value)))
	}
	add("in base64", base64Cores(value)...)
	return append(forms, linesOf(value)...)
}

// linesOf are the lines of a value that has several, because programs print a key a line at a time, and its words that
// no text has by chance.
func linesOf(value string) (forms []form) {
	if !strings.Contains(value, "\n") {
		return nil
	}
	key := strings.HasPrefix(value, "-----BEGIN ") && strings.Contains(value, "PRIVATE KEY-----")
	for i, line := range strings.Split(value, "\n") {
		if line = strings.TrimSpace(line); len(line) >= leastLine || key && len(line) >= leastCore {
			// the first lines of a key say what kind it is, which it shares with others
			shared := key && (i < 2 || len(line) < 2*leastLine || strings.ContainsAny(line, "- :"))
			forms = append(forms, form{text: line, as: asItIs, shared: shared})
		}
	}
	if key {
		return forms
	}
	for _, word := range strings.FieldsFunc(value, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(`"'`+"`,;:{}[]()<>", r)
	}) {
		if len(word) >= leastLine && random(word) && !strings.Contains(word, "//") {
			forms = append(forms, formsOf(word)...)
		}
	}
	return forms
}

// smallEscapes writes the digits of escapes small: %2f.
func smallEscapes(s string) string {
	out := []byte(s)
	for i := 0; i+2 < len(out); i++ {
		if out[i] == '%' {
			copy(out[i:], strings.ToLower(s[i:i+3]))
		}
	}
	return string(out)
}

// base64Cores are the parts of a text's base64 that stay the same whatever is around it, one for each of the three
// offsets, in either alphabet.
func base64Cores(s string) (out []string) {
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for offset := range 3 {
			text := enc.EncodeToString([]byte(strings.Repeat("\x00", offset) + s))
			// from the first digit that no byte before has a part in to the last one that no byte behind has
			out = append(out, text[(offset*8+5)/6:(offset+len(s))*8/6])
		}
	}
	return slices.Compact(out)
}

// Unguessable reports whether a value is one that no text has by chance: a value without white space that has twelve
// characters or more, letters and digits of many kinds, and is no path and no address.
func Unguessable(value string) bool {
	return len(value) >= 12 && random(value) && !strings.ContainsAny(value, " \t\r\n") && !strings.HasPrefix(value, "/") &&
		!strings.Contains(value, "://")
}

// random reports whether a word looks as if no one had thought of it: letters and digits, of many kinds.
func random(word string) bool {
	return strings.ContainsAny(word, "0123456789") && strings.ContainsFunc(word, unicode.IsLetter) && kinds(word) >= 10
}

// kinds counts the different bytes of a text.
func kinds(text string) (n int) {
	var seen [256]bool
	for i := range len(text) {
		if c := text[i]; !seen[c] {
			seen[c] = true
			n++
		}
	}
	return n
}

// Span is a part of a text, in bytes, that tells a secret.
type Span struct {
	From, To int
	As       string // how it is written there: "as it is", "in base64"
}

// Merged are the spans of several lists in order; those that overlap or touch are one.
func Merged(lists ...[]Span) []Span {
	spans := slices.Concat(lists...)
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Or(a.From-b.From, b.To-a.To) })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}
