package wording

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/safetext"
)

// Sentence ends a text with a full stop, unless it has its own end.
func Sentence(s string) string {
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}

// Brief is somebody else's text on one line.
func Brief(s string, most int) string { return safetext.Shorten(safetext.OneLine(s), most) }

func JoinedBy(sep string, parts ...string) string {
	var there []string
	for _, p := range parts {
		if p != "" {
			there = append(there, p)
		}
	}
	return strings.Join(there, sep)
}

func Yes(so bool) string {
	if so {
		return "yes"
	}
	return "no"
}

// Row is one line of a table. A bar inside a cell is escaped, which in a table goes for code as well.
func Row(cells ...string) string {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(strings.ReplaceAll(c, `\|`, "|"), "|", `\|`)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}
