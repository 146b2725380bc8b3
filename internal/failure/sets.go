package failure

import (
	"slices"
	"strings"
)

// innerSet matches braces that hold no others; the last may be left open.
var innerSet = lazy(`\{[^{}]*(?:\}|$)`)

// setDepth is how deep braces are looked into.
const setDepth = 16

// sortSets sorts what is between braces: many languages print the members of a set or a map in another order on
// every run.
func sortSets(line string) string {
	for range setDepth {
		sorted := innerSet.ReplaceAllStringFunc(line, func(set string) string {
			inner, closed := strings.CutSuffix(set[1:], "}")
			if inner = "\x02" + sortMembers(inner); closed {
				return inner + "\x03"
			}
			return inner
		})
		if sorted == line {
			break
		}
		line = sorted
	}
	return strings.NewReplacer("\x02", "{", "\x03", "}").Replace(line)
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
		case '(', '[', '\x02':
			depth++
		case ')', ']', '\x03':
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
