package failure

import (
	"slices"
	"strings"
)

// setDepth is how deep braces are looked into.
const setDepth = 16

// sortSets sorts what stands between braces: many languages print the members of a set or a map in another order on
// every run.
func sortSets(line string) string {
	sorted, rest := untilBrace(line, setDepth)
	for rest != "" { // a brace that nothing opened
		var more string
		more, rest = untilBrace(rest[1:], setDepth)
		sorted += "}" + more
	}
	return sorted
}

// untilBrace is the text up to the brace that closes it, its sets sorted, and the rest from that brace on.
func untilBrace(text string, depth int) (sorted, rest string) {
	var b strings.Builder
	for text != "" {
		i := strings.IndexAny(text, "{}")
		switch {
		case i < 0 || depth == 0:
			b.WriteString(text)
			return b.String(), ""
		case text[i] == '}':
			b.WriteString(text[:i])
			return b.String(), text[i:]
		}
		b.WriteString(text[:i+1])
		var inner string
		inner, text = untilBrace(text[i+1:], depth-1)
		b.WriteString(sortMembers(inner))
		if text != "" {
			b.WriteByte('}')
			text = text[1:]
		}
	}
	return b.String(), ""
}

// sortMembers sorts what commas divide, but not commas within other brackets.
func sortMembers(text string) string {
	switch {
	case strings.IndexByte(text, ',') < 0:
		return text
	case strings.Contains(text, "..."): // cut, and who knows which members were
		return "..."
	}
	var members []string
	depth, begin := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				members = append(members, strings.TrimSpace(text[begin:i]))
				begin = i + 1
			}
		}
	}
	members = append(members, strings.TrimSpace(text[begin:]))
	slices.Sort(members)
	return strings.Join(members, ", ")
}
