package safetext

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const ellipsis = "…"

// OneLine is a text on one line, with one space where there was any run of white space.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// FirstLine is the first line that is not blank, without white space around it.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}

// Shorten is a text of at most most characters; where something is cut, the last of them is an ellipsis.
func Shorten(s string, most int) string {
	if len(s) <= most || utf8.RuneCountInString(s) <= most {
		return s
	}
	return strings.TrimRight(FirstRunes(s, most-1), " ") + ellipsis
}

// ShortenBytes is a text of at most most bytes, whole characters; where something is cut, it ends with an ellipsis.
func ShortenBytes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return FirstBytes(s, most-len(ellipsis)) + ellipsis
}

// Quoted shows what was found: quoted, on one line, at most 60 characters.
func Quoted(s string) string {
	return strconv.Quote(Shorten(s, 61))
}

// FirstRunes is the beginning of a text, at most most characters of it.
func FirstRunes(s string, most int) string {
	for i := range s {
		if most--; most < 0 {
			return s[:i]
		}
	}
	return s
}

// LastRunes is the end of a text, at most most characters of it.
func LastRunes(s string, most int) string {
	begin := len(s)
	for ; most > 0 && begin > 0; most-- {
		_, size := utf8.DecodeLastRuneInString(s[:begin])
		begin -= size
	}
	return s[begin:]
}

// FirstBytes is the beginning of a text, at most most bytes of it: whole characters, and no byte that belongs to none.
func FirstBytes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:max(most, 0)], "")
}

// LastBytes is the end of a text, at most most bytes of it: whole characters, and no byte that belongs to none.
func LastBytes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-max(most, 0):], "")
}

// WholeEnd is a text without the part of a character that it ends with. A byte that can begin or continue none stays:
// output that is not UTF-8 is kept as it is.
func WholeEnd(s string) string {
	for i := 1; i < utf8.UTFMax && i <= len(s); i++ {
		if utf8.RuneStart(s[len(s)-i]) {
			if !utf8.FullRuneInString(s[len(s)-i:]) {
				return s[:len(s)-i]
			}
			break
		}
	}
	return s
}

// WholeStart is a text without the rest of a character that it begins with.
func WholeStart(s string) string {
	for i := 0; i < utf8.UTFMax && i < len(s); i++ {
		if utf8.RuneStart(s[i]) {
			return s[i:]
		}
	}
	if len(s) < utf8.UTFMax { // nothing but the rest of a character
		return ""
	}
	return s
}

// CutLast is strings.Cut at the last place where sep stands.
func CutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// UpperFirst begins a text with a capital letter.
func UpperFirst(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if !unicode.IsLower(r) {
		return s
	}
	return string(unicode.ToUpper(r)) + s[size:]
}

// Bytes is a number of bytes for people, rounded down to a tenth: "512 bytes", "1.5 MiB", "16 GiB".
func Bytes(n int64) string {
	size, unit := float64(n), ""
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if size < 1024 {
			break
		}
		size, unit = size/1024, next
	}
	switch tenths := int64(size * 10); {
	case unit == "":
		return Count(int(n), "byte")
	case tenths%10 == 0:
		return fmt.Sprintf("%d %s", tenths/10, unit)
	default:
		return fmt.Sprintf("%d.%d %s", tenths/10, tenths%10, unit)
	}
}

// Border is what the text of others is between in a prompt. It is drawn after that text was written, or made of
// what its author cannot know.
type Border string

// Around sets a text between two lines with the border. This is the one place that does, and nothing within can end it:
// another word replaces the border in the text.
func (b Border) Around(text string) string {
	if b != "" {
		text = strings.ReplaceAll(text, string(b), "(the border)")
	}
	return "--- begin " + string(b) + " ---\n" + strings.TrimRight(text, "\n") + "\n--- end " + string(b) + " ---"
}

// LastObject is the JSON object with a key with which a text ends, a code fence around it or not; empty when it does
// not end so.
func LastObject(text, key string) string {
	text = strings.TrimSpace(text)
	text = strings.TrimSpace(strings.TrimSuffix(text, "```"))
	if !strings.HasSuffix(text, "}") {
		return ""
	}
	for i := strings.LastIndex(text, "{"); i >= 0; i = strings.LastIndex(text[:i], "{") {
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(text[i:]), &object) == nil {
			if _, ok := object[key]; ok {
				return text[i:]
			}
		}
	}
	return ""
}
