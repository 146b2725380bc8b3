package secret

import (
	"encoding/ascii85"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

const (
	// minLength is how long a value must be to be looked for.
	minLength = 6
	// leastCommitted is the length below which a value keeps no file out of a commit: it would be found everywhere.
	leastCommitted = 8
	// leastPart is how many characters of a value in a row tell enough of it.
	leastPart = 16
	// leastBytes is how many bytes of a value an encoded part must tell: lines are wrapped, and outputs are cut.
	leastBytes = 12
	// leastCore is how long an encoded value must be: shorter ones would match by chance.
	leastCore = 8
	// leastOfKey is how much of a private key in a row tells it: keys of one kind have parts that are the same in all.
	leastOfKey = 30
	// leastLine is how long a line of a value with several must be to be looked for on its own.
	leastLine = 20
)

// form is one way in which a value is written.
type form struct {
	text   string
	least  int // how many of its characters in a row tell the value; all of them: only the whole does
	as     string
	shared bool // others may have the same text: it is hidden where it is shown, but no reason to refuse a commit
}

const asItIs = "as it is"

// formsOf lists the ways in which a value travels.
func formsOf(value string) []form {
	value = strings.TrimSpace(value)
	if len(value) < minLength {
		return nil
	}
	small := len(value) < leastCommitted
	forms := whole(asItIs, value)
	if strings.Contains(value, "\n") {
		forms = append(forms, whole(asItIs,
			strings.ReplaceAll(value, "\n", `\n`), strings.ReplaceAll(value, "\r\n", "\n"))...)
	}
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding,
		base64.RawURLEncoding} {
		forms = append(forms, whole("in base64", enc.EncodeToString([]byte(value)),
			enc.EncodeToString([]byte("x-access-token:"+value)))...)
	}
	enough := enough{leastPart, leastBytes}
	if isPrivateKey(value) && !strings.HasPrefix(value, "-----BEGIN RSA ") {
		enough.part, enough.bytes = leastOfKey, leastOfKey
	}
	for _, source := range sources(value) {
		forms = append(forms, enough.encoded(source)...)
	}
	for i := range forms {
		forms[i].shared = forms[i].shared || small
	}
	return append(forms, linesOf(value)...)
}

// linesOf are the lines of a value that has several, since whoever prints a key prints it a line at a time.
func linesOf(value string) (forms []form) {
	if !strings.Contains(value, "\n") {
		return nil
	}
	least, key := leastLine, isPrivateKey(value)
	if key { // its last line may be a short one
		least = leastCore
	}
	for i, line := range strings.Split(value, "\n") {
		if line = strings.TrimSpace(line); len(line) >= least {
			// the first lines of a key say what kind it is, which it shares with others
			shared := key && (i < 2 || len(line) < 2*leastLine || strings.ContainsAny(line, "- :"))
			forms = append(forms, form{line, len(line), asItIs, shared})
		}
	}
	return forms
}

func isPrivateKey(value string) bool {
	return strings.HasPrefix(value, "-----BEGIN ") && strings.Contains(value, "PRIVATE KEY-----")
}

// sources are the parts of a value that tell it wherever they stand: the value itself, of a private key what follows
// its first line, and of another value with several lines the words that nobody would write by chance.
func sources(value string) []string {
	if !strings.Contains(value, "\n") {
		return []string{value}
	}
	if isPrivateKey(value) {
		var body []string
		for line := range strings.Lines(value) {
			if line = strings.TrimSpace(line); line != "" && !strings.ContainsAny(line, "- :") {
				body = append(body, line)
			}
		}
		if len(body) < 2 {
			return nil
		}
		body = body[1:]
		return []string{strings.Join(body, ""), strings.Join(body, "\n")}
	}
	return slices.DeleteFunc(strings.FieldsFunc(value, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(`"'`+"`,;:{}[]()<>", r)
	}), func(word string) bool { return len(word) < leastLine || !random(word) || strings.Contains(word, "//") })
}

// whole are forms that tell only as a whole.
func whole(as string, texts ...string) (forms []form) {
	for _, text := range texts {
		forms = append(forms, form{text: text, least: len(text), as: as})
	}
	return forms
}

// enough is how much of a value in a row tells it: so many characters, and where they are encoded so many bytes.
type enough struct{ part, bytes int }

// encoded are the ways in which a source is written.
func (e enough) encoded(source string) []form {
	forms := slices.Concat(
		e.parts(source, asItIs, source),
		e.parts(source, "with escapes of addresses", addresses(source)...),
		e.parts(source, "in hexadecimal digits", hexForms(source)...),
		e.parts(source, "in decimal numbers", each(source, "%d", ", "), each(source, "%d", ","), each(source, "%d", " ")),
		e.parts(source, "in octal digits", each(source, `\%03o`, ""), each(source, `\0%03o`, "")),
		e.parts(source, "in escapes of HTML", each(source, "&#%d;", ""), each(source, "&#x%x;", ""),
			each(source, "&#x%X;", "")),
		e.parts(source, "letter by letter", spelled(source)...),
		e.parts(source, "in base64", base64Cores(source)...),
		e.parts(source, "in base32", base32Cores(source)...),
		e.parts(source, "in base85", base85Cores(source)...),
		e.parts(source, "in ROT13", rot13(source)),
	)
	wide := utf16(source)
	forms = append(forms, e.parts(wide, "in UTF-16", wide)...)
	forms = append(forms, e.parts(wide, "in base64 of UTF-16", base64Cores(wide)...)...)
	for _, again := range append(base64Cores(source)[:3], hex.EncodeToString([]byte(source))) {
		forms = append(forms, e.parts(again, "encoded twice", base64Cores(again)[:3]...)...)
		forms = append(forms, e.parts(again, "encoded, and reversed", reversed(again))...)
	}
	back := reversed(source)
	for _, texts := range [][]string{{back}, {hex.EncodeToString([]byte(back))}, base64Cores(back), base32Cores(back)} {
		forms = append(forms, e.parts(back, "reversed", texts...)...)
	}
	return forms
}

