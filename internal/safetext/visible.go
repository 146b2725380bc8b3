package safetext

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

const (
	zwnj             = '\u200c'
	zwj              = '\u200d'
	emojiPresentance = '\ufe0f'
	keycap           = '\u20e3'
)

// Visible drops every character that cannot be seen: controls but for newline and tab, bidirectional marks, zero-width
// characters, tags, soft hyphens, fillers and variation selectors. Three are kept where they are part of what is seen:
// the joiner inside an emoji sequence, the joiner and non-joiner between two letters of one script that is written with
// them (Persian, Hindi, …), and the emoji presentation selector behind an emoji. Line ends become \n; invalid UTF-8
// becomes U+FFFD.
func Visible(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = lineEnds.Replace(s)
	return seen(s, func(rune) string { return "" })
}

// seen is a text with something else in the place of what cannot be seen.
func seen(s string, instead func(hidden rune) string) string {
	if strings.IndexFunc(s, invisible) < 0 {
		return s
	}
	var b strings.Builder
	in := []rune(s)
	prev := rune(-1)
	for i, r := range in {
		next := rune(-1)
		if i+1 < len(in) {
			next = in[i+1]
		}
		if invisible(r) && !belongs(prev, r, next) {
			b.WriteString(instead(r))
			continue
		}
		b.WriteRune(r)
		prev = r
	}
	return b.String()
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n")

// invisible reports whether a character shows nothing by itself. Format characters that do show, such as the Arabic
// number signs, are not.
func invisible(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20:
		return true
	case r < 0x7f:
		return false
	case r >= 0xE0000 && r <= 0xE0FFF, r >= 0xFFF0 && r <= 0xFFF8, r == '\u2028', r == '\u2029':
		return true
	}
	return unicode.IsControl(r) ||
		unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// belongs reports whether an invisible character is part of what is seen, by the kept character before it and the one
// behind it.
func belongs(prev, r, next rune) bool {
	switch r {
	case emojiPresentance:
		return emoji(prev) || next == keycap && (prev == '#' || prev == '*' || prev >= '0' && prev <= '9')
	case zwj:
		return (emoji(prev) || prev == emojiPresentance) && emoji(next) || joins(prev, next)
	case zwnj:
		return joins(prev, next)
	}
	return false
}

// emoji reports whether r may be drawn as an emoji; the blocks are a little wider than the property.
func emoji(r rune) bool {
	switch {
	case r >= 0x1F000 && r <= 0x1FAFF, r >= 0x2600 && r <= 0x27BF, r >= 0x2300 && r <= 0x23FF, r >= 0x2B05 && r <= 0x2B55,
		r >= 0x2194 && r <= 0x21AA, r >= 0x25AA && r <= 0x25FE:
		return true
	}
	return strings.ContainsRune("©®‼⁉™ℹⓂ⤴⤵〰〽㊗㊙", r)
}

// joined are the scripts whose spelling uses the joiner or the non-joiner.
var joined = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mongolian, unicode.Mandaic, unicode.Phags_Pa, unicode.Adlam,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
	unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Javanese,
	unicode.Balinese,
}

func joins(prev, next rune) bool {
	if !unicode.IsLetter(next) || !unicode.IsLetter(prev) && !unicode.IsMark(prev) {
		return false
	}
	return slices.ContainsFunc(joined, func(script *unicode.RangeTable) bool {
		return unicode.Is(script, prev) && unicode.Is(script, next)
	})
}

// Revealed is a line of which everything can be seen: what is invisible may be what is wrong with it, and is there
// as its number, "⟦U+202E⟧". A carriage return at the end is left out; invalid UTF-8 becomes U+FFFD.
func Revealed(line string) string {
	return seen(strings.ToValidUTF8(strings.TrimSuffix(line, "\r"), "\uFFFD"),
		func(hidden rune) string { return fmt.Sprintf("⟦U+%04X⟧", hidden) })
}
