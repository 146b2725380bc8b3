package failure

import (
	"path"
	"slices"
	"strings"
)

// nodeFailure is what both reports say of a test that failed.
type nodeFailure struct {
	name, file       string
	message          []string
	kind             string // of the error: TypeError
	expected, actual []string
	stack            []string
}

var (
	nodeKind   = lazy(`^(\w*(?:Error|Exception))(?: \[\w+\])?(?:: |$)`)
	nodeTook   = lazy(` \(\d[\d.]*ms\)$`)
	nodePlace  = lazy(`:\d+:\d+['")]*$`)
	nodeValues = lazy(`[\w.+-]+`)
	nodeKeys   = lazy(`^\d+: *`)
)

func (f nodeFailure) lines() []string {
	told := []string{"not ok " + f.name, "in " + path.Base(strings.ReplaceAll(f.file, `\`, "/"))}
	message := slices.DeleteFunc(f.message, func(line string) bool { return strings.TrimSpace(line) == "" })
	if f.kind != "" && f.kind != "Error" {
		told = append(told, f.kind)
	}
	told = append(told, message...)
	// what several lines say, holds the values
	if len(message) == 1 && !startsAny(message[0], "Missing expected ", "Got unwanted ") {
		told = append(told, nodeValue("expected", f.expected), nodeValue("actual", f.actual))
	}
	for _, frame := range f.stack {
		told = append(told, "    at "+frame)
	}
	return told
}

// nodeValue is a value without the signs of YAML, or of JavaScript.
func nodeValue(name string, lines []string) string {
	var words []string
	for _, line := range lines {
		line = nodeKeys.ReplaceAllString(strings.TrimSpace(line), "")
		for _, at := range nodeValues.FindAllStringIndex(line, -1) {
			words = append(words, line[at[0]:at[1]])
		}
	}
	if len(words) == 0 || slices.Equal(words, []string{"undefined"}) {
		return ""
	}
	return name + ": " + strings.Join(words, " ")
}

// unquoted is a text without the quotes around it.
func unquoted(text string) string {
	if n := len(text); n > 1 && (text[0] == '\'' || text[0] == '"') && text[n-1] == text[0] {
		return strings.NewReplacer(`\'`, `'`, `\"`, `"`).Replace(text[1 : n-1])
	}
	return text
}