// parts are forms of which a part tells enough. What is shorter tells as a whole, unless it would match by chance.
func (e enough) parts(source, as string, texts ...string) (forms []form) {
	for _, text := range texts {
		if len(text) < leastCore && text != source {
			continue
		}
		least := max(e.part, e.bytes*len(text)/len(source))
		forms = append(forms, form{text: text, least: min(least, len(text)), as: as})
	}
	return forms
}

// addresses are the ways in which an address escapes a text.
func addresses(s string) []string {
	var all strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&all, "%%%02X", s[i])
	}
	out := []string{all.String(), strings.ToLower(all.String())}
	for _, text := range []string{url.QueryEscape(s), url.PathEscape(s)} {
		out = append(out, text, smallEscapes(text))
	}
	return out
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

// hexForms are the digits of a text, with what people and programs put between them.
func hexForms(s string) []string {
	digits := hex.EncodeToString([]byte(s))
	var pairs []string
	for i := 0; i < len(digits); i += 2 {
		pairs = append(pairs, digits[i:i+2])
	}
	var grouped []string
	for i := 0; i < len(digits); i += 4 {
		grouped = append(grouped, digits[i:min(i+4, len(digits))])
	}
	spaced, colons := strings.Join(pairs, " "), strings.Join(pairs, ":")
	return []string{digits, strings.ToUpper(digits), spaced, strings.ToUpper(spaced), colons, strings.ToUpper(colons),
		strings.Join(grouped, " "), `\x` + strings.Join(pairs, `\x`), "0x" + strings.Join(pairs, ", 0x"),
		`\u00` + strings.Join(pairs, `\u00`)}
}

// each writes the bytes of a text one by one.
func each(s, format, between string) string {
	var out []string
	for i := range len(s) {
		out = append(out, fmt.Sprintf(format, s[i]))
	}
	return strings.Join(out, between)
}

// spelled are the characters of a text with something between them.
func spelled(s string) (out []string) {
	for _, between := range []string{" ", "\n", "-", "_", ".", "|", ",", ", "} {
		out = append(out, each(s, "%c", between))
	}
	return out
}

// base64Cores are the parts of a text's base64 that stay the same whatever stands around it, one for each of the three
// offsets, in either alphabet.
func base64Cores(s string) (out []string) {
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for offset := range 3 {
			out = append(out, core(enc.EncodeToString([]byte(strings.Repeat("\x00", offset)+s)), offset, len(s), 6))
		}
	}
	return out
}

// base32Cores are the same of base32, for its five offsets, in capital and small letters.
func base32Cores(s string) (out []string) {
	enc := base32.StdEncoding.WithPadding(base32.NoPadding)
	for offset := range 5 {
		text := core(enc.EncodeToString([]byte(strings.Repeat("\x00", offset)+s)), offset, len(s), 5)
		out = append(out, text, strings.ToLower(text))
	}
	return out
}

// alphabets85 are the digits that base85 is written with: of Adobe, of git and Python, and of ZeroMQ.
var alphabets85 = []string{
	"",
	"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~",
	"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#",
}

// base85Cores are the same of base85, which takes four bytes at once: the fours that lie in the text, for its offsets.
func base85Cores(s string) (out []string) {
	for offset := range min(4, len(s)) {
		whole := s[offset : offset+(len(s)-offset)/4*4]
		digits := make([]byte, ascii85.MaxEncodedLen(len(whole)))
		digits = digits[:ascii85.Encode(digits, []byte(whole))]
		for _, alphabet := range alphabets85 {
			text := slices.Clone(digits)
			for i, c := range text {
				if alphabet != "" {
					text[i] = alphabet[c-'!']
				}
			}
			out = append(out, string(text))
		}
	}
	return out
}

// core is from the first character that no byte before the value has a part in to the last one that no byte behind it
// has, where a character stands for so many bits.
func core(text string, offset, size, bits int) string {
	return text[(offset*8+bits-1)/bits : (offset+size)*8/bits]
}

func reversed(s string) string {
	out := []byte(s)
	slices.Reverse(out)
	return string(out)
}

func rot13(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return 'a' + (r-'a'+13)%26
		case r >= 'A' && r <= 'Z':
			return 'A' + (r-'A'+13)%26
		}
		return r
	}, s)
}

// utf16 is a text of ASCII as Windows writes it.
func utf16(s string) string {
	out := make([]byte, 0, 2*len(s))
	for i := range len(s) {
		out = append(out, s[i], 0)
	}
	return string(out)
}

// Unguessable reports whether a value is one that no text has by chance: a value without white space that has twelve
// characters or more, letters and digits of many kinds, and is no path and no address.
func Unguessable(value string) bool {
	return len(value) >= 12 && random(value) && !strings.ContainsAny(value, " \t\r\n") && !strings.HasPrefix(value, "/") &&
		!strings.Contains(value, "://")
}

// random reports whether a word looks as if nobody had thought of it: letters and digits, of many kinds.
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
