package report

import (
	"strings"
)

var fenceOpen = lazy("^ {0,3}(`{3,}|~{3,})[ \t]*([^` \t]*)[^`]*$")

// PlanFrom takes the tasks.json out of a comment that PlanComment wrote and people may have edited. ok is false for another comment, and
// unless there is exactly one closed block of JSON: of two nobody knows which one was approved.
func PlanFrom(comment string) (content []byte, ok bool) {
	comment = strings.ReplaceAll(strings.TrimPrefix(comment, "\uFEFF"), "\r\n", "\n")
	if !strings.HasPrefix(strings.TrimLeft(comment, " \n"), planMark) {
		return nil, false
	}
	var blocks [][]byte
	var open, info string
	var block strings.Builder
	for _, line := range strings.Split(comment, "\n") {
		m := fenceOpen.FindStringSubmatch(line)
		switch {
		case open == "" && m != nil:
			open, info = m[1], strings.ToLower(m[2])
			block.Reset()
		case open != "" && closes(line, open):
			if info == "json" {
				blocks = append(blocks, []byte(block.String()))
			}
			open = ""
		case open != "":
			block.WriteString(line + "\n")
		}
	}
	if open != "" || len(blocks) != 1 {
		return nil, false
	}
	return blocks[0], true
}

// closes reports whether a line ends a fence: at least as many of the same sign, and nothing else.
func closes(line, open string) bool {
	trimmed := strings.TrimRight(line, " \t")
	indent := leading(trimmed, ' ')
	rest := trimmed[indent:]
	return indent <= 3 && len(rest) >= len(open) && leading(rest, open[0]) == len(rest)
}
